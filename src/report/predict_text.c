/* predict_text: the result of a prediction for people. */
#include "listing/listing.h"

#include "blocks.h"
#include "context.h"
#include "escape.h"
#include "findings.h"
#include "listing_text.h"
#include "phrases.h"
#include "predict_report.h"
#include "predict_summary.h"
#include "schedule_table.h"
#include "text_items.h"
#include "witness/late.h"
#include "witness/pack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN_SHOWN 20

typedef struct writer {
    FILE *stream;
    const mr_trace *trace;
    const mr_config *config;
    const mr_result *result;
    const mr_listing *findings;
    mr_context context;
    mr_writes writes; /* empty unless every finding is shown */
    mr_sees sees;
    mr_source source;
    mr_schedule_view view;
} writer;

static void print_trace(const writer *self)
{
    const mr_trace *trace = self->trace;
    FILE *stream = self->stream;
    mr_phrase_trace(stream, trace);
    if (mr_config_int(self->config, "window.size") == 0)
        fputs("one window", stream);
    else
        fprintf(stream, "windows of %" PRId64 " events that overlap by %" PRId64,
                mr_config_int(self->config, "window.size"),
                mr_config_int(self->config, "window.overlap"));
    fprintf(stream, ", model %s\n",
            mr_model_name((mr_model)mr_config_choice(self->config, "model")));
    if (trace->by_source_count > 0 && mr_config_choice(self->config, "model") != MR_MODEL_RF)
        fprintf(stream,
                "%" PRIu32
                " variable%s without usable values: their reads must see the same write\n",
                trace->by_source_count, mr_phrase_s(trace->by_source_count));
    mr_phrase_dropped(stream, trace);
    mr_phrase_ending(stream, &trace->ending);
}

static const char *strength_text(mr_strength strength)
{
    switch (strength) {
    case MR_STRENGTH_HB:
        return "unordered by happens-before (hb)";
    case MR_STRENGTH_WCP:
        return "ordered by happens-before, unordered by weak-causally-precedes (wcp)";
    case MR_STRENGTH_C17:
        return "unordered by happens-before of C and C++: what lies between does not synchronise "
               "(c17)";
    case MR_STRENGTH_BEYOND_WCP:
        break;
    }
    return "ordered by both happens-before and weak-causally-precedes (beyond-wcp)";
}

/* An access with its stack and locks. */
static void print_access(writer *self, const char *label, uint32_t event, uint32_t other)
{
    const mr_trace *trace = self->trace;
    mr_phrase_access(self->stream, label, trace, mr_access_of_event(trace, event, other));
    const char *line =
        mr_source_line(&self->source, mr_names_display(&trace->locations, trace->location[event]));
    if (line) {
        fputs("          | ", self->stream);
        mr_escape_print(self->stream, line);
        fputs("\n", self->stream);
    }
    mr_context_print(&self->context, self->stream, event);
}

static void print_headline(const writer *self, size_t index)
{
    const mr_witness *witness = &self->result->races[index].witness;
    FILE *stream = self->stream;
    fputs("\n", stream);
    mr_style_begin(self->view.style, stream, MR_TONE_BAD);
    fprintf(stream, "Race %zu of %zu%s on ", index + 1, self->result->race_count,
            witness->kind == MR_WITNESS_MEMORY_ORDER ? " (memory order)" : "");
    mr_phrase_name(stream, &self->trace->variables,
                   mr_pair_variable(self->trace, witness->first, witness->second));
    mr_style_end(self->view.style, stream);
    fputs("\n", stream);
}

static bool print_race(writer *self, size_t index)
{
    const mr_race *race = &self->result->races[index];
    const mr_witness *witness = &race->witness;
    FILE *stream = self->stream;
    print_headline(self, index);
    print_access(self, "first", witness->first, witness->second);
    print_access(self, "second", witness->second, witness->first);
    mr_block_print(&self->context, self->trace, stream, witness->first);
    mr_context_print_start(&self->context, stream, self->trace->thread[witness->first]);
    mr_context_print_start(&self->context, stream, self->trace->thread[witness->second]);
    mr_phrase_unseen(stream, &self->trace->ending);
    mr_phrase_confirmed(stream, race->confirmed, race->effect);
    fprintf(stream, "  order   %s\n", strength_text(race->strength));
    mr_phrase_found_by(stream, race->confirmed_by);
    if (self->view.show == MR_SCHEDULE_NONE)
        return true;
    mr_witness room;
    mr_opaque calls = (mr_opaque)mr_config_choice(self->config, "opaque");
    const mr_witness *open = race->is_long
                                 ? mr_witness_open_long(self->trace, calls, witness, &room)
                                 : mr_witness_open(self->trace, witness, &room);
    bool ok = open != NULL && mr_schedule_print(stream, open, &self->sees, &self->view);
    mr_witness_free(&room);
    return ok;
}

