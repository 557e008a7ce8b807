/* The least fixpoint of the rules of cp.h on the graph of cp_graph.h. */
#include "base/assert.h"
#include "cp_graph.h"

#include <stdlib.h>

/* The segments whose P has grown since it was last handed on. It is a binary heap with the first
 * segment in the trace on top, and has each segment at most once. */
typedef struct agenda {
    mr_u32s heap;
    bool *on; /* by segment */
} agenda;

typedef struct solver {
    mr_cp_graph *graph;
    agenda grown;
    uint32_t taken; /* segments below this number have a P */
} solver;

static bool agenda_add(agenda *grown, uint32_t segment)
{
    if (grown->on[segment])
        return true;
    if (!mr_u32s_push(&grown->heap, segment))
        return false;
    grown->on[segment] = true;
    uint32_t *items = grown->heap.items;
    size_t at = grown->heap.count - 1;
    for (; at && items[(at - 1) / 2] > segment; at = (at - 1) / 2)
        items[at] = items[(at - 1) / 2];
    items[at] = segment;
    return true;
}

static uint32_t agenda_take(agenda *grown)
{
    MR_ASSERT(grown->heap.count > 0);
    uint32_t *items = grown->heap.items, top = items[0];
    MR_ASSERT(grown->on[top]);
    size_t count = --grown->heap.count, at = 0;
    uint32_t moved = items[count];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && items[child + 1] < items[child];
        if (items[child] >= moved)
            break;
        items[at] = items[child];
    }
    items[at] = moved;
    grown->on[top] = false;
    return top;
}

/* Joins the time into P of the segment, and puts it on the agenda when P has grown. */
static bool grow(solver *s, uint32_t number, mr_time time)
{
    mr_clock_pool *pool = &s->graph->pool;
    mr_clock **before = &s->graph->segments[number].before;
    /* With a second reference, a join that changes the clock has to make a copy, which shows it. */
    mr_clock *old = mr_clock_share(*before);
    bool done = mr_clock_join(pool, before, time);
    bool changed = old != *before;
    mr_clock_drop(pool, &old);
    return done && (!changed || agenda_add(&s->grown, number));
}

/* Rule (b) with `end`, what is known of P at the section's end: passes the sections of other
 * threads whose acquire is in it. Returns the last one that neither this section nor the one of the
 * lock before it has passed, MR_NONE when there is none. (What the section before it has passed is
 * in P of that one, and so in P of this one.) */
static uint32_t pass_sections(const mr_cp_graph *graph, uint32_t number, const mr_clock *end)
{
    mr_cp_section *section = &graph->sections[number];
    uint32_t passed = section->passed, last = MR_NONE;
    if (section->previous != MR_NONE && graph->sections[section->previous].passed > passed)
        passed = graph->sections[section->previous].passed;
    uint32_t next = passed ? graph->sections[passed - 1].next : graph->first_of_lock[section->lock];
    while (next < number) {
        const mr_cp_section *other = &graph->sections[next];
        if (other->thread == section->thread) {
            next = other->later_other;
        } else if (mr_clock_get(end, other->thread) >= other->acquired) {
            last = next;
            passed = next + 1;
            next = other->next;
        } else {
            break;
        }
    }
    MR_ASSERT(passed >= section->passed && passed <= number); /* it only passes earlier ones */
    section->passed = passed;
    return last;
}

/* Joins H of the release of the section `before` into P at the section's begin. MR_NONE: nothing to
 * join. */
static bool follow(solver *s, uint32_t before, uint32_t number)
{
    if (before == MR_NONE)
        return true;
    const mr_cp_section *other = &s->graph->sections[before];
    return grow(s, s->graph->sections[number].segment,
                (mr_time){other->happened, other->thread, other->released});
}

/* Hands P on along an HB edge. A segment without a P takes it later, by itself. */
static bool hand_on(solver *s, uint32_t number, uint32_t to)
{
    return to >= s->taken || grow(s, to, (mr_time){.clock = s->graph->segments[number].before});
}

/* P of the segment has grown: ends of sections may pass others, and P is handed on. */
static bool visit(solver *s, uint32_t number)
{
    const mr_cp_graph *graph = s->graph;
    const mr_cp_segment *segment = &graph->segments[number];
    for (uint32_t i = segment->last_ended; i != MR_NONE; i = graph->sections[i].next_ended)
        if (!follow(s, pass_sections(graph, i, segment->before), i))
            return false;
    for (uint32_t to = segment->first_out; to != MR_NONE; to = graph->segments[to].next_out)
        if (!hand_on(s, number, to))
            return false;
    return hand_on(s, number, segment->next);
}

/* Gives the next segment its first P: from the segments before it, by rule (a), and by rule (b) as
 * far as P at the begin of its section already says. */
static bool take(solver *s, uint32_t number)
{
    const mr_cp_graph *graph = s->graph;
    mr_cp_segment *segment = &graph->segments[number];
    MR_ASSERT(s->taken == number && (segment->from == MR_NONE || segment->from < number));
    s->taken = number + 1;
    if (segment->previous != MR_NONE)
        segment->before = mr_clock_share(graph->segments[segment->previous].before);
    if (segment->from != MR_NONE &&
        !grow(s, number, (mr_time){.clock = graph->segments[segment->from].before}))
        return false;
    uint32_t section = segment->section;
    if (section != MR_NONE) {
        /* `passed` is 0 when no section conflicts, which gives MR_NONE here. */
        uint32_t conflict = graph->sections[section].passed - 1;
        if (!follow(s, conflict, section) ||
            !follow(s, pass_sections(graph, section, segment->before), section))
            return false;
    }
    return agenda_add(&s->grown, number);
}

bool mr_cp_graph_solve(mr_cp_graph *graph, const mr_halt *halt)
{
    solver s = {.graph = graph};
    s.grown.on = mr_calloc(graph->segment_count, sizeof(bool));
    bool done = s.grown.on != NULL;
    for (uint32_t number = 0; done && number < graph->segment_count; number++) {
        done = take(&s, number);
        while (done && s.grown.heap.count) {
            bool goes_on = graph->visits++ % MR_CP_LOOK_EVENTS || !mr_halt_asked(halt);
            done = goes_on && visit(&s, agenda_take(&s.grown));
        }
    }
    free(s.grown.on);
    mr_u32s_free(&s.grown.heap);
    return done;
}
