/* html_predict: predictions as a page. */
#include "blocks.h"
#include "context.h"
#include "html_embed.h"
#include "html_pictures.h"
#include "html_report.h"
#include "source.h"
#include "text_items.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_STEPS = 100000, /* on one side of one picture */
    MOST_TOTAL = 400000, /* in the file; then pictures are short */
    SHORT_STEPS = 500,
    SOURCE_BYTES = 4 << 20 /* of all files together */
};

typedef struct writer {
    FILE *stream;
    const mr_trace *trace;
    const mr_config *config;
    const mr_result *result;
    const mr_listing *findings;
    mr_error *error;
    mr_context context;
    mr_sees sees;
    mr_texts texts;
    size_t steps; /* written so far */
    bool all;     /* no group is left out */
} writer;

static const char *kind_text(mr_strength strength)
{
    switch (strength) {
    case MR_STRENGTH_HB:
        return "unordered by happens-before: a detector that follows the recorded order sees it "
               "too";
    case MR_STRENGTH_WCP:
        return "ordered by happens-before, unordered by weak-causally-precedes: only another order "
               "of critical "
               "sections shows it";
    case MR_STRENGTH_C17:
        return "unordered by happens-before of C and C++: what lies between does not synchronise";
    case MR_STRENGTH_BEYOND_WCP:
        break;
    }
    return "ordered by happens-before and by weak-causally-precedes: only a reordering by values "
           "shows it";
}

static mr_json access_object(const writer *self, uint32_t event)
{
    char op[512];
    const mr_trace *trace = self->trace;
    mr_json access = mr_json_event(trace, event, event);
    mr_trace_print_op(trace, event, true, op, sizeof op);
    mr_json_put_text(&access, "text", op);
    mr_json_put_number(&access, "thread_number", trace->thread[event]);
    mr_context_put(&self->context, &access, event);
    return access;
}

/* The picture; a null when it has none. */
static void put_picture(writer *self, mr_json *object, const mr_listed *finding)
{
    mr_steps steps;
    size_t most = self->steps < MOST_TOTAL ? MOST_STEPS : SHORT_STEPS;
    object->ok = mr_steps_make(&steps, finding, self->trace, &self->sees, most) && object->ok;
    if (object->ok)
        mr_json_put_object(object, "picture", mr_picture(&steps, self->trace, &self->texts));
    self->steps += steps.observed.count + steps.witness.count;
    mr_steps_free(&steps);
}

static void put_race(const writer *self, mr_json *object, const mr_listed *finding)
{
    if (mr_listed_happened(finding->kind)) {
        mr_json_put_text(object, "why", "happened in the recorded execution itself");
        return;
    }
    const mr_result *result = self->result;
    const mr_witness *witness = finding->witness;
    mr_step step;
    if (finding->kind == MR_LISTED_RACE || finding->kind == MR_LISTED_MEMORY_ORDER) {
        const mr_race *race = &result->races[finding->index];
        mr_json_put_text(object, "order", mr_strength_name(race->strength));
        mr_json_put_text(object, "why", kind_text(race->strength));
        step = race->confirmed_by;
    } else {
        mr_json_put_text(object, "why", "another order of the recorded events leads to it");
        step = result->findings[finding->index].confirmed_by;
    }
    mr_json_put_confirmed(object, finding->confirmed, finding->effect);
    mr_json_put_text(object, "confirmed_by", mr_step_name(step));
    mr_json_put_window(object, witness->window_start, witness->window_end);
    mr_json_put_number(object, "length", witness->event_count);
}

/* The events that the picture marks: where the threads stop, and the first one. */
static void put_marked(mr_json *self, const mr_listed *finding)
{
    json_t *marked = json_array();
    uint32_t count = 0;
    const uint32_t *stops = finding->witness ? mr_witness_stops(finding->witness, &count) : NULL;
    self->ok = json_array_append_new(marked, json_integer(finding->first)) == 0 && self->ok;
    if (finding->second != MR_NONE)
        self->ok = json_array_append_new(marked, json_integer(finding->second)) == 0 && self->ok;
    for (uint32_t i = 0; i < count; i++)
        self->ok = json_array_append_new(marked, json_integer(stops[i])) == 0 && self->ok;
    mr_json_put(self, "marked", marked);
    mr_json_put_number(self, "stops", count);
}

static mr_json finding_object(const writer *self, const mr_listed *finding)
{
    mr_json object = mr_json_new();
    char *title = mr_listed_title(finding, self->findings, self->trace);
    mr_json_put_text(&object, "kind", mr_listed_word(finding->kind));
    mr_json_put_text(&object, "title", title ? title : "");
    mr_json_put_text(&object, "place", mr_listed_place(finding, self->trace));
    mr_json_put_text(&object, "subject", mr_listed_subject(finding, self->trace));
    mr_json_put_number(&object, "badness", finding->badness);
    mr_json_put_listed(&object, finding, self->findings);
    object.ok = object.ok && title;
    free(title);
    mr_json_put_object(&object, "first", access_object(self, finding->first));
    if (finding->second != MR_NONE)
        mr_json_put_object(&object, "second", access_object(self, finding->second));
    mr_block_put(&self->context, self->trace, &object, finding->first);
    mr_json_put_unseen(&object, &self->trace->ending);
    put_marked(&object, finding);
    put_race(self, &object, finding);
    return object;
}

