/*
 * predict_json: the result of a prediction for programs (docs/report-format.md). The outermost
 * object is written by hand and each part of it by jansson, some races at a time, so that memory does
 * not grow with the number of races.
 */
#include "blocks.h"
#include "context.h"
#include "findings.h"
#include "json_items.h"
#include "listing/baseline.h"
#include "listing/listing.h"
#include "predict_report.h"
#include "witness/pack.h"

#include <errno.h>

typedef struct writer {
    FILE *stream;
    const mr_trace *trace;
    const mr_result *result;
    const mr_listing *findings;
    mr_context context;
    mr_error *error;
} writer;

/* The access of a pair with its value. */
static mr_json access_object(const mr_trace *trace, uint32_t event, uint32_t other)
{
    mr_json self = mr_json_event(trace, event, other);
    mr_json_put_value(&self, trace, event);
    return self;
}

static mr_json trace_object(const mr_trace *trace)
{
    mr_json self = mr_json_trace(trace);
    mr_json_put_number(&self, "by_source_variables", trace->by_source_count);
    return self;
}

static mr_json race_object(const writer *self, const mr_race *found)
{
    const mr_witness *witness = &found->witness;
    mr_json race = mr_json_new(),
            first = access_object(self->trace, witness->first, witness->second),
            second = access_object(self->trace, witness->second, witness->first);
    mr_context_put(&self->context, &first, witness->first);
    mr_context_put(&self->context, &second, witness->second);
    if (witness->kind != MR_WITNESS_RACE)
        mr_json_put_text(&race, "kind", mr_witness_kind_name(witness->kind));
    mr_json_put_object(&race, "first", first);
    mr_json_put_object(&race, "second", second);
    mr_block_put(&self->context, self->trace, &race, witness->first);
    mr_json_put_text(&race, "order", mr_strength_name(found->strength));
    mr_json_put_text(&race, "confirmed_by", mr_step_name(found->confirmed_by));
    mr_json_put_confirmed(&race, found->confirmed, found->effect);
    mr_json_put_unseen(&race, &self->trace->ending);
    mr_json_put_window(&race, witness->window_start, witness->window_end);
    mr_witness room;
    const mr_witness *open = mr_witness_open(self->trace, witness, &room);
    if (open != NULL)
        mr_json_put_events(&race, "witness", open);
    else
        race.ok = false;
    mr_witness_free(&room);
    mr_json_put_listed(&race, self->findings->of_race[found - self->result->races], self->findings);
    return race;
}

static mr_json unknown_object(const mr_trace *trace, const mr_unknown *unknown)
{
    mr_json self = mr_json_new();
    mr_json_put_object(&self, "first", access_object(trace, unknown->first, unknown->second));
    mr_json_put_object(&self, "second", access_object(trace, unknown->second, unknown->first));
    mr_json_put_text(&self, "order", mr_strength_name(unknown->strength));
    mr_json_put_text(&self, "reason", mr_unknown_reason_name(unknown->reason));
    mr_json_put_text(&self, "detail", unknown->detail);
    mr_json_put_window(&self, unknown->window_start, unknown->window_end);
    return self;
}

static mr_json steps_object(const uint64_t counts[MR_STEP_COUNT])
{
    mr_json self = mr_json_new();
    for (int step = 0; step < MR_STEP_COUNT; step++)
        mr_json_put_number(&self, mr_step_name((mr_step)step), counts[step]);
    return self;
}

static mr_json step_seconds_object(const double seconds[MR_STEP_COUNT])
{
    mr_json self = mr_json_new();
    for (int step = 0; step < MR_STEP_COUNT; step++)
        mr_json_put_seconds(&self, mr_step_name((mr_step)step), seconds[step]);
    return self;
}

static mr_json seconds_object(const mr_run_figures *run)
{
    mr_json self = mr_json_new();
    mr_json_put_seconds(&self, "read", run->read_seconds);
    mr_json_put_seconds(&self, "order", run->order_seconds);
    mr_json_put_seconds(&self, "window", run->window_seconds);
    mr_json_put_seconds(&self, "decide", run->decide_seconds);
    mr_json_put_seconds(&self, "solver", run->solver_seconds);
    mr_json_put_seconds(&self, "far", run->far_seconds);
    mr_json_put_seconds(&self, "witness", run->witness_seconds);
    mr_json_put_seconds(&self, "total", run->total_seconds);
    return self;
}

