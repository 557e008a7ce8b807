#include "api.h"
#include "base/memory.h"
#include "report/order_report.h"
#include "sweep/sweep.h"

#include <errno.h>
#include <stdlib.h>

struct mr_order_report {
    mr_config *config; /* owned: the values in force */
    mr_sweep sweep;
};

/* NULL: no memory. */
static mr_order_report *report_new(const mr_config *config)
{
    mr_order_report *self = mr_calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->config = config != NULL ? mr_config_clone(config) : mr_config_new();
    if (self->config != NULL)
        return self;
    free(self);
    return NULL;
}

/* Runs the order on the trace, or on the file when the trace is NULL. */
static bool run(const mr_trace *trace, const char *path, const mr_config *config,
                mr_order_report **report, mr_failure *failure)
{
    mr_error error = {0};
    mr_order_report *self = *report = report_new(config);
    if (self == NULL)
        return mr_failure_set(failure, mr_error_memory(&error, "starting an order"), &error);
    mr_status status =
        trace != NULL ? mr_sweep_run_trace(&self->sweep, trace, self->config, NULL, NULL, &error)
                      : mr_sweep_run(&self->sweep, path, self->config, NULL, NULL, &error);
    if (self->sweep.names == NULL || self->sweep.result.races == NULL) {
        mr_order_report_free(self);
        *report = NULL;
    }
    return mr_failure_set(failure, status, &error);
}

bool mr_order_report_run(const mr_trace *trace, const mr_config *config, mr_order_report **report,
                         mr_failure *failure)
{
    return run(trace, NULL, config, report, failure);
}

bool mr_order_report_run_file(const char *path, const mr_config *config, mr_order_report **report,
                              mr_failure *failure)
{
    return run(NULL, path, config, report, failure);
}

void mr_order_report_free(mr_order_report *report)
{
    if (report == NULL)
        return;
    mr_sweep_free(&report->sweep);
    mr_config_free(report->config);
    free(report);
}

void mr_order_report_get_counts(const mr_order_report *report, mr_order_counts *counts)
{
    const mr_order_result *result = &report->sweep.result;
    *counts = (mr_order_counts){
        .relation = mr_relation_name(result->relation),
        .sound = mr_relation_sound(result->relation),
        .complete = result->complete,
        .events = result->halted != MR_HALT_NONE && !result->complete
                      ? result->list.seen_events
                      : report->sweep.names->event_count,
        .racy_events = result->list.racy_event_count,
        .racy_locations = result->list.racy_location_count,
        .racy_variables = result->list.racy_variable_count,
        .static_races = result->list.race_count,
        .proven = (size_t)(result->counts[MR_STANDING_RACE] + result->counts[MR_STANDING_SOUND]),
        .candidates = (size_t)result->counts[MR_STANDING_CANDIDATE],
    };
}

void mr_order_report_get_race(const mr_order_report *report, size_t index, mr_order_race_info *race)
{
    const mr_order_race *known = &report->sweep.result.races[index];
    const mr_witness *witness = &known->witness;
    *race = (mr_order_race_info){
        .status = mr_standing_name(known->standing),
        .proved_by = mr_proof_name(known->proof),
        .example_count = report->sweep.result.list.races[index].example_count,
        .has_witness = known->standing == MR_STANDING_RACE,
        .witness = {.order = "", .confirmed_by = ""},
    };
    if (!race->has_witness)
        return;
    race->witness.first = witness->first;
    race->witness.second = witness->second;
    race->witness.window_start = witness->window_start;
    race->witness.window_end = witness->window_end;
    race->witness.witness = witness->events;
    race->witness.witness_count = witness->event_count;
}

/* Describes an access of the race list. Its event is not there any more when it came from a stream.
 */
static void describe(const mr_trace *names, const mr_racing_access *access, uint32_t variable,
                     mr_event *event)
{
    *event = (mr_event){.number = access->event,
                        .line = mr_trace_line(names, access->event),
                        .operation = mr_op_name((mr_op)access->op)};
    mr_api_name(&names->threads, access->thread, &event->thread, &event->thread_text);
    mr_api_name(&names->variables, variable, &event->operand, &event->operand_text);
    mr_api_name(&names->locations, access->location, &event->location, &event->location_text);
}

void mr_order_report_get_example(const mr_order_report *report, size_t index, size_t example,
                                 mr_event *first, mr_event *second)
{
    const mr_race_list *list = &report->sweep.result.list;
    uint32_t number = list->races[index].first_example;
    for (; example > 0; example--)
        number = list->examples[number].next;
    const mr_race_example *pair = &list->examples[number];
    describe(report->sweep.names, &pair->first, pair->variable, first);
    describe(report->sweep.names, &pair->second, pair->variable, second);
}

bool mr_order_report_write_text(const mr_order_report *report, FILE *stream, mr_failure *failure)
{
    errno = 0;
    mr_error error;
    bool ok = mr_order_report_text(stream, report->sweep.names, report->config,
                                   &report->sweep.result, &error) == MR_OK;
    return mr_api_written(ok, "writing the report", failure);
}

bool mr_order_report_write_json(const mr_order_report *report, FILE *stream, mr_failure *failure)
{
    mr_error error = {0};
    mr_status status = mr_order_report_json(stream, report->sweep.names, report->config,
                                            &report->sweep.result, &error);
    return mr_failure_set(failure, status, &error);
}
