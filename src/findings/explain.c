#include "explain.h"

#include "goals/candidates.h"

#include <stdlib.h>
#include <string.h>

static mr_status no_memory(mr_error *error)
{
    return mr_error_memory(error, "explaining circles of locks");
}

static bool add_note(mr_result *result, const mr_cycle_note *note)
{
    void *notes = result->cycle_notes;
    if (!mr_grow(&notes, &result->cycle_note_capacity, result->cycle_note_count + 1,
                 sizeof *result->cycle_notes))
        return false;
    result->cycle_notes = notes;
    result->cycle_notes[result->cycle_note_count++] = *note;
    return true;
}

/* ---- order by fork and join ---- */

/* By thread: its first event that comes after `event` by program order, fork and join; MR_NONE: none. */
static void reach_from(const mr_trace *trace, const mr_u32s *edges, uint32_t event, uint32_t *reach)
{
    for (uint32_t t = 0; t < trace->threads.count; t++)
        reach[t] = MR_NONE;
    reach[trace->thread[event]] = event;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < edges->count; i++) {
            uint32_t e = edges->items[i], own = trace->thread[e], other = trace->operand[e];
            bool forks = mr_op_forks(trace->op[e]);
            uint32_t from = forks ? own : other, to = forks ? other : own;
            uint32_t target = forks ? trace->thread_info[other].first : e;
            if (reach[from] == MR_NONE || (forks && reach[from] > e) || target >= reach[to])
                continue;
            reach[to] = target;
            changed = true;
        }
    }
}

/* Looks for an acquire of the circle that comes before something that another of its threads has done
 * when it comes to its acquire. False: no memory. */
static bool find_order(const mr_trace *trace, mr_cycle_note *note)
{
    mr_u32s edges = {0};
    uint32_t *reach = mr_calloc((size_t)trace->threads.count + 1, sizeof *reach);
    bool ok = reach != NULL;
    for (uint32_t e = 0; ok && e < trace->event_count; e++) {
        mr_trace_pass(trace, e);
        if (mr_op_forks(trace->op[e]) || mr_op_joins(trace->op[e]))
            ok = mr_u32s_push(&edges, e);
    }
    for (uint32_t i = 0; ok && i < note->wait_count && note->before == MR_NONE; i++) {
        reach_from(trace, &edges, note->waits[i], reach);
        for (uint32_t j = 0; j < note->wait_count; j++) {
            uint32_t first = reach[trace->thread[note->waits[j]]];
            if (j == i || first == MR_NONE || first > note->waits[j])
                continue;
            note->before = note->waits[i];
            note->after = first;
        }
    }
    mr_u32s_free(&edges);
    free(reach);
    return ok;
}

mr_status mr_explain_impossible(mr_finder *finder, uint32_t group, mr_error *error)
{
    const mr_questions *all = &finder->questions;
    const mr_question *question = &all->items[finder->of_group[finder->group_first[group]]];
    mr_cycle_note note = {
        .wait_count = question->list_count, .guard = MR_NONE, .before = MR_NONE, .after = MR_NONE};
    for (uint32_t i = 0; i < note.wait_count; i++)
        note.waits[i] = all->events.items[all->lists[question->first_list + i].first];
    return find_order(finder->context->settings->trace, &note) &&
                   add_note(finder->context->merge->result, &note)
               ? MR_OK
               : no_memory(error);
}

/* ---- guard locks ---- */

mr_status mr_explain_guarded(mr_finder *finder, mr_error *error)
{
    mr_guarded_cycles found = {0};
    bool ok = mr_deadlock_guarded(finder->context->settings->trace, &found);
    for (size_t i = 0; ok && i < found.count; i++) {
        mr_cycle_note note = {.wait_count = found.items[i].count,
                              .guard = found.items[i].guard,
                              .before = MR_NONE,
                              .after = MR_NONE};
        memcpy(note.waits, found.items[i].events, sizeof note.waits);
        ok = add_note(finder->context->merge->result, &note);
    }
    free(found.items);
    return ok ? MR_OK : no_memory(error);
}
