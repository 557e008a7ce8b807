/*
 * perfetto: the witnesses of a prediction for the trace viewers ui.perfetto.dev and chrome://tracing, in
 * their JSON format of trace events. Each finding is two processes, the recorded order and the witness,
 * with a track for each thread. An event is a slice of a microsecond; the time is its position in the
 * order. A critical section is a slice of a track of its own; arrows (flows) lead from a write to the
 * reads that see it.
 */
#include "json_object.h"
#include "predict_report.h"
#include "steps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { MOST_EVENTS = 100000, TICK = 10 };

typedef struct writer {
    FILE *stream;
    const mr_trace *trace;
    const mr_listing *findings;
    mr_error *error;
    uint64_t process, flow;
    bool begun;
    size_t *position; /* of an event in the list, + 1; scratch, zero between lists */
} writer;

static mr_status put_event(writer *self, mr_json event)
{
    fputs(self->begun ? ",\n" : "\n", self->stream);
    self->begun = true;
    return mr_json_dump(self->stream, event, self->error);
}

/* An event of the format; all have these members. */
static mr_json new_event(const writer *self, const char *phase, const char *name, uint32_t thread,
                         uint64_t time)
{
    mr_json event = mr_json_new();
    mr_json_put_text(&event, "ph", phase);
    mr_json_put_text(&event, "name", name);
    mr_json_put_number(&event, "pid", self->process);
    mr_json_put_number(&event, "tid", thread + 1ull);
    mr_json_put_number(&event, "ts", time);
    return event;
}

static mr_status name_track(writer *self, const char *what, uint32_t thread, const char *name)
{
    mr_json event = new_event(self, "M", what, thread, 0), arguments = mr_json_new();
    mr_json_put_text(&arguments, "name", name);
    mr_json_put_object(&event, "args", arguments);
    return put_event(self, event);
}

static mr_status put_slice(writer *self, const mr_step_list *list, size_t index, bool racing)
{
    const mr_trace *trace = self->trace;
    uint32_t event = list->events[index];
    char op[512];
    mr_trace_print_op(trace, event, true, op, sizeof op);
    mr_json slice = new_event(self, "X", op, trace->thread[event], index * TICK),
            arguments = mr_json_new();
    mr_json_put_number(&slice, "dur", TICK - 2);
    mr_json_put_text(&slice, "cat", racing ? "race" : "event");
    if (racing)
        mr_json_put_text(&slice, "cname", "terrible");
    mr_json_put_number(&arguments, "event", event);
    mr_json_put_text(&arguments, "place",
                     mr_names_display(&trace->locations, trace->location[event]));
    mr_json_put_object(&slice, "args", arguments);
    return put_event(self, slice);
}

/* The section that the acquire opens, up to its release or the end of the list. */
static mr_status put_section(writer *self, const mr_step_list *list, size_t index)
{
    const mr_trace *trace = self->trace;
    uint32_t event = list->events[index], release = trace->link[event];
    if (!mr_op_acquires(trace->op[event]) || release == MR_NESTED)
        return MR_OK;
    size_t end = release != MR_NONE && self->position[release] > index ? self->position[release]
                                                                       : list->count;
    mr_status status = MR_OK;
    for (int side = 0; side < 2 && status == MR_OK; side++) {
        mr_json part = new_event(self, side == 0 ? "b" : "e",
                                 mr_names_display(&trace->locks, trace->operand[event]),
                                 trace->thread[event], side == 0 ? index * TICK : end * TICK - 2);
        mr_json_put_text(&part, "cat", "section");
        mr_json_put_number(&part, "id", event);
        status = put_event(self, part);
    }
    return status;
}

static mr_status put_arrow(writer *self, const mr_step_list *list, size_t index)
{
    const mr_trace *trace = self->trace;
    uint32_t seen = list->seen[index];
    if (seen == MR_NONE || self->position[seen] == 0)
        return MR_OK;
    const size_t at[] = {self->position[seen] - 1, index};
    mr_status status = MR_OK;
    self->flow++;
    for (int side = 0; side < 2 && status == MR_OK; side++) {
        mr_json part = new_event(self, side == 0 ? "s" : "f", "reads from",
                                 trace->thread[list->events[at[side]]], at[side] * TICK + 1);
        mr_json_put_text(&part, "cat", "reads-from");
        mr_json_put_number(&part, "id", self->flow);
        if (side == 1)
            mr_json_put_text(&part, "bp", "e");
        status = put_event(self, part);
    }
    return status;
}

static mr_status put_side(writer *self, const mr_listed *finding, const mr_step_list *list,
                          const char *title, const char *side)
{
    char name[700];
    const mr_trace *trace = self->trace;
    self->process++;
    snprintf(name, sizeof name, "%zu %s: %s", finding->number, side, title);
    bool *named = mr_calloc(trace->threads.count + 1ull, sizeof *named);
    if (!named)
        return mr_error_memory(self->error, "writing the report");
    for (size_t i = 0; i < list->count; i++)
        self->position[list->events[i]] = i + 1;
    mr_status status = name_track(self, "process_name", 0, name);
    for (size_t i = 0; i < list->count && status == MR_OK; i++) {
        uint32_t event = list->events[i], thread = trace->thread[event];
        if (!named[thread])
            status =
                name_track(self, "thread_name", thread, mr_names_display(&trace->threads, thread));
        named[thread] = true;
        if (status == MR_OK)
            status = put_slice(self, list, i, event == finding->first || event == finding->second);
        if (status == MR_OK)
            status = put_section(self, list, i);
        if (status == MR_OK)
            status = put_arrow(self, list, i);
    }
    for (size_t i = 0; i < list->count; i++)
        self->position[list->events[i]] = 0;
    free(named);
    return status;
}

static mr_status put_finding(writer *self, const mr_listed *finding, mr_sees *sees)
{
    mr_steps steps;
    char *title = mr_listed_title(finding, self->findings, self->trace);
    mr_status status = MR_OK;
    if (!mr_steps_make(&steps, finding, self->trace, sees, MOST_EVENTS) || !title)
        status = mr_error_memory(self->error, "writing the report");
    if (status == MR_OK)
        status = put_side(self, finding, &steps.observed, title, "observed");
    if (status == MR_OK && steps.witness.count > 0)
        status = put_side(self, finding, &steps.witness, title, "witness");
    mr_steps_free(&steps);
    free(title);
    return status;
}

static mr_status put_all(writer *self, const mr_config *config)
{
    const mr_listing *findings = self->findings;
    size_t most = (size_t)mr_config_int(config, "report.pictures");
    mr_sees sees;
    bool ok = mr_sees_init(&sees, self->trace);
    self->position = mr_calloc(self->trace->event_count + 1ull, sizeof *self->position);
    mr_status status =
        ok && self->position ? MR_OK : mr_error_memory(self->error, "writing the report");
    for (size_t i = 0; i < findings->group_count && i < most && status == MR_OK; i++)
        status = put_finding(self, &findings->items[findings->groups[i].first], &sees);
    free(self->position);
    mr_sees_free(&sees);
    return status;
}

mr_status mr_predict_report_perfetto(FILE *stream, const mr_trace *trace, const mr_config *config,
                                     const mr_result *result, mr_error *error)
{
    mr_listing findings;
    writer self = {.stream = stream, .trace = trace, .findings = &findings, .error = error};
    mr_status status = mr_listing_make(&findings, trace, config, result, error);
    errno = 0;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", stream);
    if (status == MR_OK)
        status = put_all(&self, config);
    mr_listing_free(&findings);
    fputs("]}\n", stream);
    return mr_report_finish(stream, config, status, error);
}
