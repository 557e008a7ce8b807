/* order_json: the races of a whole-trace order for programs. One static race at a time, so that
 * memory does not grow with their number. */
#include "blocks.h"
#include "json_object.h"
#include "order_report.h"

#include <errno.h>

typedef struct writer {
    FILE *stream;
    const mr_trace *trace;
    const mr_order_result *result;
    mr_error *error;
} writer;

static mr_json order_object(const mr_order_result *result)
{
    mr_json self = mr_json_new(), counts = mr_json_new();
    mr_json_put_text(&self, "relation", mr_relation_name(result->relation));
    mr_json_put(&self, "sound", json_boolean(mr_relation_sound(result->relation)));
    mr_json_put(&self, "complete", json_boolean(result->complete));
    if (result->halted != MR_HALT_NONE) {
        mr_json_put_text(&self, "ended_by", mr_halt_reason_name(result->halted));
        mr_json_put_number(&self, "seen_events", result->list.seen_events);
    }
    if (result->is_long)
        mr_json_put(&self, "too_long_for_proofs", json_true());
    mr_json_put_number(&self, "racy_events", result->list.racy_event_count);
    mr_json_put_number(&self, "racy_locations", result->list.racy_location_count);
    mr_json_put_number(&self, "racy_variables", result->list.racy_variable_count);
    mr_json_put_number(&self, "static_races", result->list.race_count);
    for (int i = 0; i < MR_STANDING_COUNT; i++)
        mr_json_put_number(&counts, mr_standing_name((mr_standing)i), result->counts[i]);
    mr_json_put_object(&self, "status", counts);
    if (result->recorded_only)
        mr_json_put_text(&self, "covers", "recorded order");
    if (result->observed_untold)
        mr_json_put(&self, "observed_untold", json_true());
    return self;
}

static mr_json access_object(const mr_trace *trace, const mr_racing_access *access,
                             uint32_t variable)
{
    mr_access fields = {.event = access->event,
                        .thread = access->thread,
                        .location = access->location,
                        .variable = variable,
                        .op = access->op};
    return mr_json_access(trace, fields, mr_trace_object(trace, variable)); /* of a free */
}

static void put_examples(const writer *self, mr_json *object, const mr_static_race *race)
{
    const mr_race_list *list = &self->result->list;
    json_t *array = json_array();
    for (uint32_t i = race->first_example; i != UINT32_MAX && object->ok;
         i = list->examples[i].next) {
        const mr_race_example *example = &list->examples[i];
        mr_json pair = mr_json_new();
        mr_json_put_object(&pair, "first",
                           access_object(self->trace, &example->first, example->variable));
        mr_json_put_object(&pair, "second",
                           access_object(self->trace, &example->second, example->variable));
        object->ok = pair.ok;
        if (json_array_append_new(array, pair.json) != 0)
            object->ok = false;
    }
    mr_json_put(object, "examples", array);
}

static mr_json witness_object(const mr_witness *witness)
{
    mr_json self = mr_json_new();
    mr_json_put_number(&self, "first", witness->first);
    mr_json_put_number(&self, "second", witness->second);
    mr_json_put_text(&self, "model", mr_model_name(witness->model));
    mr_json_put_window(&self, witness->window_start, witness->window_end);
    mr_json_put_events(&self, "events", witness);
    return self;
}

static mr_json race_object(const writer *self, size_t index)
{
    const mr_order_race *known = &self->result->races[index];
    mr_json object = mr_json_new();
    mr_json_put_text(&object, "status", mr_standing_name(known->standing));
    if (known->proof != MR_PROOF_NONE)
        mr_json_put_text(&object, "proved_by", mr_proof_name(known->proof));
    put_examples(self, &object, &self->result->list.races[index]);
    mr_json_put_unseen(&object, &self->trace->ending);
    if (known->standing == MR_STANDING_RACE)
        mr_json_put_object(&object, "witness", witness_object(&known->witness));
    if (known->standing == MR_STANDING_UNKNOWN) {
        mr_json_put_text(&object, "reason", mr_unknown_reason_name(known->reason));
        mr_json_put_text(&object, "detail", known->detail);
    }
    if (known->standing == MR_STANDING_UNKNOWN || known->standing == MR_STANDING_NO_RACE)
        mr_json_put_window(&object, known->window_start, known->window_end);
    return object;
}

static mr_json stats_object(const mr_order_stats *stats)
{
    mr_json self = mr_json_new();
    mr_json_put_number(&self, "rejected_witnesses", stats->rejected_witnesses);
    return self;
}

static mr_json run_object(const mr_order_stats *stats, const mr_config *config)
{
    mr_json self = mr_json_new(), seconds = mr_json_new();
    mr_json_put_seconds(&seconds, "read", stats->read_seconds);
    mr_json_put_seconds(&seconds, "order", stats->find_seconds);
    mr_json_put_seconds(&seconds, "load", stats->load_seconds);
    mr_json_put_seconds(&seconds, "mark", stats->mark_seconds);
    mr_json_put_seconds(&seconds, "confirm", stats->confirm_seconds);
    mr_json_put_seconds(&seconds, "total", stats->total_seconds);
    mr_json_put_object(&self, "seconds", seconds);
    mr_json_put_number(&self, "peak_memory_bytes", stats->peak_memory_bytes);
    mr_json_put_number(&self, "queries_stopped_by_time", stats->queries_stopped_by_time);
    mr_json_put_number(&self, "queries_stopped_by_memory", stats->queries_stopped_by_memory);
    mr_json_put_object(&self, "config", mr_json_config(config, true));
    return self;
}

static mr_status dump_races(const writer *self)
{
    mr_status status = MR_OK;
    fputs("\"races\":[", self->stream);
    for (size_t i = 0; i < self->result->list.race_count && status == MR_OK; i++) {
        fputs(i > 0 ? ",\n" : "\n", self->stream);
        status = mr_json_dump(self->stream, race_object(self, i), self->error);
    }
    fputs("],\n", self->stream);
    return status;
}

/* As in the report for people. */
static mr_status dump_observed(const writer *self)
{
    static const mr_result no_races;
    mr_context context;
    if (self->result->observed.count == 0)
        return MR_OK;
    mr_status status = mr_context_init(&context, self->trace, &no_races)
                           ? mr_observed_dump(&context, self->trace, &self->result->observed, NULL,
                                              self->stream, self->error)
                           : mr_error_memory(self->error, "writing the report");
    mr_context_free(&context);
    return status;
}

mr_status mr_order_report_json(FILE *stream, const mr_trace *trace, const mr_config *config,
                               const mr_order_result *result, mr_error *error)
{
    writer self = {stream, trace, result, error};
    errno = 0;
    fputs("{", stream);
    mr_status status = mr_json_dump_member(stream, "tool", mr_json_tool(), error);
    if (status == MR_OK)
        status = mr_json_dump_member(stream, "trace", mr_json_trace(trace), error);
    if (status == MR_OK)
        status = mr_json_dump_member(stream, "config", mr_json_config(config, false), error);
    if (status == MR_OK)
        status = mr_json_dump_member(stream, "order", order_object(result), error);
    if (status == MR_OK)
        status = dump_observed(&self);
    if (status == MR_OK)
        status = dump_races(&self);
    if (status != MR_OK)
        return status;
    if (!mr_config_bool(config, "report.run"))
        return mr_json_dump_last(stream, "stats", stats_object(&result->stats), error);
    status = mr_json_dump_member(stream, "stats", stats_object(&result->stats), error);
    if (status != MR_OK)
        return status;
    return mr_json_dump_last(stream, "run", run_object(&result->stats, config), error);
}
