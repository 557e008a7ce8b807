#include "comparison_cell.h"

#include <inttypes.h>

static const char *const quantity_names[MR_QUANTITY_COUNT] = {
    "racy events",
    "racy locations",
    "racy variables",
    "static races",
    "found by no other one",
    "unknown static races",
    "uses after free",
    "deadlocks",
    "null pointers",
    "dangling pointers",
    "double frees",
    "unknown beside races",
    "seconds",
};

const char *mr_quantity_name(mr_quantity quantity)
{
    return quantity_names[quantity];
}

int mr_quantity_shown(const mr_comparison_report *report)
{
    return report->run ? MR_QUANTITY_COUNT : MR_QUANTITY_SECONDS;
}

/* What a finder found of the kind that the quantity counts. */
static uint32_t beside_races(const mr_finder_figures *finding, mr_quantity quantity)
{
    if (quantity == MR_QUANTITY_BESIDE_UNKNOWN)
        return finding->beside_unknown;
    return finding->beside[MR_WITNESS_USE_AFTER_FREE + (quantity - MR_QUANTITY_USES_AFTER_FREE)];
}

bool mr_quantity_has_row(const mr_comparison *comparison, mr_quantity quantity)
{
    bool found = quantity < MR_QUANTITY_USES_AFTER_FREE || quantity > MR_QUANTITY_BESIDE_UNKNOWN;
    for (int finder = MR_RELATION_COUNT; finder < MR_FINDER_COUNT && !found; finder++)
        found = beside_races(&comparison->findings[finder], quantity) > 0;
    return found;
}

const char *mr_cell_text(const mr_finder_figures *finding, int finder, mr_quantity quantity,
                         char buffer[MR_CELL_BYTES])
{
    uint64_t number = 0;
    bool there = finding->done;
    switch (quantity) {
    case MR_QUANTITY_RACY_EVENTS:
        number = finding->racy_events;
        there = there && finding->counts_events;
        break;
    case MR_QUANTITY_RACY_LOCATIONS:
        number = finding->racy_locations;
        there = there && finding->counts_events;
        break;
    case MR_QUANTITY_RACY_VARIABLES:
        number = finding->racy_variables;
        there = there && finding->counts_events;
        break;
    case MR_QUANTITY_STATIC_RACES:
        number = finding->static_races;
        break;
    case MR_QUANTITY_ONLY:
        number = finding->only;
        break;
    case MR_QUANTITY_UNKNOWN:
        number = finding->unknown;
        there = there && finder >= MR_RELATION_COUNT;
        break;
    case MR_QUANTITY_USES_AFTER_FREE:
    case MR_QUANTITY_DEADLOCKS:
    case MR_QUANTITY_NULL:
    case MR_QUANTITY_DANGLING:
    case MR_QUANTITY_DOUBLE_FREES:
    case MR_QUANTITY_BESIDE_UNKNOWN:
        number = beside_races(finding, quantity);
        there = there && finder >= MR_RELATION_COUNT;
        break;
    case MR_QUANTITY_SECONDS:
    case MR_QUANTITY_COUNT:
        snprintf(buffer, MR_CELL_BYTES, there ? "%.3f" : "-", finding->seconds);
        return buffer;
    }
    snprintf(buffer, MR_CELL_BYTES, there ? "%" PRIu64 : "-", number);
    return buffer;
}
