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

void mr_jumper_settle(mr_jumper *jumper, mr_log_pass *reader)
{
    const mr_gaps *gaps = jumper->gaps;
    if (!jumper->stale || !mr_log_run_follows(reader))
        return;
    uint32_t mark = gaps->mark_count;
    jumper->settled = UINT64_MAX;
    while (mark > 1 && gaps->marks[mark - 1].unit > reader->next)
        jumper->settled = gaps->marks[--mark].unit;
    MR_REQUIRE(mark > 0 && gaps->marks[mark - 1].unit <= reader->next);

    *reader->model = *gaps->marks[mark - 1].model;
    mr_log_learn_from(reader, gaps->marks[mark - 1].unit);
    jumper->stale = false;
}

/* Looks for the next gap with kept accesses. */
static void look_ahead(mr_jumper *jumper)
{
    const mr_gaps *gaps = jumper->gaps;
    size_t at = jumper->next;
    if (jumper->ahead > at)
        return;
    while (at < gaps->count && !mr_visits_has(jumper->visits, at))
        at++;
    jumper->ahead = at + 1;
    jumper->stop = at < gaps->count ? 0 : UINT64_MAX;
    for (uint32_t i = 0; i < gaps->mark_count && at < gaps->count; i++)
        if (gaps->marks[i].unit <= gaps->items[at].start)
            jumper->stop = gaps->marks[i].unit;
}

const mr_gap *mr_jumper_pass(mr_jumper *jumper, mr_log_pass *reader, bool skips_part)
{
    const mr_gaps *gaps = jumper->gaps;
    while (jumper->next < gaps->count && gaps->items[jumper->next].start < reader->next)
        jumper->next++;
    if (jumper->next >= gaps->count || gaps->items[jumper->next].start != reader->next)
        return NULL;
    const mr_gap *gap = &gaps->items[jumper->next];
    look_ahead(jumper);
    bool is_needed = !skips_part && gap->start + gap->units > jumper->stop;
    if (!skips_part && jumper->ahead == jumper->next + 1)
        return NULL;
    if (!is_needed && reader->next >= jumper->settled) {
        jumper->stale = true;
        reader->next += gap->units;
    } else {
        mr_jumper_settle(jumper, reader);
        mr_log_learn_run(reader, gap->units);
    }
    return gap;
}
