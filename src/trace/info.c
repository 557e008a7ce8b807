#include "info.h"

#include "base/keys.h"

#include <stdarg.h>
#include <stdlib.h>

/* A shared hold of a lock by a thread. */
typedef struct shared_hold {
    uint32_t acquire, depth; /* `acquire` is the outermost one while depth > 0 */
} shared_hold;

typedef struct info_pass {
    const mr_trace *trace;
    mr_trace_info *info;
    uint32_t *user; /* thread of a variable's first access, MR_NONE: none, MR_NESTED: several */
    uint32_t *section_depth; /* sections open, per thread */
    mr_keys share_keys;      /* (lock, thread) → number in `shares` */
    shared_hold *shares;
    size_t share_capacity;
} info_pass;

static void count_access(info_pass *pass, uint32_t event, bool reads, bool writes)
{
    const mr_trace *trace = pass->trace;
    uint32_t *user = &pass->user[trace->operand[event]];
    pass->info->reads += reads;
    pass->info->writes += writes;
    pass->info->accesses_without_value += !trace->value[event];
    if (*user == MR_NONE) {
        *user = trace->thread[event];
    } else if (*user != MR_NESTED && *user != trace->thread[event]) {
        *user = MR_NESTED;
        pass->info->shared_variables++;
    }
}

static void open_section(info_pass *pass, uint32_t event)
{
    uint32_t depth = ++pass->section_depth[pass->trace->thread[event]];
    pass->info->open_sections++;
    if (depth > pass->info->deepest_nesting) {
        pass->info->deepest_nesting = depth;
        pass->info->deepest_event = event;
    }
}

static void close_section(info_pass *pass, uint32_t acquire, uint32_t release)
{
    mr_section *longest = &pass->info->longest;
    pass->section_depth[pass->trace->thread[release]]--;
    pass->info->open_sections--;
    if (longest->acquire == MR_NONE || release - acquire > longest->release - longest->acquire)
        *longest = (mr_section){pass->trace->operand[release], acquire, release};
}

/* The shared hold of the event's lock by its thread, made when new. NULL: no memory. */
static shared_hold *find_share(info_pass *pass, uint32_t event)
{
    uint64_t key = (uint64_t)pass->trace->operand[event] << 32 | pass->trace->thread[event];
    uint32_t known = pass->share_keys.count, number;
    void *shares = pass->shares;
    if (!mr_grow(&shares, &pass->share_capacity, (size_t)known + 2, sizeof *pass->shares))
        return NULL;
    pass->shares = shares;
    if (!mr_keys_add(&pass->share_keys, key, &number))
        return NULL;
    if (number > known)
        pass->shares[number] = (shared_hold){0};
    return &pass->shares[number];
}

static bool count_shared(info_pass *pass, uint32_t event)
{
    shared_hold *hold = find_share(pass, event);
    if (!hold)
        return false;
    if (mr_op_acquires(pass->trace->op[event])) {
        if (!hold->depth++) {
            hold->acquire = event;
            open_section(pass, event);
        }
    } else if (!--hold->depth) {
        close_section(pass, hold->acquire, event);
    }
    return true;
}

static bool count_event(info_pass *pass, uint32_t event)
{
    const mr_trace *trace = pass->trace;
    switch ((mr_op)trace->op[event]) {
    case MR_OP_READ:
    case MR_OP_ATOMIC_READ:
        count_access(pass, event, true, false);
        return true;
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_WRITE:
        count_access(pass, event, false, true);
        return true;
    case MR_OP_ATOMIC_UPDATE:
        count_access(pass, event, true, true);
        return true;
    case MR_OP_ACQUIRE:
        if (trace->link[event] != MR_NESTED)
            open_section(pass, event);
        return true;
    case MR_OP_RELEASE:
        if (trace->link[event] != MR_NESTED)
            close_section(pass, trace->link[event], event);
        return true;
    case MR_OP_SHARED_ACQUIRE:
    case MR_OP_SHARED_RELEASE:
        return count_shared(pass, event);
    case MR_OP_FORK:
    case MR_OP_JOIN:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_POST:
    case MR_OP_WAIT:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_ALLOC:
    case MR_OP_FREE:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break;
    }
    return true;
}

static bool run(info_pass *pass)
{
    const mr_trace *trace = pass->trace;
    pass->user = mr_malloc(0, trace->variables.count * sizeof *pass->user);
    pass->section_depth = mr_calloc(trace->threads.count, sizeof *pass->section_depth);
    if (!pass->user || !pass->section_depth)
        return false;
    for (uint32_t i = 0; i < trace->variables.count; i++)
        pass->user[i] = MR_NONE;
    for (uint32_t event = 0; event < trace->event_count; event++) {
        mr_trace_pass(trace, event);
        if (event && trace->thread[event] != trace->thread[event - 1])
            pass->info->context_switches++;
        if (!count_event(pass, event))
            return false;
    }
    return true;
}

