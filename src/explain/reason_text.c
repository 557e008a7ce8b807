#include "reason_text.h"

#include <inttypes.h>

static const char *thread_of(const mr_trace *trace, uint32_t event)
{
    return mr_names_display(&trace->threads, trace->thread[event]);
}

static const char *place_of(const mr_trace *trace, uint32_t event)
{
    return mr_names_display(&trace->locations, trace->location[event]);
}

void mr_explain_event(FILE *stream, const mr_trace *trace, uint32_t event)
{
    char op[128];
    mr_trace_print_op(trace, event, true, op, sizeof op);
    fprintf(stream, "%s by %s at %s, event %" PRIu32, op, thread_of(trace, event),
            place_of(trace, event), event);
}

static void print_line(FILE *stream, const char *head, const mr_trace *trace, uint32_t event)
{
    fprintf(stream, "    %s", head);
    mr_explain_event(stream, trace, event);
    fputc('\n', stream);
}

static void print_link(FILE *stream, const mr_trace *trace, mr_reason_link link)
{
    uint8_t op = trace->op[link.event];
    print_line(stream, "then ", trace, link.event);
    if (link.from == link.event)
        return;
    fprintf(stream, "      which %s ",
            mr_op_reads(op)            ? "must see what was written by"
            : MR_OP_DOES(op, MR_TAKES) ? "takes the unit given by"
            : MR_OP_DOES(op, MR_JOINS) ? "waits for the end of the thread:"
                                       : "comes after");
    mr_explain_event(stream, trace, link.from);
    fputc('\n', stream);
}

static void print_cause(FILE *stream, const mr_trace *trace, mr_reason_cause cause)
{
    bool all = cause.name == MR_NONE;
    switch (cause.kind) {
    case MR_RELAXED_READS:
        if (all)
            fputs("what all reads must see", stream);
        else
            fprintf(stream, "what reads of %s must see",
                    mr_names_display(&trace->variables, cause.name));
        break;
    case MR_RELAXED_LOCK:
        if (all)
            fputs("all locks", stream);
        else
            fprintf(stream, "the lock %s", mr_names_display(&trace->locks, cause.name));
        break;
    case MR_RELAXED_SEMAPHORES:
        if (all)
            fputs("all semaphores", stream);
        else
            fprintf(stream, "the semaphore %s", mr_names_display(&trace->locks, cause.name));
        break;
    case MR_RELAXED_CALLS:
        fputs("the calls that were not recorded", stream);
        break;
    }
}

static void print_causes(FILE *stream, const mr_trace *trace, const mr_reason *reason)
{
    for (uint32_t i = 0; i < reason->cause_count; i++) {
        fputs("    it would be a race without ", stream);
        print_cause(stream, trace, reason->causes[i]);
        fputc('\n', stream);
    }
    if (!reason->cause_count && !reason->causes_cut)
        fputs("    no single kind of constraint keeps them apart: reads, locks and the others do "
              "together\n",
              stream);
    if (reason->causes_cut)
        fputs("    there may be more such causes: not all could be tried\n", stream);
}

static void print_lock(FILE *stream, const mr_trace *trace, const mr_reason *reason)
{
    print_line(stream, "", trace, reason->first);
    print_line(stream, "  holds it since ", trace, reason->first_acquire);
    print_line(stream, "", trace, reason->second);
    print_line(stream, "  holds it since ", trace, reason->second_acquire);
}

static void print_way(FILE *stream, const mr_trace *trace, const mr_reason *reason)
{
    print_line(stream, "first ", trace, reason->first);
    for (uint32_t i = 0; i < reason->link_count; i++)
        print_link(stream, trace, reason->links[i]);
    if (reason->more_links)
        fputs("    then steps that no single event shows\n", stream);
    print_line(stream, "then ", trace, reason->second);
}

static void print_pair(FILE *stream, const mr_trace *trace, const mr_reason *reason)
{
    print_line(stream, "", trace, reason->first);
    print_line(stream, "", trace, reason->second);
}

void mr_reason_print(FILE *stream, const mr_trace *trace, const mr_reason *reason, uint64_t pairs)
{
    char within[64] = "";
    if (reason->end && (reason->start || reason->end < trace->event_count))
        snprintf(within, sizeof within, ", within events %" PRIu32 " to %" PRIu32, reason->start,
                 reason->end - 1);
    fprintf(stream, "  %" PRIu64 " pair%s of events: ", pairs, pairs == 1 ? "" : "s");
    switch (reason->kind) {
    case MR_REASON_FORK_JOIN:
        fputs("fork and join order them\n", stream);
        print_way(stream, trace, reason);
        break;
    case MR_REASON_LOCK:
        fprintf(stream, "both threads hold %s\n", mr_names_display(&trace->locks, reason->lock));
        print_lock(stream, trace, reason);
        break;
    case MR_REASON_NEEDS:
        fprintf(stream, "the second cannot be reached without the first%s\n", within);
        print_way(stream, trace, reason);
        print_causes(stream, trace, reason);
        break;
    case MR_REASON_PROVEN:
        fprintf(stream, "proven impossible, by %s%s\n", mr_step_name(reason->step), within);
        print_pair(stream, trace, reason);
        print_causes(stream, trace, reason);
        break;
    case MR_REASON_OPEN:
        fprintf(stream, "not decided (%s)%s\n", mr_unknown_reason_name(reason->unanswered), within);
        print_pair(stream, trace, reason);
        break;
    case MR_REASON_NONE:
        fprintf(stream, "a race%s\n", within);
        print_pair(stream, trace, reason);
        break;
    case MR_REASON_COUNT:
        break;
    }
}
