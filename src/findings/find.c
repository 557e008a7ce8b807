#include "base/memory.h"
#include "explain.h"
#include "witness/pack.h"

#include <stdlib.h>

/* ---- a unit ---- */

/* Is the effort of all findings spent already? Then the merge drops what this unit would find. */
static bool is_spent(mr_finder *finder)
{
    uint64_t limit = finder->context->settings->far_limits.all;
    pthread_mutex_lock(&finder->lock);
    bool spent = limit && finder->spent > limit;
    pthread_mutex_unlock(&finder->lock);
    return spent;
}

/* mr_phase.decide */
static mr_status decide(void *context, unsigned number, uint64_t unit, mr_outcome **outcome,
                        mr_error *error)
{
    mr_finder *finder = context;
    mr_finder_worker *own = NULL;
    bool halted = false;
    mr_status status = mr_finder_worker_get(finder, number, &own, error);
    if (status != MR_OK)
        return status;
    *outcome = mr_outcome_new(unit);
    if (!*outcome || !mr_outcome_add_finding(*outcome))
        return mr_error_memory(error, "looking for findings");
    own->worker.error = error;
    mr_worker_begin(&own->worker, MR_ROOM_FAR);
    mr_worker_asks(&own->worker, true);
    (*outcome)->finding->verdict = MR_VERDICT_UNKNOWN;
    if (!is_spent(finder))
        status = mr_finder_decide(finder, own, (uint32_t)unit, (*outcome)->finding, &halted);
    own->worker.halted = false;
    status = mr_worker_ended(&own->worker, status);
    halted |= own->worker.halted;
    mr_worker_end(&own->worker);
    if (status == MR_OK && halted) {
        mr_outcome_free(*outcome);
        *outcome = NULL;
    }
    return status;
}

/* ---- merging ---- */

static mr_status add_finding(mr_finder *finder, mr_finding *finding, mr_error *error)
{
    mr_result *result = finder->context->merge->result;
    void *findings = result->findings;
    bool pack = result->finding_count >= MR_WITNESSES_OPEN && !finding->witness.packed;
    if ((pack && !mr_witness_pack(finder->context->settings->trace, &finding->witness)) ||
        !mr_grow(&findings, &result->finding_capacity, result->finding_count + 1,
                 sizeof *result->findings))
        return mr_error_memory(error, "recording a finding");
    result->findings = findings;
    result->findings[result->finding_count++] = *finding;
    *finding = (mr_finding){0}; /* taken over */
    return MR_OK;
}

static mr_status add_unknown(mr_finder *finder, const mr_finding_unknown *unknown, mr_error *error)
{
    mr_result *result = finder->context->merge->result;
    void *unknowns = result->finding_unknowns;
    if (!mr_grow(&unknowns, &result->finding_unknown_capacity, result->finding_unknown_count + 1,
                 sizeof *result->finding_unknowns))
        return mr_error_memory(error, "recording a finding");
    result->finding_unknowns = unknowns;
    result->finding_unknowns[result->finding_unknown_count++] = *unknown;
    return MR_OK;
}

/* The unknown of a group that the budget does not cover. */
static mr_finding_unknown uncovered(const mr_finder *finder, uint32_t group)
{
    const mr_trace *trace = finder->context->settings->trace;
    const mr_question *question =
        &finder->questions.items[finder->of_group[finder->group_first[group]]];
    uint32_t first, last;
    mr_question_span(&finder->asked, question, &first, &last);
    return (mr_finding_unknown){.kind = question->kind,
                                .first = finder->asked.events ? finder->asked.events[first] : first,
                                .second = finder->asked.events ? finder->asked.events[last] : last,
                                .window_end = trace->event_count,
                                .reason = MR_UNKNOWN_BUDGET};
}

/* mr_phase.merge */
static mr_status merge(void *context, mr_outcome *outcome, mr_error *error)
{
    mr_finder *finder = context;
    mr_finding_verdict *verdict = outcome->finding;
    uint32_t group = (uint32_t)outcome->unit;
    mr_stats *stats = &finder->context->merge->result->stats;
    mr_finding_stats *own = &stats->findings[finder->questions.groups[group].kind];
    if (!verdict)
        return mr_error_set(error, MR_ERR_INTERNAL, NULL, 0, "an outcome without a finding");
    own->candidates++;
    if (is_spent(finder)) {
        mr_finding_unknown unknown = uncovered(finder, group);
        own->unknown++;
        return add_unknown(finder, &unknown, error);
    }
    pthread_mutex_lock(&finder->lock);
    finder->spent += verdict->effort;
    pthread_mutex_unlock(&finder->lock);
    own->questions += verdict->questions;
    stats->rejected_witnesses += verdict->rejected_witnesses;
    switch (verdict->verdict) {
    case MR_VERDICT_RACE:
        own->found++;
        return add_finding(finder, &verdict->finding, error);
    case MR_VERDICT_NO_RACE:
        own->impossible++;
        if (finder->explain_cycles && finder->questions.groups[group].kind == MR_WITNESS_DEADLOCK)
            return mr_explain_impossible(finder, group, error);
        return MR_OK;
    case MR_VERDICT_UNKNOWN:
        own->unknown++;
        return add_unknown(finder, &verdict->open, error);
    }
    return MR_OK;
}

/* ---- the result ---- */

static int compare(uint32_t one, uint32_t other)
{
    return (one > other) - (one < other);
}

static int compare_findings(const void *one, const void *two)
{
    const mr_witness *x = &((const mr_finding *)one)->witness;
    const mr_witness *y = &((const mr_finding *)two)->witness;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    int by = compare(x->second, y->second);
    by = by ? by : compare(x->first, y->first);
    by = by ? by : compare(x->freed, y->freed);
    for (uint32_t i = 2; !by && i < x->wait_count && i < y->wait_count; i++)
        by = compare(x->waits[i], y->waits[i]);
    return by ? by : compare(x->wait_count, y->wait_count);
}

static int compare_unknowns(const void *one, const void *two)
{
    const mr_finding_unknown *x = one, *y = two;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->second != y->second ? compare(x->second, y->second) : compare(x->first, y->first);
}

static void sort(mr_result *result)
{
    if (result->finding_count)
        qsort(result->findings, result->finding_count, sizeof *result->findings, compare_findings);
    if (result->finding_unknown_count)
        qsort(result->finding_unknowns, result->finding_unknown_count,
              sizeof *result->finding_unknowns, compare_unknowns);
}

mr_status mr_findings_find(const mr_far_context *context, const mr_findings_wanted *wanted,
                           bool *complete, mr_error *error)
{
    mr_finder finder;
    *complete = false;
    mr_status status = mr_finder_init(&finder, context, wanted, error);
    finder.explain_cycles = wanted->deadlocks && wanted->explain_cycles;
    const mr_phase phase = {.context = &finder,
                            .stage = "findings",
                            .count = finder.questions.group_count,
                            .decide = decide,
                            .merge = merge};
    if (status == MR_OK && phase.count)
        status = mr_dispatch_run(context->dispatch, &phase, error);
    if (status == MR_OK && finder.explain_cycles)
        status = mr_explain_guarded(&finder, error);
    bool halted = mr_halt_asked(context->settings->halt) != MR_HALT_NONE;
    if (status == MR_ERR_MEMORY && halted)
        status = MR_OK; /* the window of the whole trace was refused its memory */
    *complete = status == MR_OK && !halted;
    sort(context->merge->result);
    mr_finder_free(&finder);
    return status;
}