/* The worst finding of a group, and the places of the others. */
static mr_json group_object(const writer *self, const mr_listed_group *group)
{
    const mr_listed *items = self->findings->items + group->first;
    mr_json object = finding_object(self, &items[0]);
    json_t *alike = json_array();
    for (size_t i = 1; i < group->count && i < 100; i++) {
        mr_json other = mr_json_new();
        const mr_names *places = &self->trace->locations;
        mr_json_put_number(&other, "number", items[i].number);
        mr_json_put_text(&other, "first",
                         mr_names_display(places, self->trace->location[items[i].first]));
        if (items[i].second != MR_NONE)
            mr_json_put_text(&other, "second",
                             mr_names_display(places, self->trace->location[items[i].second]));
        mr_json_append(&object, alike, other);
    }
    mr_json_put_number(&object, "count", group->count);
    mr_json_put(&object, "alike", alike);
    if (!self->all && mr_listed_group_hides(group))
        mr_json_put_number(&object, "behind", mr_listed_group_hides(group));
    return object;
}

/* The groups from `next` on without one that is left out; the number of groups: there is none. */
static size_t next_group(const writer *self, size_t next)
{
    const mr_listing *findings = self->findings;
    while (next < findings->group_count && !self->all &&
           mr_listed_group_is_hidden(&findings->groups[next]))
        next++;
    return next;
}

/* Groups without a picture, which is what depends on the groups before. */
typedef struct plain_groups {
    const writer *writer;
    size_t first;
} plain_groups;

/* mr_text_items.print: with a comma before each group. */
static mr_status print_plain(void *context, unsigned worker, size_t index, mr_bytes *to,
                             mr_error *error)
{
    const plain_groups *plain = context;
    size_t at = plain->first + index;
    (void)worker;
    if (next_group(plain->writer, at) != at)
        return MR_OK;
    mr_bytes_raw(to, ",\n", 2);
    return mr_page_text(to, group_object(plain->writer, &plain->writer->findings->groups[at]),
                        error);
}

static mr_status write_groups(writer *self)
{
    const mr_listing *findings = self->findings;
    size_t most = (size_t)mr_config_int(self->config, "report.pictures"), written = 0, at;
    mr_status status = MR_OK;
    self->all = mr_config_int(self->config, "report.shown") == 0;
    fputs("\"groups\":[", self->stream);
    for (at = next_group(self, 0); written < most && at < findings->group_count && status == MR_OK;
         at = next_group(self, at + 1)) {
        const mr_listed_group *group = &findings->groups[at];
        mr_json object = group_object(self, group);
        put_picture(self, &object, &findings->items[group->first]);
        fputs(written++ > 0 ? ",\n" : "\n", self->stream);
        status = mr_page_json(self->stream, object, self->error);
    }
    plain_groups plain = {self, at};
    const mr_text_items rest = {.count = findings->group_count - at,
                                .print = print_plain,
                                .context = &plain,
                                .skipped = written == 0};
    if (status == MR_OK)
        status = mr_text_items_write(self->stream, &rest, self->config, self->error);
    fputs("],\n", self->stream);
    return status;
}

/* ---- lists ---- */

/* The names, with those of the file behind their texts when `both`. */
static mr_json names_array(const mr_names *names, bool both)
{
    mr_json self = mr_json_new();
    json_t *array = json_array();
    for (uint32_t i = 0; i < names->count && self.ok; i++) {
        mr_json one = mr_json_new();
        char text[512];
        const char *shown = mr_names_display(names, i);
        if (both && names->items[i].display) {
            snprintf(text, sizeof text, "%s (%s)", shown, names->items[i].text);
            shown = text;
        }
        mr_json_put_text(&one, "text", shown);
        json_t *string = json_incref(json_object_get(one.json, "text"));
        self.ok = one.ok && json_array_append_new(array, string) == 0;
        json_decref(one.json);
    }
    json_decref(self.json);
    self.json = array;
    self.ok = self.ok && array;
    return self;
}

static mr_json unknown_array(const writer *self)
{
    mr_json keeper = mr_json_new();
    json_t *array = json_array();
    for (size_t i = 0; i < self->result->unknown_count && i < 1000; i++) {
        const mr_unknown *unknown = &self->result->unknowns[i];
        mr_json one = mr_json_new();
        mr_json_put_object(&one, "first", access_object(self, unknown->first));
        mr_json_put_object(&one, "second", access_object(self, unknown->second));
        mr_json_put_text(&one, "reason", mr_unknown_reason_name(unknown->reason));
        mr_json_append(&keeper, array, one);
    }
    json_decref(keeper.json);
    return (mr_json){array, keeper.ok && array};
}