/* What is found beside races, each kind with numbers of its own. */
static bool print_beside(writer *self, size_t index)
{
    const mr_result *result = self->result;
    const mr_finding *finding = &result->findings[index];
    size_t of = 0, number = 0;
    for (size_t i = 0; i < result->finding_count; i++) {
        bool same = result->findings[i].witness.kind == finding->witness.kind;
        of += same;
        number += same && i <= index;
    }
    return mr_finding_print(&self->context, self->trace, self->stream, finding, number, of,
                            &self->sees, &self->view);
}

/* The schedule of the answer to the option `sees`. */
static bool print_sees(writer *self)
{
    for (size_t i = 0; i < self->result->finding_count; i++)
        if (self->result->findings[i].witness.kind == MR_WITNESS_SEES && !print_beside(self, i))
            return false;
    return true;
}

/* The finding in full. */
static bool print_finding(writer *self, const mr_listed *finding)
{
    switch (finding->kind) {
    case MR_LISTED_OBSERVED:
    case MR_LISTED_MISUSE:
        mr_observed_print_one(&self->context, self->trace, self->stream, &self->findings->observed,
                              finding->index);
        return true;
    case MR_LISTED_RACE:
    case MR_LISTED_MEMORY_ORDER:
        return print_race(self, finding->index);
    case MR_LISTED_USE_AFTER_FREE:
    case MR_LISTED_DEADLOCK:
    case MR_LISTED_NULL_POINTER:
    case MR_LISTED_DANGLING:
    case MR_LISTED_DOUBLE_FREE:
        return print_beside(self, finding->index);
    case MR_LISTED_COUNT:
        break;
    }
    return true;
}

/* ---- every finding in full, by several workers ---- */

/* What a worker has of its own. */
typedef struct printer {
    writer self; /* a copy of the whole, but for `stream`, `sees` and `source` */
    char *text;  /* of `stream` */
    size_t size;
} printer;

typedef struct printers {
    const mr_listing *findings;
    size_t *order; /* the findings as their groups stand */
    printer *all;
    unsigned count;
} printers;

/* mr_text_items.print */
static mr_status print_item(void *context, unsigned worker, size_t index, mr_bytes *to,
                            mr_error *error)
{
    const printers *set = context;
    printer *own = &set->all[worker];
    FILE *stream = own->self.stream;
    bool ok = print_finding(&own->self, &set->findings->items[set->order[index]]);
    off_t length = ftello(stream);
    ok = fflush(stream) == 0 && length >= 0 && ok;
    if (ok)
        mr_bytes_raw(to, own->text, (size_t)length);
    rewind(stream);
    return ok ? MR_OK : mr_error_memory(error, "writing the report");
}

static bool printer_init(printer *own, const writer *whole)
{
    own->self = *whole;
    own->self.stream = open_memstream(&own->text, &own->size);
    mr_source_init(&own->self.source, whole->config);
    if (whole->view.source)
        own->self.view.source = &own->self.source;
    bool ok = mr_sees_init(&own->self.sees, whole->trace);
    own->self.sees.writes = &whole->writes;
    return ok && own->self.stream;
}

static void printers_free(printers *set)
{
    for (unsigned i = 0; set->all && i < set->count; i++) {
        printer *own = &set->all[i];
        if (own->self.stream)
            fclose(own->self.stream);
        free(own->text);
        mr_sees_free(&own->self.sees);
        mr_source_free(&own->self.source);
    }
    free(set->all);
    free(set->order);
}

static bool put_in_order(printers *set)
{
    const mr_listing *findings = set->findings;
    size_t count = 0;
    set->order = mr_calloc(findings->count + 1, sizeof *set->order);
    for (size_t i = 0; set->order && i < findings->group_count; i++)
        for (size_t j = 0; j < findings->groups[i].count; j++)
            set->order[count++] = findings->groups[i].first + j;
    return set->order != NULL;
}

static mr_status print_every(writer *self, mr_error *error)
{
    printers set = {.findings = self->findings,
                    .count = mr_text_items_workers(self->config, self->findings->count)};
    const mr_text_items items = {
        .count = self->findings->count, .print = print_item, .context = &set};
    set.all = mr_calloc(set.count, sizeof *set.all);
    bool ok = set.all && put_in_order(&set) && mr_writes_build(&self->writes, self->trace);
    for (unsigned i = 0; i < set.count && ok; i++)
        ok = printer_init(&set.all[i], self);
    mr_status status = ok ? mr_text_items_write(self->stream, &items, self->config, error)
                          : mr_error_memory(error, "writing the report");
    printers_free(&set);
    mr_writes_free(&self->writes);
    return status;
}

/* ---- findings ---- */

/* Each group by its worst finding, and the others of it by their places; or every finding. Says whether
 * some finding is not shown in full. */
