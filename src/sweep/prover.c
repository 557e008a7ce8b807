#include "prover.h"

#include "base/assert.h"
#include "predict/settings.h"
#include "witness/minimise.h"

#include <string.h>

mr_status mr_prover_init(mr_prover *prover, const mr_trace *trace, const mr_config *config,
                         mr_order_stats *stats, const mr_halt *halt, mr_error *error)
{
    *prover = (mr_prover){.trace = trace,
                          .stats = stats,
                          .decide = mr_predict_limits(config),
                          .minimise = mr_config_bool(config, "witness.minimise"),
                          .reach = trace->event_count,
                          .calls = (mr_opaque)mr_config_choice(config, "opaque")};
    mr_arena_init(&prover->arena);
    prover->arena.halt = prover->decide.limits.halt = halt;
    mr_status status = mr_barrier_edges_find(trace, prover->calls, &prover->opaque, error);
    if (status != MR_OK)
        return status;
    if (!mr_between_init(&prover->between, trace, &prover->opaque, halt))
        return mr_error_memory(error, "proving races");
    return MR_OK;
}

void mr_prover_free(mr_prover *prover)
{
    mr_arena_free(&prover->arena);
    mr_carried_free(&prover->carried);
    mr_barrier_edges_free(&prover->opaque);
    mr_between_free(&prover->between);
    mr_session_free(prover->session);
    mr_checker_free(prover->checker);
}

/* What windows and their questions need. */
static mr_status prepare_windows(mr_prover *prover, mr_error *error)
{
    if (prover->session != NULL)
        return MR_OK;
    mr_carried_free(&prover->carried); /* of an attempt that had no memory */
    mr_status status = mr_carried_init(&prover->carried, prover->trace, error);
    if (status != MR_OK)
        return status;
    prover->carried.barrier_edges = &prover->opaque;
    prover->session = mr_session_new();
    return prover->session != NULL ? MR_OK : mr_error_memory(error, "proving races");
}

/* In model rf, a race depends on no later event than those of its window. With opaque calls it may: on
 * where a call ends. */
static bool needs_all(const mr_prover *prover, const mr_witness *witness)
{
    return witness->kind != MR_WITNESS_RACE || witness->model != MR_MODEL_RF ||
           prover->trace->calls.count > 0;
}

/* How many of the first events does the checker have to see for this witness and those to come? */
static uint64_t seen_end(const mr_prover *prover, const mr_witness *witness)
{
    if (needs_all(prover, witness) || prover->reach > prover->trace->event_count)
        return prover->trace->event_count;
    return witness->window_end > prover->reach ? witness->window_end : prover->reach;
}

static mr_status prepare_checker(mr_prover *prover, const mr_witness *witness, mr_error *error)
{
    uint64_t end = seen_end(prover, witness);
    /* Where columns are in files, what is derived of all events is, too. */
    bool by_window = prover->few && !needs_all(prover, witness) && !prover->trace->spill.pager;
    if (prover->checker != NULL && end <= prover->seen.event_count &&
        (by_window || !prover->by_window))
        return MR_OK;
    mr_checker_free(prover->checker);
    prover->seen = *prover->trace;
    prover->seen.event_count = end;
    prover->by_window = by_window;
    prover->checker = by_window ? mr_checker_new_by_window(&prover->seen)
                                : mr_checker_new(&prover->seen, prover->calls);
    return prover->checker != NULL ? MR_OK : mr_error_memory(error, "proving races");
}

/* Replaces the standing. */
static void set_standing(mr_order_race *known, mr_standing standing, mr_proof proof,
                         const mr_question *question)
{
    *known = (mr_order_race){.standing = standing, .proof = proof};
    if (question != NULL) {
        known->window_start = question->start;
        known->window_end = question->end;
    }
}

void mr_prover_reject(mr_prover *prover, const mr_question *question, mr_order_race *known)
{
    prover->stats->rejected_witnesses++;
    set_standing(known, MR_STANDING_UNKNOWN, MR_PROOF_NONE, question);
    known->reason = MR_UNKNOWN_REJECTED;
}

mr_witness mr_question_witness(const mr_question *question, uint32_t *events, size_t count)
{
    return (mr_witness){.first = question->first,
                        .second = question->second,
                        .window_start = question->start,
                        .window_end = question->end,
                        .model = question->model,
                        .events = events,
                        .event_count = (uint32_t)count};
}

