#include "gaps.h"

#include "base/assert.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_A_GAP = 8 }; /* gaps may take this part of the log */

static void give_up(mr_gaps *gaps)
{
    free(gaps->items);
    free(gaps->calls);
    for (uint32_t i = 0; i < gaps->mark_count; i++)
        free(gaps->marks[i].model);
    *gaps = (mr_gaps){.given_up = true};
}

void mr_gaps_free(mr_gaps *gaps)
{
    give_up(gaps);
    *gaps = (mr_gaps){.mark_count = 0};
}

/* Parts are twice as long from here on: every second mark goes. */
static void thin_out(mr_gaps *gaps)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < gaps->mark_count; i++) {
        if (i % 2 == 0)
            gaps->marks[kept++] = gaps->marks[i];
        else
            free(gaps->marks[i].model);
    }
    gaps->mark_count = kept;
}

bool mr_gaps_mark(mr_gaps *gaps, const mr_log_pass *pass, uint64_t part_units)
{
    if (part_units < gaps->least_part || gaps->given_up || !pass->model)
        return true;
    if (gaps->mark_count == MR_GAPS_MARKS)
        thin_out(gaps);
    mr_log_model *model = mr_malloc(sizeof *model, 0);
    if (!model)
        return false;
    *model = *pass->model;
    gaps->marks[gaps->mark_count++] = (mr_gap_mark){pass->next, model};
    return true;
}

bool mr_gaps_enter(mr_gaps *gaps, mr_gap *gap, const uint64_t *record)
{
    void *calls = gaps->calls;
    size_t number = gaps->call_count + gaps->entered;
    if (!mr_grow(&calls, &gaps->call_capacity, number + 1, sizeof *gaps->calls))
        return false;
    gaps->calls = calls;
    gaps->calls[number] = (mr_gap_call){mr_log_payload(record[0]), record[1], record[2], record[3]};
    gaps->entered++;
    gap->code = record[1];
    return true;
}

void mr_gaps_leave(mr_gaps *gaps, mr_gap *gap, uint64_t count)
{
    size_t own = count < gaps->entered ? (size_t)count : gaps->entered;
    uint64_t left = gap->left + (count - own);
    if (!count)
        return;
    gaps->entered -= own;
    gap->left = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
    gap->code = count > own ? 0 : gaps->calls[gaps->call_count + gaps->entered].caller;
}

bool mr_gaps_note(mr_gaps *gaps, mr_gap gap)
{
    void *items = gaps->items;
    uint64_t log_bytes = (gap.start + gap.units) * sizeof(uint32_t);
    gap.calls = (uint32_t)gaps->call_count;
    gaps->call_count += gaps->entered;
    gaps->entered = 0;
    uint64_t bytes = (gaps->count + 1) * sizeof gap + gaps->call_count * sizeof *gaps->calls;
    if ((bytes > MR_GAPS_LEAST_BYTES && bytes > log_bytes / LOG_A_GAP) ||
        gaps->call_count > UINT32_MAX) {
        give_up(gaps);
        return true;
    }
    if (!mr_grow(&items, &gaps->capacity, gaps->count + 1, sizeof *gaps->items))
        return false;
    gaps->items = items;
    MR_ASSERT(!gaps->count || gaps->items[gaps->count - 1].start < gap.start);
    gaps->items[gaps->count++] = gap;
    return true;
}

void mr_jumper_settle(mr_jumper *jumper, mr_log_pass *reader, uint64_t part_end)
{
    const mr_gaps *gaps = jumper->gaps;
    if (!jumper->stale || !mr_log_run_follows(reader))
        return;
    uint32_t mark = gaps->mark_count;
    while (mark > 1 && gaps->marks[mark - 1].unit > reader->next)
        mark--;
    MR_REQUIRE(mark > 0 && gaps->marks[mark - 1].unit <= reader->next);

    *reader->model = *gaps->marks[mark - 1].model;
    mr_log_learn_from(reader, gaps->marks[mark - 1].unit);
    jumper->stale = false;
    jumper->settled = part_end;
}

const mr_gap *mr_jumper_pass(mr_jumper *jumper, mr_log_pass *reader, bool skips_part,
                             uint64_t part_end)
{
    const mr_gaps *gaps = jumper->gaps;
    while (jumper->next < gaps->count && gaps->items[jumper->next].start < reader->next)
        jumper->next++;
    if (jumper->next >= gaps->count || gaps->items[jumper->next].start != reader->next)
        return NULL;
    const mr_gap *gap = &gaps->items[jumper->next];
    if (skips_part && reader->next >= jumper->settled) {
        jumper->stale = true;
        reader->next += gap->units;
    } else if (skips_part || !mr_visits_has(jumper->visits, jumper->next)) {
        mr_jumper_settle(jumper, reader, part_end);
        mr_log_learn_run(reader, gap->units);
    } else {
        return NULL;
    }
    return gap;
}
