#include "phrases.h"
#include "escape.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

mr_access mr_access_of_event(const mr_trace *trace, uint32_t event, uint32_t other)
{
    return (mr_access){.event = event,
                       .thread = trace->thread[event],
                       .location = trace->location[event],
                       .variable = mr_pair_variable(trace, event, other),
                       .op = trace->op[event]};
}

const char *mr_phrase_s(uint64_t count)
{
    return count == 1 ? "" : "s";
}

void mr_phrase_count(FILE *stream, uint64_t count, const char *noun, const char *after)
{
    fprintf(stream, "%" PRIu64 " %s%s%s", count, noun, mr_phrase_s(count), after);
}

void mr_phrase_name(FILE *stream, const mr_names *names, uint32_t number)
{
    const mr_name *name = &names->items[number];
    mr_escape_print(stream, mr_names_display(names, number));
    if (name->display != NULL) {
        fputs(" (", stream);
        mr_escape_print(stream, name->text);
        fputs(")", stream);
    }
}

void mr_phrase_trace(FILE *stream, const mr_trace *trace)
{
    mr_escape_print(stream, trace->path);
    fputs(": ", stream);
    mr_phrase_count(stream, trace->event_count, "event", ", ");
    mr_phrase_count(stream, trace->threads.count, "thread", ", ");
    mr_phrase_count(stream, trace->locks.count, "lock", ", ");
    mr_phrase_count(stream, trace->variables.count, "variable", "\n");
}

void mr_phrase_dropped(FILE *stream, const mr_trace *trace)
{
    if (trace->dropped_count > 0)
        fprintf(stream, "%" PRIu64 " event%s or line%s dropped by repair\n", trace->dropped_count,
                mr_phrase_s(trace->dropped_count), mr_phrase_s(trace->dropped_count));
}

void mr_phrase_ending(FILE *stream, const mr_ending *ending)
{
    char text[320];
    mr_ending_sentence(ending, text, sizeof text);
    if (text[0] != '\0')
        fprintf(stream, "%s\n", text);
    for (const char *at = ending->details; at && *at; at += strcspn(at, "\n") + 1) {
        char line[1024];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        fputs("  ", stream);
        mr_escape_print(stream, line);
        fputs("\n", stream);
    }
    if (ending->unseen) {
        mr_ending_unseen(ending, text, sizeof text);
        fprintf(stream, "%s: synchronisation that is not recorded, so races may be false\n", text);
    }
}

void mr_phrase_unseen(FILE *stream, const mr_ending *ending)
{
    char text[120];
    mr_ending_unseen(ending, text, sizeof text);
    if (text[0] != '\0')
        fprintf(stream, "  note    may be false: %s may order the two accesses\n", text);
}

void mr_phrase_scope(FILE *stream, const mr_trace *trace)
{
    char text[120];
    const char *limit = mr_ending_limit(&trace->ending, text, sizeof text);
    fprintf(stream, " in the %" PRIu64 " event%s %s%s", trace->event_count,
            mr_phrase_s(trace->event_count), limit ? "up to " : "of the trace", limit ? limit : "");
}

static void add_part(char text[MR_NOT_LOOKED_BYTES], const char *part)
{
    size_t length = strlen(text);
    snprintf(text + length, MR_NOT_LOOKED_BYTES - length, "%s%s", length > 0 ? ", " : "", part);
}

const char *mr_phrase_not_looked(const mr_config *config, uint64_t windows,
                                 char text[MR_NOT_LOOKED_BYTES])
{
    static const char *const farther[] = {[MR_FAR_NONE] = "",
                                          [MR_FAR_SHB] = " but those of SHB",
                                          [MR_FAR_SYNCP] = " but those of SyncP",
                                          [MR_FAR_HB] = " that HB orders, but those of SyncP",
                                          [MR_FAR_WCP] = " that WCP orders, but those of SyncP"};
    static const char *const filtered[] = {
        [MR_PREFILTER_WCP] = "pairs that WCP orders", [MR_PREFILTER_HB] = "pairs that HB orders"};
    mr_far far = mr_config_choice(config, "candidates.report") == MR_REPORT_EVENT
                     ? MR_FAR_NONE
                     : (mr_far)mr_config_choice(config, "candidates.far");
    mr_prefilter filter = (mr_prefilter)mr_config_choice(config, "candidates.prefilter");
    text[0] = '\0';
    if (windows > 1 && far != MR_FAR_ALL) {
        char part[128];
        snprintf(part, sizeof part, "pairs farther apart than a window (%" PRId64 " events)%s",
                 mr_config_int(config, "window.size"), farther[far]);
        add_part(text, part);
    }
    if (filter != MR_PREFILTER_ALL)
        add_part(text, filtered[filter]);
    if (mr_config_text(config, "candidates.ignore_locations")[0] != '\0')
        add_part(text, "accesses at ignored places");
    if (mr_config_text(config, "candidates.only_locations")[0] != '\0')
        add_part(text, "accesses at other places than those asked for");
    return text;
}

bool mr_phrase_has_place(const mr_trace *trace, uint32_t location)
{
    const char *text = trace->locations.items[location].text;
    return text[0] != '\0' && strcmp(text, "?") != 0;
}