mr_status mr_prover_accept(mr_prover *prover, mr_witness *witness, mr_proof proof,
                           mr_order_race *known, mr_error *error)
{
    mr_status status = MR_OK;
    MR_REQUIRE(witness->window_start < witness->window_end && witness->first < witness->second &&
               witness->second < prover->trace->event_count);
    if (prover->minimise && witness->kind == MR_WITNESS_RACE)
        status = mr_witness_minimise(prover->trace, &prover->opaque, witness, error);
    if (status == MR_OK)
        status = prepare_checker(prover, witness, error);
    if (status == MR_OK)
        status = mr_checker_check(prover->checker, witness, error);
    if (status == MR_OK) {
        set_standing(known, MR_STANDING_RACE, proof, NULL);
        known->witness = *witness;
        *witness = (mr_witness){0};
        return MR_OK;
    }
    if (status == MR_ERR_INTERNAL) {
        mr_question question = {.start = witness->window_start, .end = witness->window_end};
        mr_prover_reject(prover, &question, known);
        status = MR_OK;
    }
    mr_witness_free(witness);
    return status;
}

/* Makes a witness from the events of the decision, which are numbered from the start of the window.
 */
static mr_status accept_decision(mr_prover *prover, const mr_question *question,
                                 const mr_decision *decision, mr_proof proof, mr_order_race *known,
                                 mr_error *error)
{
    uint32_t *events = mr_calloc(decision->event_count + 1, sizeof *events);
    if (!events)
        return mr_error_memory(error, "building a witness");
    for (uint32_t i = 0; i < decision->event_count; i++) {
        MR_ASSERT(decision->events[i] < question->end - question->start);
        events[i] = question->start + decision->events[i];
    }
    mr_witness witness = mr_question_witness(question, events, decision->event_count);
    return mr_prover_accept(prover, &witness, proof, known, error);
}

static mr_status decide(mr_prover *prover, const mr_question *question, mr_decision *decision,
                        mr_error *error)
{
    mr_window *window;
    mr_problem problem;
    mr_decide_options options = prover->decide;
    if (question->trace_order)
        options.steps = MR_STEP_BIT(MR_STEP_LINEARISE);
    mr_arena_reset(&prover->arena);
    mr_status status = prepare_windows(prover, error);
    if (status != MR_OK)
        return status;
    mr_carried_move(&prover->carried, question->start);
    status = mr_window_build(&prover->carried, question->end, question->model, &prover->arena,
                             &window, error);
    if (status != MR_OK)
        return status;
    if (!mr_problem_init(&problem, window, &prover->arena))
        return mr_error_memory(error, "building a window");
    return mr_decide(&problem, prover->session, &options, question->first - question->start,
                     question->second - question->start, &prover->arena, decision, error);
}

mr_status mr_prover_ask(mr_prover *prover, const mr_question *question, mr_proof proof,
                        mr_order_race *known, mr_error *error)
{
    mr_decision decision = {0};
    MR_REQUIRE(question->start <= question->first && question->first < question->second &&
               question->second < question->end && question->end <= prover->trace->event_count);
    mr_status status = decide(prover, question, &decision, error);
    prover->stats->queries_stopped_by_time += decision.stopped_by_time;
    prover->stats->queries_stopped_by_memory += decision.stopped_by_memory;
    if (status != MR_OK)
        return status;
    if (decision.verdict == MR_VERDICT_RACE)
        return accept_decision(prover, question, &decision, proof, known, error);
    if (decision.verdict == MR_VERDICT_NO_RACE) {
        set_standing(known, MR_STANDING_NO_RACE, MR_PROOF_NONE, question);
    } else {
        set_standing(known, MR_STANDING_UNKNOWN, MR_PROOF_NONE, question);
        known->reason = decision.reason;
        memcpy(known->detail, decision.detail, sizeof known->detail);
    }
    return MR_OK;
}

mr_status mr_prover_ask_between(mr_prover *prover, const mr_question *question, mr_proof proof,
                                mr_order_race *known, mr_error *error)
{
    mr_u32s events = {0};
    bool found;
    MR_REQUIRE(question->trace_order && question->start == question->first &&
               question->end == question->second + 1);
    if (!mr_between_find(&prover->between, question->first, question->second, &events, &found)) {
        mr_u32s_free(&events);
        return mr_error_memory(error, "building a witness");
    }
    if (!found) {
        mr_u32s_free(&events);
        return mr_prover_ask(prover, question, proof, known, error);
    }
    mr_witness witness = mr_question_witness(question, events.items, events.count);
    return mr_prover_accept(prover, &witness, proof, known, error);
}
