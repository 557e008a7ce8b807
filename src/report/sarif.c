/*
 * sarif: the findings of a prediction as SARIF 2.1.0 (OASIS), for code scanning.
 *
 * Each group of findings (listing/listing.h) is a result. Its worst finding is told, and occurrenceCount is
 * the number of its findings. With report.shown 0 each finding is a result, and no group is left out. The
 * place is that of the first access. Related locations are the second one, the starts of both threads, where the
 * memory was allocated and freed, and the other findings of the group. The witness is a code flow
 * with a thread flow for each thread, and executionOrder over all of them. Of a longer witness than
 * MOST_STEPS locations the middle is left out, as readers of SARIF take no more than 1,000.
 */
#include "base/memory.h"
#include "escape.h"
#include "json_items.h"
#include "listing/baseline.h"
#include "predict_report.h"
#include "runs_report.h"
#include "trace/stacks.h"
#include "witness/pack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 998, FIRST_STEPS = 100, ACCESSES = 2, MOST_ALIKE = 8 };

typedef struct writer {
    FILE *stream;
    const mr_trace *trace;
    const mr_config *config;
    const mr_result *result;
    const mr_listing *findings;
    mr_listed_group *groups; /* one for each result */
    size_t group_count;
    bool all; /* each finding is a result */
} writer;

/* ---- small objects ---- */

static mr_json message(const char *text)
{
    mr_json self = mr_json_new();
    mr_json_put_text(&self, "text", text);
    return self;
}

/* A path as a URI: what may not stand in one is written %NN. */
static void put_uri(mr_json *self, const char *path, size_t length)
{
    static const char plain[] = "-._~/!$&'()*+,;=@", digits[] = "0123456789ABCDEF";
    char uri[3 * 1024 + 16] = "";
    size_t used = 0;
    if (length > 0 && path[0] == '/')
        used = (size_t)snprintf(uri, sizeof uri, "file://");
    for (size_t i = 0; i < length && used + 4 < sizeof uri; i++) {
        unsigned char c = (unsigned char)path[i];
        bool keep = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                    (c != '\0' && strchr(plain, c) != NULL);
        if (keep) {
            uri[used++] = (char)c;
            continue;
        }
        uri[used++] = '%';
        uri[used++] = digits[c >> 4];
        uri[used++] = digits[c & 15];
    }
    uri[used] = '\0';
    mr_json_put_text(self, "uri", uri);
}

static mr_json physical(mr_place place)
{
    mr_json self = mr_json_new(), artifact = mr_json_new(), region = mr_json_new();
    put_uri(&artifact, place.file, place.file_length);
    mr_json_put_number(&region, "startLine", place.line);
    if (place.column > 0)
        mr_json_put_number(&region, "startColumn", place.column);
    mr_json_put_object(&self, "artifactLocation", artifact);
    mr_json_put_object(&self, "region", region);
    return self;
}

/* A location object of a place and a function; each may be empty. */
static mr_json location(const char *place, size_t length, const char *function, const char *text)
{
    mr_json self = mr_json_new();
    mr_place parsed = mr_place_parse(place, length);
    if (parsed.line > 0)
        mr_json_put_object(&self, "physicalLocation", physical(parsed));
    if (function[0] != '\0') {
        json_t *array = json_array();
        mr_json logical = mr_json_new();
        mr_json_put_text(&logical, "name", function);
        mr_json_put_text(&logical, "kind", "function");
        mr_json_append(&self, array, logical);
        mr_json_put(&self, "logicalLocations", array);
    }
    if (text[0] != '\0')
        mr_json_put_object(&self, "message", message(text));
    return self;
}

static mr_json event_location(const mr_trace *trace, uint32_t event, const char *text)
{
    const char *place = mr_names_display(&trace->locations, trace->location[event]);
    char *function = mr_event_function(trace, event);
    mr_json self = location(place, strlen(place), function ? function : "", text);
    self.ok = self.ok && function != NULL;
    free(function);
    return self;
}

