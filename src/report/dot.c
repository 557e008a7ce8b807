/*
 * dot: the witnesses of a prediction for Graphviz, a graph for each group of findings. A thread is a cluster;
 * its events stand in a row of arrows, the numbers are their positions in the witness. Dashed arrows
 * lead from a write to the reads that see it, a red line joins the two accesses.
 */
#include "escape.h"
#include "phrases.h"
#include "predict_report.h"
#include "steps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { MOST_EVENTS = 200 };

typedef struct writer {
    FILE *stream;
    const mr_trace *trace;
    const mr_listing *findings;
} writer;

/* Text in quotes of dot. */
static void print_text(FILE *stream, const char *text)
{
    char piece[MR_ESCAPE_BYTES];
    while (mr_escape_next(&text, true, piece) > 0) {
        if (piece[0] == '"' || piece[0] == '\\')
            fputc('\\', stream);
        fputs(piece, stream);
    }
}

static void print_node(const writer *self, const mr_step_list *list, size_t index,
                       const mr_listed *finding)
{
    FILE *stream = self->stream;
    uint32_t event = list->events[index];
    bool racing = event == finding->first || event == finding->second;
    char op[512];
    mr_trace_print_op(self->trace, event, true, op, sizeof op);
    fprintf(stream, "    e%" PRIu32 " [label=\"%zu: ", event, index + 1);
    print_text(stream, op);
    fputs("\\n", stream);
    print_text(stream, mr_names_display(&self->trace->locations, self->trace->location[event]));
    fprintf(stream, "\"%s];\n", racing ? ", color=red, penwidth=2" : "");
}

/* The events of one thread. */
static void print_thread(const writer *self, const mr_step_list *list, const mr_listed *finding,
                         uint32_t thread)
{
    FILE *stream = self->stream;
    uint32_t before = MR_NONE;
    fprintf(stream, "  subgraph cluster_%" PRIu32 " {\n    label=\"", thread);
    print_text(stream, mr_names_display(&self->trace->threads, thread));
    fputs("\";\n", stream);
    for (size_t i = 0; i < list->count; i++) {
        uint32_t event = list->events[i];
        if (self->trace->thread[event] != thread)
            continue;
        print_node(self, list, i, finding);
        if (before != MR_NONE)
            fprintf(stream, "    e%" PRIu32 " -> e%" PRIu32 ";\n", before, event);
        before = event;
    }
    fputs("  }\n", stream);
}

static bool has_event(const mr_step_list *list, uint32_t event)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->events[i] == event)
            return true;
    return false;
}

static void print_edges(const writer *self, const mr_step_list *list, const mr_listed *finding)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->seen[i] != MR_NONE && has_event(list, list->seen[i]))
            fprintf(self->stream,
                    "  e%" PRIu32 " -> e%" PRIu32 " [style=dashed, constraint=false];\n",
                    list->seen[i], list->events[i]);
    if (finding->second != MR_NONE && has_event(list, finding->second))
        fprintf(self->stream,
                "  e%" PRIu32 " -> e%" PRIu32
                " [dir=none, color=red, penwidth=2, constraint=false];\n",
                finding->first, finding->second);
}

static bool print_graph(const writer *self, const mr_listed *finding, const mr_steps *steps)
{
    FILE *stream = self->stream;
    const mr_step_list *list = steps->witness.count > 0 ? &steps->witness : &steps->observed;
    char *title = mr_listed_title(finding, self->findings, self->trace);
    bool *done = mr_calloc(self->trace->threads.count + 1ull, sizeof *done);
    bool ok = title && done;
    if (ok) {
        fprintf(stream, "digraph \"%s-%zu\" {\n  label=\"", mr_listed_name(finding->kind),
                finding->number);
        print_text(stream, title);
        if (steps->left_out > 0)
            fprintf(stream, " (%zu events before these left out)", steps->left_out);
        fputs("\";\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n", stream);
        for (size_t i = 0; i < list->count; i++) {
            uint32_t thread = self->trace->thread[list->events[i]];
            if (!done[thread])
                print_thread(self, list, finding, thread);
            done[thread] = true;
        }
        print_edges(self, list, finding);
        fputs("}\n", stream);
    }
    free(title);
    free(done);
    return ok;
}

static bool print_all(const writer *self, const mr_config *config)
{
    const mr_listing *findings = self->findings;
    size_t most = (size_t)mr_config_int(config, "report.pictures");
    mr_sees sees;
    bool ok = mr_sees_init(&sees, self->trace);
    for (size_t i = 0; i < findings->group_count && i < most && ok; i++) {
        const mr_listed *finding = &findings->items[findings->groups[i].first];
        mr_steps steps;
        ok = mr_steps_make(&steps, finding, self->trace, &sees, MOST_EVENTS) &&
             print_graph(self, finding, &steps);
        mr_steps_free(&steps);
    }
    mr_sees_free(&sees);
    return ok;
}

mr_status mr_predict_report_dot(FILE *stream, const mr_trace *trace, const mr_config *config,
                                const mr_result *result, mr_error *error)
{
    mr_listing findings;
    const writer self = {stream, trace, &findings};
    mr_status status = mr_listing_make(&findings, trace, config, result, error);
    errno = 0;
    if (status == MR_OK && !print_all(&self, config))
        status = mr_error_memory(error, "writing the report");
    mr_listing_free(&findings);
    return mr_report_finish(stream, config, status, error);
}