static bool print_findings(writer *self, bool *hidden)
{
    const mr_listing *findings = self->findings;
    size_t most = (size_t)mr_config_int(self->config, "report.shown");
    bool ok = true;
    mr_error unused;
    *hidden = false;
    if (most == 0)
        return print_every(self, &unused) != MR_ERR_MEMORY;
    for (size_t i = 0; i < findings->group_count && ok && !ferror(self->stream); i++) {
        const mr_listed_group *group = &findings->groups[i];
        if (i == most)
            fprintf(self->stream, "\n%zu more group%s of findings: see the list above\n",
                    findings->group_count - most, mr_phrase_s(findings->group_count - most));
        *hidden = *hidden || i >= most || group->count > 1;
        if (i >= most)
            break;
        ok = print_finding(self, &findings->items[group->first]);
        if (ok)
            mr_listing_print_alike(self->stream, findings, group, self->trace);
    }
    return ok;
}

static void print_short_access(const writer *self, uint32_t event)
{
    char text[512];
    mr_trace_print_op(self->trace, event, true, text, sizeof text);
    mr_escape_print(self->stream, text);
    fputs(" at ", self->stream);
    mr_escape_print(self->stream,
                    mr_names_display(&self->trace->locations, self->trace->location[event]));
    fprintf(self->stream, " (event %" PRIu32 ")", event);
}

static void print_reason(FILE *stream, mr_unknown_reason reason, const char *detail)
{
    fprintf(stream, ": %s", mr_unknown_reason_name(reason));
    if (detail[0] != '\0') {
        fputs(", ", stream);
        mr_escape_print(stream, detail);
    }
    fputs("\n", stream);
}

static void print_unknowns(const writer *self)
{
    const mr_result *result = self->result;
    FILE *stream = self->stream;
    if (result->unknown_count == 0)
        return;
    fputs("\nUnknown (these may or may not be races):\n", stream);
    for (size_t i = 0; i < result->unknown_count && i < UNKNOWN_SHOWN; i++) {
        const mr_unknown *unknown = &result->unknowns[i];
        fputs("  ", stream);
        print_short_access(self, unknown->first);
        fputs(" and ", stream);
        print_short_access(self, unknown->second);
        print_reason(stream, unknown->reason, unknown->detail);
    }
    if (result->unknown_count > UNKNOWN_SHOWN)
        fprintf(stream, "  and %zu more\n", result->unknown_count - UNKNOWN_SHOWN);
}

static void print_unknown_findings(const writer *self)
{
    const mr_result *result = self->result;
    FILE *stream = self->stream;
    if (result->finding_unknown_count == 0)
        return;
    fputs("\nUnknown (these may or may not be errors):\n", stream);
    for (size_t i = 0; i < result->finding_unknown_count && i < UNKNOWN_SHOWN; i++) {
        const mr_finding_unknown *unknown = &result->finding_unknowns[i];
        fprintf(stream, "  %s: ", mr_finding_noun(unknown->kind, false));
        print_short_access(self, unknown->first);
        if (unknown->second != MR_NONE && unknown->second != unknown->first) {
            fputs(" and ", stream);
            print_short_access(self, unknown->second);
        }
        print_reason(stream, unknown->reason, unknown->detail);
    }
    if (result->finding_unknown_count > UNKNOWN_SHOWN)
        fprintf(stream, "  and %zu more\n", result->finding_unknown_count - UNKNOWN_SHOWN);
}

static bool start(writer *self)
{
    mr_source_init(&self->source, self->config);
    self->view = (mr_schedule_view){
        .show = (mr_show_schedule)mr_config_choice(self->config, "report.schedule"),
        .style = mr_style_of(self->stream, self->config),
        .source = self->source.folder[0] != '\0' ? &self->source : NULL};
    bool ok = mr_sees_init(&self->sees, self->trace);
    return mr_context_init(&self->context, self->trace, self->result) && ok;
}

/* Everything but the list alone. False: no memory. */
static bool print_all(writer *self)
{
    mr_predict_summary summary = {.stream = self->stream,
                                  .trace = self->trace,
                                  .config = self->config,
                                  .result = self->result,
                                  .findings = self->findings};
    bool ok = start(self);
    if (ok) {
        print_trace(self);
        bool list_all = mr_config_int(self->config, "report.shown") == 0;
        ok = mr_listing_print_list(self->stream, self->findings, self->trace, list_all,
                                   self->view.style) &&
             print_findings(self, &summary.groups_hidden) && print_sees(self);
    }
    mr_sees_free(&self->sees);
    mr_context_free(&self->context);
    mr_source_free(&self->source);
    if (!ok)
        return false;
    mr_cycle_notes_print(self->trace, self->result, self->stream);
    print_unknowns(self);
    print_unknown_findings(self);
    mr_predict_print_summary(&summary);
    if (mr_config_bool(self->config, "report.run"))
        mr_predict_print_run(self->stream, &self->result->run);
    mr_predict_print_last(&summary);
    return mr_predict_print_next(&summary);
}

mr_status mr_predict_report_text(FILE *stream, const mr_trace *trace, const mr_config *config,
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
    if (status == MR_OK) {
        bool ok = mr_config_bool(config, "brief") ? mr_listing_print_brief(stream, &findings, trace)
                                                  : print_all(&self);
        if (!ok) {
            errno = ENOMEM;
            status = mr_error_memory(error, "writing the report");
        }
    }
    mr_listing_free(&findings);
    return mr_report_finish(stream, config, status, error);
}