/* ---- the parts of a result ---- */

/* "write of q.tail by producer, event 13" */
static void describe(const mr_trace *trace, uint32_t event, char *text, size_t size)
{
    char op[512];
    mr_trace_print_op(trace, event, true, op, sizeof op);
    snprintf(text, size, "%s by %s, event %" PRIu32, op,
             mr_names_display(&trace->threads, trace->thread[event]), event);
}

static mr_json stack_object(const mr_trace *trace, uint32_t event)
{
    mr_json self = mr_json_new();
    json_t *frames = json_array();
    char text[700];
    describe(trace, event, text, sizeof text);
    mr_json_put_object(&self, "message", message(text));
    for (uint32_t stack = mr_trace_stack(trace, event); stack;
         stack = trace->stacks[stack].caller) {
        mr_frame frame = mr_frame_of(&trace->frames.items[trace->stacks[stack].frame]);
        char *function = mr_strndup(frame.function, frame.function_length);
        mr_json object = mr_json_new();
        mr_json_put_object(&object, "location",
                           location(frame.place, frame.place_length, function ? function : "", ""));
        object.ok = object.ok && function != NULL;
        free(function);
        mr_json_append(&self, frames, object);
    }
    mr_json_put(&self, "frames", frames);
    return self;
}

static void put_stacks(mr_json *self, const mr_trace *trace, const mr_listed *finding)
{
    const uint32_t events[ACCESSES] = {finding->first, finding->second};
    json_t *stacks = json_array();
    for (int i = 0; i < ACCESSES; i++)
        if (events[i] != MR_NONE && mr_trace_stack(trace, events[i]))
            mr_json_append(self, stacks, stack_object(trace, events[i]));
    mr_json_put(self, "stacks", stacks);
}

static void add_related(mr_json *self, json_t *array, const mr_trace *trace, uint32_t event,
                        const char *what)
{
    char text[900], op[700];
    if (event == MR_NONE)
        return;
    describe(trace, event, op, sizeof op);
    snprintf(text, sizeof text, "%s: %s", what, op);
    mr_json object = event_location(trace, event, text);
    mr_json_put_number(&object, "id", json_array_size(array) + 1);
    mr_json_append(self, array, object);
}

static void put_related(mr_json *self, const mr_trace *trace, const mr_listed *finding,
                        size_t count)
{
    json_t *array = json_array();
    const uint32_t events[ACCESSES] = {finding->first, finding->second};
    uint32_t object = mr_observed_object(trace, finding->first);
    add_related(self, array, trace, finding->second, "the other access");
    if (object != MR_NONE) {
        add_related(self, array, trace, trace->object_info[object].alloc, "allocated here");
        add_related(self, array, trace, trace->object_info[object].free, "freed here");
    }
    for (int i = 0; i < ACCESSES; i++)
        if (events[i] != MR_NONE)
            add_related(self, array, trace, trace->thread_info[trace->thread[events[i]]].fork,
                        "thread started here");
    for (size_t i = 1; i < count && i <= MOST_ALIKE; i++) {
        add_related(self, array, trace, finding[i].first, "alike, the first access");
        add_related(self, array, trace, finding[i].second, "alike, the other access");
    }
    mr_json_put(self, "relatedLocations", array);
}

/* ---- the witness as a code flow ---- */

typedef struct flow {
    const mr_trace *trace;
    const mr_witness *witness;
    uint32_t marked; /* the event of the witness that the finding is about, or MR_NONE */
    json_t *threads; /* the thread flows */
    mr_json owner;   /* keeps failures */
} flow;

