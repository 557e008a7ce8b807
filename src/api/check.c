#include "api.h"
#include "witness/checker.h"
#include "witness/file.h"

#include <string.h>

/* False when there is no such model; then `error` says so. */
static bool find_model(const char *name, mr_model *model, mr_error *error)
{
    for (int i = MR_MODEL_RF; i <= MR_MODEL_BRANCH; i++) {
        *model = (mr_model)i;
        if (strcmp(name, mr_model_name(*model)) == 0)
            return true;
    }
    mr_error_set(error, MR_ERR_USAGE, NULL, 0, "there is no model '%s': rf, value or branch", name);
    return false;
}

/* Says why a witness is rejected, without calling it a failure. */
static mr_judgement rejected(mr_failure *failure, const mr_error *error)
{
    if (failure != NULL) {
        failure->kind = MR_FAILURE_NONE;
        mr_error_line(error, failure->message, sizeof failure->message);
    }
    return MR_REJECTED;
}

static mr_judgement judge(const mr_trace *trace, const mr_witness *witness, mr_failure *failure)
{
    mr_error error = {0};
    mr_checker *checker = mr_checker_new(trace, MR_OPAQUE_PAIR);
    mr_status status = checker != NULL ? mr_checker_check(checker, witness, &error)
                                       : mr_error_memory(&error, "checking a witness");
    mr_checker_free(checker);
    if (status == MR_ERR_INTERNAL)
        return rejected(failure, &error);
    return mr_failure_set(failure, status, &error) ? MR_ACCEPTED : MR_NOT_JUDGED;
}

static mr_judgement not_judged(mr_failure *failure, const mr_error *error)
{
    mr_failure_set(failure, error->status, error);
    return MR_NOT_JUDGED;
}

mr_judgement mr_check_witness(const mr_trace *trace, const char *model, const mr_race_info *race,
                              mr_failure *failure)
{
    mr_error error = {0};
    mr_witness witness = {.first = race->first,
                          .second = race->second,
                          .window_start = race->window_start,
                          .window_end = race->window_end,
                          .events = (uint32_t *)race->witness, /* the checker only reads them */
                          .event_count = race->witness_count};
    if (race->kind != NULL &&
        strcmp(race->kind, mr_witness_kind_name(MR_WITNESS_MEMORY_ORDER)) == 0)
        witness.kind = MR_WITNESS_MEMORY_ORDER;
    if (!find_model(model, &witness.model, &error))
        return not_judged(failure, &error);
    return judge(trace, &witness, failure);
}

/* The kind of a finding; MR_WITNESS_KINDS: there is none of this name. */
static mr_witness_kind kind_of(const char *name)
{
    int kind = MR_WITNESS_USE_AFTER_FREE;
    while (kind < MR_WITNESS_KINDS &&
           strcmp(name, mr_witness_kind_name((mr_witness_kind)kind)) != 0)
        kind++;
    return (mr_witness_kind)kind;
}

/* Do the numbers that the checker takes for granted fit? */
static bool has_events(const mr_trace *trace, const mr_finding_info *finding)
{
    bool deadlock = kind_of(finding->kind) == MR_WITNESS_DEADLOCK;
    for (uint32_t i = 0; i < finding->wait_count; i++)
        if (finding->waits[i] >= trace->event_count)
            return false;
    return deadlock == (finding->wait_count > 0) && finding->second < trace->event_count;
}

mr_judgement mr_check_finding(const mr_trace *trace, const char *model,
                              const mr_finding_info *finding, mr_failure *failure)
{
    mr_error error = {0};
    mr_witness witness = {.kind = kind_of(finding->kind),
                          .first = finding->first,
                          .second = finding->second,
                          .freed = finding->freed,
                          .waits = (uint32_t *)finding->waits, /* the checker only reads them */
                          .wait_count = finding->wait_count,
                          .window_start = finding->window_start,
                          .window_end = finding->window_end,
                          .events = (uint32_t *)finding->witness,
                          .event_count = finding->witness_count};
    if (!find_model(model, &witness.model, &error))
        return not_judged(failure, &error);
    if (witness.kind == MR_WITNESS_KINDS || !has_events(trace, finding)) {
        mr_error_set(&error, MR_ERR_USAGE, NULL, 0,
                     witness.kind == MR_WITNESS_KINDS ? "there is no such kind of finding"
                                                      : "the trace has no such events");
        return not_judged(failure, &error);
    }
    return judge(trace, &witness, failure);
}

mr_judgement mr_check_witness_file(const mr_trace *trace, const char *model, const char *path,
                                   mr_failure *failure)
{
    mr_error error = {0};
    mr_witness witness = {0};
    mr_model chosen = MR_MODEL_VALUE;
    if (model != NULL && !find_model(model, &chosen, &error))
        return not_judged(failure, &error);
    if (mr_witness_read(path, trace, chosen, model != NULL, &witness, &error) != MR_OK)
        return not_judged(failure, &error);
    mr_judgement judgement = judge(trace, &witness, failure);
    mr_witness_free(&witness);
    return judgement;
}