static mr_json far_object(const mr_stats *stats)
{
    mr_json self = mr_json_new();
    mr_json_put_number(&self, "pairs", stats->far_pairs);
    mr_json_put_number(&self, "no_race", stats->far_no_race);
    mr_json_put_number(&self, "unknown", stats->far_unknown);
    mr_json_put_number(&self, "in_parts", stats->far_parts);
    mr_json_put_number(&self, "windows", stats->far_windows);
    mr_json_put_number(&self, "events", stats->far_events);
    return self;
}

/* Why the result is not complete, and what is missing. */
static mr_json incomplete_object(const mr_stats *stats)
{
    mr_json self = mr_json_new();
    mr_json_put_text(&self, "ended_by", mr_halt_reason_name(stats->halted));
    mr_json_put_number(&self, "windows_missing", stats->windows_missing);
    mr_json_put(&self, "far_missing", json_boolean(stats->far_missing));
    if (stats->findings_missing)
        mr_json_put(&self, "findings_missing", json_true());
    return self;
}

static mr_json units_object(const mr_run_figures *run)
{
    mr_json self = mr_json_new();
    mr_json_put_number(&self, "decided", run->units_decided);
    mr_json_put_number(&self, "saved", run->units_saved);
    mr_json_put_number(&self, "again", run->windows_again);
    return self;
}

static mr_json stats_object(const mr_result *result)
{
    const mr_stats *stats = &result->stats;
    mr_json self = mr_json_new(), unknown = mr_json_new();
    mr_json_put_number(&self, "windows", stats->windows);
    mr_json_put_number(&self, "windows_stopped", stats->windows_stopped);
    mr_json_put_number(&self, "candidates", stats->candidates);
    mr_json_put_object(&self, "settled", steps_object(stats->settled));
    mr_json_put_object(&self, "races", steps_object(stats->races));
    for (int reason = 0; reason < MR_UNKNOWN_COUNT; reason++)
        mr_json_put_number(&unknown, mr_unknown_reason_name((mr_unknown_reason)reason),
                           stats->unknown[reason]);
    mr_json_put_object(&self, "unknown", unknown);
    mr_json_put_object(&self, "far", far_object(stats));
    mr_json_put_number(&self, "rejected_witnesses", stats->rejected_witnesses);
    mr_json_put_number(&self, "static_races", stats->static_races);
    if (stats->memory_order_races > 0)
        mr_json_put_number(&self, "memory_order_races", stats->memory_order_races);
    mr_findings_put_stats(&self, result);
    if (stats->incomplete)
        mr_json_put_object(&self, "incomplete", incomplete_object(stats));
    return self;
}

/* The work of each worker. */
static json_t *workers_array(const mr_run_figures *run, bool *ok)
{
    json_t *self = json_array();
    for (size_t i = 0; i < run->share_count; i++) {
        const mr_share *share = &run->shares[i];
        mr_json worker = mr_json_new();
        mr_json_put_number(&worker, "rank", share->rank);
        mr_json_put_number(&worker, "worker", share->worker);
        mr_json_put_number(&worker, "units", share->units);
        mr_json_put_seconds(&worker, "seconds", share->seconds);
        *ok &= worker.ok && json_array_append_new(self, worker.json) == 0;
    }
    return self;
}

static mr_json run_object(const mr_run_figures *run, const mr_config *config)
{
    mr_json self = mr_json_new();
    mr_json_put_object(&self, "seconds", seconds_object(run));
    mr_json_put_object(&self, "step_seconds", step_seconds_object(run->step_seconds));
    mr_json_put_number(&self, "peak_memory_bytes", run->peak_memory_bytes);
    mr_json_put_object(&self, "units", units_object(run));
    mr_json_put_number(&self, "queries_stopped_by_time", run->queries_stopped_by_time);
    mr_json_put_number(&self, "queries_stopped_by_memory", run->queries_stopped_by_memory);
    mr_json_put(&self, "workers", workers_array(run, &self.ok));
    mr_json_put_object(&self, "config", mr_json_config(config, true));
    return self;
}

/* mr_json_items.make: the race, when it is in the list of findings. */
static mr_json listed_race(const void *context, size_t index)
{
    const writer *self = context;
    return self->findings->of_race[index] ? race_object(self, &self->result->races[index])
                                          : (mr_json){NULL, true};
}