/* The array of locations of the thread, whose flow is made when it is not there. */
static json_t *locations_of(flow *self, uint32_t thread)
{
    const char *id = self->trace->threads.items[thread].text;
    size_t index;
    const json_t *known;
    char *escaped = mr_escape(id, false);
    json_t *found = NULL;
    json_array_foreach(self->threads, index, known)
    {
        const char *other = json_string_value(json_object_get(known, "id"));
        if (escaped && other && strcmp(other, escaped) == 0)
            found = json_object_get(known, "locations");
    }
    free(escaped);
    if (found)
        return found;
    mr_json made = mr_json_new();
    mr_json_put_text(&made, "id", id);
    mr_json_put_object(&made, "message", message(mr_names_display(&self->trace->threads, thread)));
    mr_json_put(&made, "locations", json_array());
    json_t *locations = json_object_get(made.json, "locations");
    mr_json_append(&self->owner, self->threads, made);
    return locations;
}

static void add_step(flow *self, uint32_t event, uint32_t order, const char *note)
{
    char text[900], op[700];
    bool racing = note[0] != '\0';
    mr_trace_print_op(self->trace, event, true, op, sizeof op);
    snprintf(text, sizeof text, "%s%s", op, note);
    mr_json step = mr_json_new();
    mr_json_put_object(&step, "location", event_location(self->trace, event, text));
    mr_json_put_number(&step, "executionOrder", order);
    mr_json_put_text(&step, "importance", racing ? "essential" : "important");
    json_t *locations = locations_of(self, self->trace->thread[event]);
    if (locations)
        mr_json_append(&self->owner, locations, step);
    else {
        json_decref(step.json);
        self->owner.ok = false;
    }
}

static void add_steps(flow *self)
{
    const mr_witness *witness = self->witness;
    uint32_t count = witness->event_count, left = count > MOST_STEPS ? count - MOST_STEPS : 0;
    for (uint32_t i = 0; i < count; i++)
        if (i < FIRST_STEPS || i >= FIRST_STEPS + left)
            add_step(self, witness->events[i], i + 1,
                     witness->events[i] == self->marked ? " (see below)" : "");
    uint32_t stops;
    const uint32_t *last = mr_witness_stops(witness, &stops);
    for (uint32_t i = 0; i < stops; i++)
        add_step(self, last[i], count + 1 + i, " is next");
}

static mr_json code_flow(const mr_trace *trace, const mr_witness *witness)
{
    char text[160];
    flow self = {trace, witness, witness->kind == MR_WITNESS_DEADLOCK ? MR_NONE : witness->first,
                 json_array(), mr_json_new()};
    uint32_t count = witness->event_count;
    snprintf(text, sizeof text,
             "an order of the recorded events that leads to it; %" PRIu32
             " events of it are left out",
             count > MOST_STEPS ? count - MOST_STEPS : 0);
    if (count <= MOST_STEPS)
        snprintf(text, sizeof text, "an order of the recorded events that leads to it");
    add_steps(&self);
    mr_json_put_object(&self.owner, "message", message(text));
    mr_json_put(&self.owner, "threadFlows", self.threads);
    return self.owner;
}

static void put_flow(mr_json *self, const writer *report, const mr_listed *finding)
{
    if (mr_listed_happened(finding->kind))
        return;
    mr_witness room;
    const mr_witness *open = mr_witness_open(report->trace, finding->witness, &room);
    json_t *flows = json_array();
    if (open)
        mr_json_append(self, flows, code_flow(report->trace, open));
    self->ok = self->ok && open;
    mr_witness_free(&room);
    mr_json_put(self, "codeFlows", flows);
}

/* ---- results and the run ---- */

/* Code scanning knows a result again by the first one, so that it stays when another finding is the worst
 * of its group. */
static mr_json fingerprints(const mr_listed_group *group, const mr_listed *finding)
{
    char digits[MR_FINGERPRINT_BYTES], line[MR_FINGERPRINT_BYTES + 2];
    mr_json self = mr_json_new();
    mr_fingerprint_print(group->fingerprint, digits);
    snprintf(line, sizeof line, "%s:1", digits);
    mr_json_put_text(&self, "primaryLocationLineHash", line);
    mr_fingerprint_print(finding->fingerprint, digits);
    mr_json_put_text(&self, "maxrace/v1", digits);
    return self;
}