mr_status mr_trace_info_compute(const mr_trace *trace, mr_trace_info *info, mr_error *error)
{
    *info = (mr_trace_info){.longest = {.acquire = MR_NONE, .release = MR_NONE},
                            .deepest_event = MR_NONE};
    info_pass pass = {.trace = trace, .info = info};
    bool done = run(&pass);
    free(pass.user);
    free(pass.section_depth);
    free(pass.shares);
    mr_keys_free(&pass.share_keys);
    return done ? MR_OK : mr_error_memory(error, "counting the events of the trace");
}

static void fact(FILE *stream, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void fact(FILE *stream, const char *label, const char *format, ...)
{
    fprintf(stream, "%-28s", label);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stream, format, arguments);
    va_end(arguments);
    fputc('\n', stream);
}

static void count_fact(FILE *stream, const char *label, uint64_t count)
{
    fact(stream, label, "%llu", (unsigned long long)count);
}

static void print_names(FILE *stream, const mr_trace *trace, const mr_trace_info *info)
{
    count_fact(stream, "threads", trace->threads.count);
    count_fact(stream, "locks and semaphores", trace->locks.count);
    count_fact(stream, "variables", trace->variables.count);
    count_fact(stream, "  of two threads or more", info->shared_variables);
    count_fact(stream, "  compared by source", trace->by_source_count);
    count_fact(stream, "locations", trace->locations.count);
    if (trace->objects.count)
        count_fact(stream, "objects", trace->objects.count);
}

static void print_operations(FILE *stream, const mr_trace *trace, const mr_trace_info *info)
{
    count_fact(stream, "reads", info->reads);
    count_fact(stream, "writes", info->writes);
    count_fact(stream, "accesses without a value", info->accesses_without_value);
    fputs("operations\n", stream);
    for (int op = 0; op < MR_OP_COUNT; op++) {
        char label[32];
        snprintf(label, sizeof label, "  %s", mr_op_name((mr_op)op));
        if (trace->op_counts[op])
            count_fact(stream, label, trace->op_counts[op]);
    }
}

static void print_sections(FILE *stream, const mr_trace *trace, const mr_trace_info *info)
{
    const mr_section *longest = &info->longest;
    if (longest->acquire == MR_NONE)
        fact(stream, "longest critical section", "none");
    else
        fact(stream, "longest critical section", "%u events, lock %s, lines %llu to %llu",
             longest->release - longest->acquire + 1,
             mr_names_display(&trace->locks, longest->lock),
             (unsigned long long)mr_trace_line(trace, longest->acquire),
             (unsigned long long)mr_trace_line(trace, longest->release));
    if (info->deepest_event == MR_NONE)
        fact(stream, "deepest lock nesting", "0");
    else
        fact(stream, "deepest lock nesting", "%u, line %llu", info->deepest_nesting,
             (unsigned long long)mr_trace_line(trace, info->deepest_event));
    count_fact(stream, "locks left open", info->open_sections);
}

static void print_dropped(FILE *stream, const mr_trace *trace)
{
    count_fact(stream, "lines dropped by repair", trace->dropped_count);
    if (!trace->dropped_count)
        return;
    char line[sizeof(mr_error)];
    mr_error_line(&trace->first_dropped, line, sizeof line);
    fact(stream, "  the first", "%s", line);
}

static void print_ending(FILE *stream, const mr_ending *ending)
{
    char text[320];
    if (!mr_ending_is_known(ending))
        return;
    mr_ending_sentence(ending, text, sizeof text);
    fact(stream, "recording", "%s", text[0] != '\0' ? text : "ended with the program, status 0");
    for (const char *at = ending->details; at && *at; at += strcspn(at, "\n") + 1)
        fact(stream, "", "%.*s", (int)strcspn(at, "\n"), at);
    mr_ending_unseen(ending, text, sizeof text);
    if (text[0] != '\0')
        fact(stream, "not recorded", "synchronisation by %s", text);
}

bool mr_trace_info_print(FILE *stream, const mr_trace *trace, const mr_trace_info *info)
{
    fact(stream, "trace", "%s", trace->path);
    count_fact(stream, "events", trace->event_count);
    print_names(stream, trace, info);
    print_operations(stream, trace, info);
    print_sections(stream, trace, info);
    count_fact(stream, "context switches", info->context_switches);
    print_dropped(stream, trace);
    print_ending(stream, &trace->ending);
    return !ferror(stream);
}
