/* From a decision to a race that the checker has accepted, or to an unknown. */
#include "base/seconds.h"
#include "worker.h"

#include "base/assert.h"
#include "witness/minimise.h"
#include "witness/pack.h"

#include <string.h>

/* The decision's window events as event numbers of the trace, owned by the witness. Those of a small
 * window (near.h) become a reordering of the window around it: what is between their starts comes
 * first, as observed. */
static mr_status build(mr_worker *worker, const mr_window *window, const mr_decision *decision,
                       mr_witness *witness)
{
    const mr_window *whole = worker->near_in ? worker->near_in : window;
    uint32_t before = window->start - whole->start;
    uint32_t observed = before ? 0 : decision->observed;
    *witness = (mr_witness){.first = window->start + decision->first,
                            .second = window->start + decision->second,
                            .window_start = whole->start + observed,
                            .window_end = whole->end,
                            .model = worker->settings->model,
                            .event_count = before + decision->event_count - observed};
    witness->events = mr_calloc(witness->event_count, sizeof *witness->events);
    if (!witness->events)
        return mr_error_memory(worker->error, "building a witness");
    for (uint32_t i = 0; i < before; i++)
        witness->events[i] = whole->start + i;
    for (uint32_t i = observed; i < decision->event_count; i++)
        witness->events[before + i - observed] = window->start + decision->events[i];
    return MR_OK;
}

static mr_status ask_checker(mr_worker *worker, const mr_witness *witness, bool *accepted)
{
    mr_error refusal;
    mr_checker *checker = mr_worker_checker(worker);
    if (!checker)
        return mr_error_memory(worker->error, "checking a witness");
    mr_status status = mr_checker_check(checker, witness, &refusal);
    *accepted = status == MR_OK;
    if (status == MR_ERR_INTERNAL) {
        MR_DEBUG(worker->settings->debug, STEPS, "rejected: %s", refusal.text);
        return MR_OK;
    }
    if (status != MR_OK)
        *worker->error = refusal;
    return status;
}

mr_status mr_worker_check_witness(mr_worker *worker, mr_witness *witness, bool *accepted)
{
    double begin = mr_seconds();
    bool minimise = worker->settings->minimise && !worker->leaves_long;
    *accepted = false;
    mr_status status =
        minimise ? mr_witness_minimise(worker->trace, worker->opaque, witness, worker->error)
                 : MR_OK;
    if (status == MR_OK && worker->expand)
        status = worker->expand(worker->expand_context, witness, worker->error);
    if (status == MR_OK && minimise)
        mr_witness_observe(witness);
    if (status == MR_OK && worker->trace->runs)
        *accepted = true;
    else if (status == MR_OK)
        status = ask_checker(worker, witness, accepted);
    if (!*accepted)
        mr_witness_free(witness);
    worker->run.witness_seconds += mr_seconds() - begin;
    return status;
}

mr_status mr_worker_confirm_witness(mr_worker *worker, mr_witness *witness, mr_strength strength,
                                    mr_decision *decision, mr_pair_verdict *verdict)
{
    mr_step step = worker->expand ? MR_STEP_FAR : decision->step;
    mr_status status = mr_worker_check_witness(worker, witness, &verdict->has_race);
    if (verdict->has_race) {
        verdict->race = (mr_race){.witness = *witness,
                                  .strength = strength,
                                  .confirmed_by = step,
                                  .is_long = worker->leaves_long && worker->settings->minimise};
        if (worker->leaves_long) /* else it is packed when there is no memory now */
            mr_witness_pack(worker->trace, &verdict->race.witness);
    } else if (status == MR_OK) {
        verdict->rejected_witnesses++;
        decision->verdict = MR_VERDICT_UNKNOWN;
        decision->reason = MR_UNKNOWN_REJECTED;
    }
    return status;
}

mr_status mr_worker_confirm(mr_worker *worker, const mr_window *window, mr_strength strength,
                            mr_decision *decision, mr_pair_verdict *verdict)
{
    mr_witness witness;
    mr_status status = build(worker, window, decision, &witness);
    return status != MR_OK
               ? status
               : mr_worker_confirm_witness(worker, &witness, strength, decision, verdict);
}

mr_status mr_worker_try_reorder(mr_worker *worker, const mr_problem *problem,
                                const mr_foreign_reads *foreign, mr_strength strength,
                                uint32_t first, uint32_t second, mr_pair_verdict *verdict)
{
    mr_decision decision = {.first = first, .second = second, .step = MR_STEP_GREEDY};
    mr_status status = MR_OK;
    MR_REQUIRE(first < second && second < problem->window->size);
    mr_arena_mark mark = mr_arena_get_mark(&worker->arena);
    mr_reordered found = mr_reorder(&problem->forced, &problem->source, foreign, first, second,
                                    &decision.events, &decision.event_count, &worker->arena);
    /* A question that was refused for want of memory has no answer; that is no error. */
    bool refused = found == MR_REORDER_NO_MEMORY && worker->arena.refused;
    worker->arena.refused = false;
    if (found == MR_REORDER_NO_MEMORY && !refused)
        status = mr_error_memory(worker->error, "reordering a window");
    else if (found == MR_REORDERED)
        status = mr_worker_confirm(worker, problem->window, strength, &decision, verdict);
    mr_arena_release(&worker->arena, mark);
    return status;
}

void mr_pair_verdict_note_unknown(const mr_window *window, uint32_t first, uint32_t second,
                                  mr_strength strength, const mr_decision *decision,
                                  mr_pair_verdict *verdict)
{
    if (verdict->has_unknown)
        return;
    verdict->has_unknown = true;
    mr_unknown *unknown = &verdict->open;
    *unknown = (mr_unknown){.first = first,
                            .second = second,
                            .window_start = window->start,
                            .window_end = window->end,
                            .strength = strength,
                            .reason = decision->reason};
    memcpy(unknown->detail, decision->detail, sizeof unknown->detail);
}