/* The title of the worst finding, how many more the group has, and how many the groups that are left out have. */
static void put_message(mr_json *self, const writer *report, const mr_listed_group *group)
{
    const mr_listed *finding = &report->findings->items[group->first];
    const char *subject = mr_listed_subject(finding, report->trace);
    size_t hides = report->all ? 0 : mr_listed_group_hides(group), size;
    char *title = mr_listed_title(finding, report->findings, report->trace), *text = NULL;
    FILE *stream = open_memstream(&text, &size);
    if (stream && title) {
        fputs(title, stream);
        if (group->count > 1)
            fprintf(stream, "; %zu more alike", group->count - 1);
        if (hides > 0)
            fprintf(stream, "; and %zu more such findings%s%s (--report-shown 0 lists them)", hides,
                    subject[0] != '\0' ? " on " : "", subject);
    }
    bool ok = stream && fclose(stream) == 0 && title;
    mr_json_put_object(self, "message", message(ok ? text : ""));
    self->ok = self->ok && ok;
    free(text);
    free(title);
}

/* Does the baseline have all findings of the group? */
static bool is_known(const writer *self, const mr_listed_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (!self->findings->items[group->first + i].known)
            return false;
    return true;
}

static mr_json result_object(const writer *self, const mr_listed_group *group)
{
    mr_json result = mr_json_new();
    const mr_listed *finding = &self->findings->items[group->first];
    json_t *locations = json_array();
    mr_json_put_text(&result, "ruleId", mr_listed_word(finding->kind));
    mr_json_put_number(&result, "ruleIndex", finding->kind);
    mr_json_put_text(&result, "level",
                     finding->kind == MR_LISTED_MEMORY_ORDER ? "warning" : "error");
    put_message(&result, self, group);
    mr_json_append(&result, locations, event_location(self->trace, finding->first, ""));
    mr_json_put(&result, "locations", locations);
    if (group->count > 1)
        mr_json_put_number(&result, "occurrenceCount", group->count);
    put_related(&result, self->trace, finding, group->count);
    put_stacks(&result, self->trace, finding);
    put_flow(&result, self, finding);
    mr_json_put_object(&result, "partialFingerprints", fingerprints(group, finding));
    if (self->findings->has_baseline)
        mr_json_put_text(&result, "baselineState", is_known(self, group) ? "unchanged" : "new");
    return result;
}

static mr_json rule_object(mr_listed_kind kind)
{
    static const char *const texts[MR_LISTED_COUNT] = {
        [MR_LISTED_OBSERVED] = "freed memory was used in the recorded execution",
        [MR_LISTED_MISUSE] = "a lock was used against its rules in the recorded execution",
        [MR_LISTED_RACE] = "two threads can access the same memory at the same time, and one of "
                           "them writes",
        [MR_LISTED_MEMORY_ORDER] = "only accesses that do not synchronise order two accesses of "
                                   "the same memory",
        [MR_LISTED_USE_AFTER_FREE] = "memory can be used after it is freed",
        [MR_LISTED_DEADLOCK] = "threads can wait for the locks of each other for ever",
        [MR_LISTED_NULL_POINTER] = "a pointer can be null where it is used",
        [MR_LISTED_DANGLING] = "a pointer can lead to freed memory where it is used",
        [MR_LISTED_DOUBLE_FREE] = "memory can be freed twice",
    };
    mr_json self = mr_json_new();
    mr_json_put_text(&self, "id", mr_listed_word(kind));
    mr_json_put_object(&self, "shortDescription", message(texts[kind]));
    return self;
}

static mr_json tool_object(void)
{
    mr_json self = mr_json_new(), driver = mr_json_new();
    json_t *rules = json_array();
    mr_json_put_text(&driver, "name", "maxrace");
    mr_json_put_text(&driver, "version", MR_VERSION);
    for (int kind = 0; kind < MR_LISTED_COUNT; kind++)
        mr_json_append(&driver, rules, rule_object((mr_listed_kind)kind));
    mr_json_put(&driver, "rules", rules);
    mr_json_put_object(&self, "driver", driver);
    return self;
}