void mr_phrase_place(FILE *stream, const mr_trace *trace, mr_access access)
{
    const char *text = trace->locations.items[access.location].text;
    bool is_life = access.op == MR_OP_ALLOC || access.op == MR_OP_FREE;
    if (is_life && strcmp(text, "?") == 0) {
        fputs(access.op == MR_OP_FREE ? "at the end of " : "at the start of ", stream);
    } else {
        fputs("at ", stream);
        if (mr_phrase_has_place(trace, access.location))
            mr_phrase_name(stream, &trace->locations, access.location);
        else
            fputs("an unnamed place", stream);
        fputs(" by ", stream);
    }
    mr_phrase_name(stream, &trace->threads, access.thread);
}

void mr_phrase_deed(FILE *stream, const char *label, const char *deed, const mr_trace *trace,
                    mr_access access)
{
    fprintf(stream, "  %-6s  %-5s ", label, deed);
    mr_phrase_place(stream, trace, access);
    fprintf(stream, ", event %" PRIu64 ", line %" PRIu64 "\n", access.event,
            mr_trace_line(trace, access.event));
}

void mr_phrase_access(FILE *stream, const char *label, const mr_trace *trace, mr_access access)
{
    const char *deed = access.op == MR_OP_WRITE  ? "write"
                       : access.op == MR_OP_READ ? "read"
                                                 : mr_op_name((mr_op)access.op);
    mr_phrase_deed(stream, label, deed, trace, access);
}

/* "read 0.25, order 1.00" after `head`; nothing when no stage took a notable time. */
static bool print_stages(FILE *stream, const char *head, const mr_phrase_stage *stages,
                         size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (stages[i].seconds < 0.005)
            continue;
        fprintf(stream, "%s%s %.2f", any ? ", " : head, stages[i].name, stages[i].seconds);
        any = true;
    }
    return any;
}

void mr_phrase_seconds(FILE *stream, double total_seconds, const mr_phrase_stage *stages,
                       size_t count)
{
    fprintf(stream, "  seconds     %.2f", total_seconds);
    print_stages(stream, ": ", stages, count);
    fputs("\n", stream);
}

void mr_phrase_stages(FILE *stream, const char *head, const mr_phrase_stage *stages, size_t count)
{
    if (print_stages(stream, head, stages, count))
        fputs("\n", stream);
}

void mr_phrase_memory(FILE *stream, uint64_t peak_bytes)
{
    if (peak_bytes > 0)
        fprintf(stream, "  memory      %.1f MiB at most\n", (double)peak_bytes / (1 << 20));
}

static const char *queries(uint64_t count)
{
    return count == 1 ? "query" : "queries";
}

void mr_phrase_stopped(FILE *stream, uint64_t by_time, uint64_t by_memory)
{
    if (by_time + by_memory == 0)
        return;
    const char *separator = "  stopped     ";
    if (by_time > 0) {
        fprintf(stream, "%s%" PRIu64 " %s by time", separator, by_time, queries(by_time));
        separator = ", ";
    }
    if (by_memory > 0)
        fprintf(stream, "%s%" PRIu64 " %s by memory", separator, by_memory, queries(by_memory));
    fputs(": the result may differ on another machine\n", stream);
}

void mr_phrase_rejected(FILE *stream, uint64_t count)
{
    if (count > 0)
        fprintf(stream,
                "  %" PRIu64 " witness%s rejected by the checker: this is a bug of maxrace, please "
                "report it\n",
                count, count == 1 ? "" : "es");
}

mr_status mr_report_write_failed(const char *path, mr_error *error)
{
    return mr_error_set(error, MR_ERR_IO, path, 0, "cannot write the report: %s",
                        strerror(errno != 0 ? errno : EIO));
}

mr_status mr_report_finish(FILE *stream, const mr_config *config, mr_status status, mr_error *error)
{
    if (status != MR_OK || (fflush(stream) == 0 && !ferror(stream)))
        return status;
    return mr_report_write_failed(mr_config_text(config, "output"), error);
}

static const char *step_text(mr_step step)
{
    switch (step) {
    case MR_STEP_LINEARISE:
        return "the required events in trace order (linearise)";
    case MR_STEP_GREEDY:
        return "running what can run, in trace order (greedy)";
    case MR_STEP_SATURATE:
        return "propagation and search (saturate)";
    case MR_STEP_EXPLORE:
        return "the states that reorderings lead to (explore)";
    case MR_STEP_LAZY:
        return "the solver, with clauses by and by (lazy)";
    case MR_STEP_Z3:
        return "the solver (z3)";
    case MR_STEP_FAR:
        return "a window of its own (far)";
    case MR_STEP_FILTER:
    case MR_STEP_CONE:
    case MR_STEP_ELIMINATE:
    case MR_STEP_COUNT:
        break;
    }
    return mr_step_name(step);
}

void mr_phrase_confirmed(FILE *stream, mr_confirmed confirmed, const char *effect)
{
    if (confirmed != MR_CONFIRMED_NOT_ASKED)
        fprintf(stream, "  replay  confirmed: %s%s%s\n", mr_confirmed_name(confirmed),
                effect ? "; " : "", effect ? effect : "");
}

void mr_phrase_found_by(FILE *stream, mr_step step)
{
    fprintf(stream, "  witness found by %s; accepted by the checker\n", step_text(step));
}