static mr_status dump_races(const writer *self, const mr_config *config)
{
    const mr_json_items races = {
        .count = self->result->race_count, .make = listed_race, .context = self};
    fputs("\"races\":[", self->stream);
    mr_status status = mr_json_items_dump(self->stream, &races, config, self->error);
    fputs("],\n", self->stream);
    return status;
}

static mr_status dump_unknowns(const writer *self)
{
    mr_status status = MR_OK;
    fputs("\"unknown\":[", self->stream);
    for (size_t i = 0; i < self->result->unknown_count && status == MR_OK; i++) {
        fputs(i > 0 ? ",\n" : "\n", self->stream);
        status = mr_json_dump(self->stream, unknown_object(self->trace, &self->result->unknowns[i]),
                              self->error);
    }
    for (size_t i = 0; i < self->result->finding_unknown_count && status == MR_OK; i++) {
        fputs(i + self->result->unknown_count > 0 ? ",\n" : "\n", self->stream);
        status =
            mr_json_dump(self->stream,
                         mr_finding_unknown_object(self->trace, &self->result->finding_unknowns[i]),
                         self->error);
    }
    fputs("],\n", self->stream);
    return status;
}

/* The suppressions with what each of them has matched. The program's own have no line. */
static mr_json suppressed_object(const mr_listing *findings)
{
    mr_json self = mr_json_new();
    json_t *rules = json_array();
    mr_json_put_number(&self, "findings", findings->suppressed_count);
    for (size_t i = 0; i < findings->suppressions.count; i++) {
        const mr_suppression *rule = &findings->suppressions.items[i];
        mr_json object = mr_json_new();
        if (rule->line > 0)
            mr_json_put_number(&object, "line", rule->line);
        mr_json_put_text(&object, "type", mr_rule_word(rule->type));
        mr_json_put_text(&object, "pattern", rule->pattern);
        mr_json_put_number(&object, "findings", rule->count);
        self.ok = object.ok && self.ok;
        self.ok = json_array_append_new(rules, object.json) == 0 && self.ok;
    }
    mr_json_put(&self, "rules", rules);
    return self;
}

/* The members up to the statistics. */
static mr_status dump_first(const writer *self, const mr_config *config)
{
    FILE *stream = self->stream;
    mr_error *error = self->error;
    fputs("{", stream);
    mr_status status = mr_json_dump_member(stream, "tool", mr_json_tool(), error);
    if (status == MR_OK)
        status = mr_json_dump_member(stream, "trace", trace_object(self->trace), error);
    if (status == MR_OK)
        status = mr_json_dump_member(stream, "config", mr_json_config(config, false), error);
    if (status == MR_OK)
        status = mr_observed_dump(&self->context, self->trace, &self->findings->observed,
                                  self->findings, stream, self->error);
    if (status == MR_OK)
        status = dump_races(self, config);
    if (status == MR_OK)
        status = mr_findings_dump(&self->context, self->trace, config, self->result, self->findings,
                                  stream, self->error);
    if (status == MR_OK)
        status = mr_cycle_notes_dump(self->trace, config, self->result, stream, self->error);
    if (status == MR_OK)
        status = dump_unknowns(self);
    if (status == MR_OK && self->findings->suppressions.count > 0)
        status =
            mr_json_dump_member(stream, "suppressed", suppressed_object(self->findings), error);
    return status;
}

mr_status mr_predict_report_json(FILE *stream, const mr_trace *trace, const mr_config *config,
                                 const mr_result *result, mr_error *error)
{
    mr_listing findings;
    writer self = {
        .stream = stream, .trace = trace, .result = result, .findings = &findings, .error = error};
    mr_status status = mr_listing_make(&findings, trace, config, result, error);
    if (status == MR_OK && !mr_context_init(&self.context, trace, result))
        status = mr_error_memory(error, "writing the report");
    errno = 0;
    if (status == MR_OK)
        status = dump_first(&self, config);
    mr_context_free(&self.context);
    mr_listing_free(&findings);
    if (status != MR_OK)
        return status;
    if (!mr_config_bool(config, "report.run"))
        return mr_json_dump_last(stream, "stats", stats_object(result), error);
    status = mr_json_dump_member(stream, "stats", stats_object(result), error);
    if (status != MR_OK)
        return status;
    return mr_json_dump_last(stream, "run", run_object(&result->run, config), error);
}