static json_t *invocations(const writer *self, bool *ok)
{
    json_t *array = json_array();
    mr_json one = mr_json_new();
    mr_json_put(&one, "executionSuccessful", json_boolean(!self->result->stats.incomplete));
    *ok = one.ok && *ok;
    *ok = json_array_append_new(array, one.json) == 0 && *ok;
    return array;
}

/* mr_json_items.make */
static mr_json listed_result(const void *context, size_t index)
{
    const writer *self = context;
    return result_object(self, &self->groups[index]);
}

/* The run object; some results at a time, so that memory does not grow with their number. */
static mr_status write_run(const writer *self, mr_error *error)
{
    FILE *stream = self->stream;
    mr_json extra = mr_json_new();
    fputs("{", stream);
    mr_status status = mr_json_dump_member(stream, "tool", tool_object(), error);
    fputs("\"results\":[", stream);
    const mr_json_items results = {
        .count = self->group_count, .make = listed_result, .context = self};
    if (status == MR_OK)
        status = mr_json_items_dump(stream, &results, self->config, error);
    fputs("],\n\"columnKind\":\"unicodeCodePoints\",\n\"invocations\":", stream);
    mr_json_put(&extra, "array", invocations(self, &extra.ok));
    mr_json list = {json_incref(json_object_get(extra.json, "array")), extra.ok};
    json_decref(extra.json);
    if (status == MR_OK)
        status = mr_json_dump(stream, list, error);
    else
        json_decref(list.json);
    fputs("}", stream);
    return status;
}

static void write_head(FILE *stream)
{
    fputs("{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\","
          "\"runs\":[\n",
          stream);
}

/* Fills `groups`: those that are not left out, or, with report.shown 0, one for each finding. False: no memory. */
static bool choose_groups(writer *self)
{
    const mr_listing *findings = self->findings;
    self->all = mr_config_int(self->config, "report.shown") == 0;
    self->groups = mr_calloc(findings->count + 1, sizeof *self->groups);
    for (size_t i = 0; self->groups && self->all && i < findings->count; i++)
        self->groups[self->group_count++] = (mr_listed_group){
            .first = i, .count = 1, .fingerprint = findings->items[i].fingerprint};
    for (size_t i = 0; self->groups && !self->all && i < findings->group_count; i++)
        if (!mr_listed_group_is_hidden(&findings->groups[i]))
            self->groups[self->group_count++] = findings->groups[i];
    return self->groups != NULL;
}

static mr_status write_part(FILE *stream, const mr_trace *trace, const mr_config *config,
                            const mr_result *result, mr_error *error)
{
    mr_listing findings;
    writer self = {.stream = stream,
                   .trace = trace,
                   .config = config,
                   .result = result,
                   .findings = &findings};
    mr_status status = mr_listing_make(&findings, trace, config, result, error);
    errno = 0;
    if (status == MR_OK && !choose_groups(&self))
        status = mr_error_memory(error, "writing the report");
    if (status == MR_OK)
        status = write_run(&self, error);
    free(self.groups);
    mr_listing_free(&findings);
    return status;
}

mr_status mr_predict_report_sarif(FILE *stream, const mr_trace *trace, const mr_config *config,
                                  const mr_result *result, mr_error *error)
{
    write_head(stream);
    mr_status status = write_part(stream, trace, config, result, error);
    fputs("]}\n", stream);
    return mr_report_finish(stream, config, status, error);
}

/* ---- several runs ---- */

static void runs_before(const mr_runs_report *report, const mr_one_run *run)
{
    (void)run;
    if (report->number == 1)
        write_head(report->stream);
    else
        fputs(",\n", report->stream);
}

static void runs_end(const mr_runs_report *report, size_t races)
{
    (void)races;
    fputs("]}\n", report->stream);
}

const mr_runs_writer mr_runs_sarif = {runs_before, NULL, runs_end, write_part};