/* The files that places name, when they are in source_dir. */
static mr_json sources_object(const writer *self)
{
    mr_json object = mr_json_new();
    mr_source source;
    size_t total = 0;
    mr_source_init(&source, self->config);
    for (uint32_t i = 0; i < self->texts.names.count && source.folder[0] != '\0'; i++) {
        const char *text = self->texts.names.items[i].text;
        mr_place place = mr_place_parse(text, strlen(text));
        const mr_source_file *file = mr_source_find(&source, place);
        if (!file || json_object_get(object.json, file->name) || total > SOURCE_BYTES)
            continue;
        json_t *lines = json_array();
        for (size_t line = 0; line < file->line_count; line++) {
            mr_json one = mr_json_new();
            mr_json_put_text(&one, "text", file->lines[line]);
            object.ok = json_array_append(lines, json_object_get(one.json, "text")) == 0 &&
                        one.ok && object.ok;
            total += strlen(file->lines[line]);
            json_decref(one.json);
        }
        mr_json_put(&object, file->name, lines);
    }
    mr_source_free(&source);
    return object;
}

static mr_json summary_object(const writer *self)
{
    const mr_listing *findings = self->findings;
    mr_json object = mr_json_new();
    mr_json_put_number(&object, "findings", findings->count);
    mr_json_put_number(&object, "suppressed", findings->suppressed_count);
    mr_json_put_number(&object, "unknown", self->result->unknown_count);
    if (findings->has_baseline)
        mr_json_put_number(&object, "known", findings->known_count);
    mr_json_put(&object, "incomplete", json_boolean(self->result->stats.incomplete));
    char not_looked[MR_NOT_LOOKED_BYTES];
    mr_json_put_text(
        &object, "not_looked",
        mr_phrase_not_looked(self->config,
                             self->result->stats.windows + self->result->stats.windows_missing,
                             not_looked));
    mr_json_put_text(&object, "model",
                     mr_model_name((mr_model)mr_config_choice(self->config, "model")));
    return object;
}

static mr_status write_member(const writer *self, const char *key, mr_json value, const char *end)
{
    fprintf(self->stream, "\"%s\":", key);
    mr_status status = mr_page_json(self->stream, value, self->error);
    fputs(end, self->stream);
    return status;
}

static mr_status write_members(writer *self)
{
    mr_status status = write_member(self, "tool", mr_json_tool(), ",\n");
    if (status == MR_OK)
        status = write_member(self, "trace", mr_json_trace(self->trace), ",\n");
    if (status == MR_OK)
        status = write_member(self, "summary", summary_object(self), ",\n");
    if (status == MR_OK)
        status = write_member(self, "threads", names_array(&self->trace->threads, true), ",\n");
    if (status == MR_OK)
        status = write_groups(self);
    if (status == MR_OK)
        status = write_member(self, "unknown", unknown_array(self), ",\n");
    if (status == MR_OK)
        status = write_member(self, "sources", sources_object(self), ",\n");
    if (status == MR_OK)
        status = write_member(self, "texts", names_array(&self->texts.names, false), "}\n");
    return status;
}

/* The object of one run. */
static mr_status write_part(FILE *stream, const mr_trace *trace, const mr_config *config,
                            const mr_result *result, mr_error *error)
{
    mr_listing findings;
    writer self = {.stream = stream,
                   .trace = trace,
                   .config = config,
                   .result = result,
                   .findings = &findings,
                   .error = error};
    mr_status status = mr_listing_make(&findings, trace, config, result, error);
    errno = 0;
    mr_names_init(&self.texts.names);
    if (status == MR_OK &&
        !(mr_sees_init(&self.sees, trace) && mr_context_init(&self.context, trace, result)))
        status = mr_error_memory(error, "writing the report");
    fputs("{", stream);
    if (status == MR_OK)
        status = write_members(&self);
    mr_names_free(&self.texts.names);
    mr_sees_free(&self.sees);
    mr_context_free(&self.context);
    mr_listing_free(&findings);
    return status;
}

static void write_head(FILE *stream)
{
    mr_page_begin(stream);
    fputs("{\"reports\":[\n", stream);
}

static void write_end(FILE *stream)
{
    fputs("]}\n", stream);
    mr_page_end(stream);
}

mr_status mr_predict_report_html(FILE *stream, const mr_trace *trace, const mr_config *config,
                                 const mr_result *result, mr_error *error)
{
    write_head(stream);
    mr_status status = write_part(stream, trace, config, result, error);
    write_end(stream);
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
    write_end(report->stream);
}

const mr_runs_writer mr_runs_html = {runs_before, NULL, runs_end, write_part};
