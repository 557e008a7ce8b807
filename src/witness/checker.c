#include "checker.h"

#include "requirement.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct lock_state {
    uint32_t owner; /* thread, when depth > 0 */
    uint32_t depth;
} lock_state;

/* An event that was done, and the last write of its variable before it, to take it back. */
typedef struct undo {
    uint32_t event;
    uint32_t last_write;
} undo;

struct mr_checker {
    const mr_trace *trace;
    mr_requirements required; /* what each read must see */
    uint32_t uncovered;       /* first event that this version cannot judge, or MR_NONE */
    uint32_t *following;      /* event: the next event of its thread, or MR_NONE */
    uint32_t *first_event;    /* thread: its first event, or MR_NONE */
    uint32_t *fork;           /* thread: the event that forks it, or MR_NONE */

    /* The state after the events before `base` as observed, then those in `undos`. */
    uint32_t base;
    uint32_t *next; /* thread: its next event, or MR_NONE */
    lock_state *locks;
    uint32_t *last_write; /* variable: event, or MR_NONE */
    undo *undos;
    size_t undo_count, undo_capacity;
};

/* "event 12 (T1|r(x=3), line 13)"; "event 99" when the trace has no such event. */
static void describe(const mr_trace *trace, uint32_t event, char *buffer, size_t size_bytes)
{
    if (event >= trace->event_count) {
        snprintf(buffer, size_bytes, "event %" PRIu32, event);
        return;
    }
    char op[80];
    mr_trace_print_op(trace, event, false, op, sizeof op);
    snprintf(buffer, size_bytes, "event %" PRIu32 " (%.40s|%s, line %" PRIu64 ")", event,
             trace->threads.items[trace->thread[event]].text, op, mr_trace_line(trace, event));
}

static mr_status reject(const mr_checker *c, uint32_t event, mr_error *error, const char *format,
                        ...) __attribute__((format(printf, 4, 5)));

/* The witness is wrong at `event`: puts the event before the rule that it breaks. */
static mr_status reject(const mr_checker *c, uint32_t event, mr_error *error, const char *format,
                        ...)
{
    char name[192], rule[384];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(rule, sizeof rule, format, arguments);
    va_end(arguments);
    describe(c->trace, event, name, sizeof name);
    uint64_t line = event < c->trace->event_count ? mr_trace_line(c->trace, event) : 0;
    return mr_error_set(error, MR_ERR_INTERNAL, NULL, line, "%s: %s", name, rule);
}

/* ---- the state ---- */

static bool happened(const mr_checker *c, uint32_t event)
{
    return event < c->next[c->trace->thread[event]];
}

/* Does the event, which must be possible. */
static void apply(mr_checker *c, uint32_t event)
{
    const mr_trace *trace = c->trace;
    uint32_t thread = trace->thread[event], operand = trace->operand[event];
    c->next[thread] = c->following[event];
    if (trace->op[event] == MR_OP_WRITE) {
        c->last_write[operand] = event;
    } else if (trace->op[event] == MR_OP_ACQUIRE) {
        c->locks[operand].owner = thread;
        c->locks[operand].depth++;
    } else if (trace->op[event] == MR_OP_RELEASE && c->locks[operand].depth > 0) {
        c->locks[operand].depth--;
    }
}

static void take_back(mr_checker *c, undo last)
{
    const mr_trace *trace = c->trace;
    uint32_t thread = trace->thread[last.event], operand = trace->operand[last.event];
    c->next[thread] = last.event;
    if (trace->op[last.event] == MR_OP_WRITE) {
        c->last_write[operand] = last.last_write;
    } else if (trace->op[last.event] == MR_OP_ACQUIRE) {
        c->locks[operand].depth--;
    } else if (trace->op[last.event] == MR_OP_RELEASE) {
        c->locks[operand].owner = thread;
        c->locks[operand].depth++;
    }
}

static void reset(mr_checker *c)
{
    const mr_trace *trace = c->trace;
    memcpy(c->next, c->first_event, trace->threads.count * sizeof *c->next);
    memset(c->locks, 0, trace->locks.count * sizeof *c->locks);
    for (uint32_t x = 0; x < trace->variables.count; x++)
        c->last_write[x] = MR_NONE;
    c->base = 0;
}

/* Brings the state to the start of a window. */
static void seek(mr_checker *c, uint32_t window_start)
{
    if (window_start < c->base)
        reset(c);
    while (c->base < window_start)
        apply(c, c->base++);
}

/* ---- the rules ---- */

/* The two accesses as numbers: in the window, in order. */
static mr_status check_accesses(const mr_checker *c, const mr_witness *w, mr_error *error)
{
    const uint32_t accesses[] = {w->first, w->second};
    for (int i = 0; i < 2; i++) {
        if (accesses[i] < w->window_start || accesses[i] >= w->window_end)
            return reject(c, accesses[i], error,
                          "lies outside the window [%" PRIu32 ", %" PRIu32 ")", w->window_start,
                          w->window_end);
    }
    if (w->first == w->second)
        return reject(c, w->first, error, "is named as both accesses");
    if (w->first > w->second)
        return reject(c, w->first, error,
                      "is named as the first access, but the second, event %" PRIu32
                      ", comes before it in the trace",
                      w->second);
    return MR_OK;
}

/* docs/semantics.md 3: by different threads, on the same variable, at least one writes. */
static mr_status check_conflict(const mr_checker *c, const mr_witness *w, mr_error *error)
{
    const mr_trace *trace = c->trace;
    const uint32_t accesses[] = {w->first, w->second};
    for (int i = 0; i < 2; i++) {
        uint8_t op = trace->op[accesses[i]];
        if (op != MR_OP_READ && op != MR_OP_WRITE)
            return reject(c, accesses[i], error, "is not a read or write of a variable");
    }
    const char *why = NULL;
    if (trace->thread[w->first] == trace->thread[w->second])
        why = "they are of the same thread";
    else if (trace->operand[w->first] != trace->operand[w->second])
        why = "they access different variables";
    else if (trace->op[w->first] == MR_OP_READ && trace->op[w->second] == MR_OP_READ)
        why = "both read";
    if (!why)
        return MR_OK;
    return reject(c, w->second, error, "does not conflict with event %" PRIu32 ": %s", w->first,
                  why);
}

/* What can be said without replaying anything. */
static mr_status check_claim(const mr_checker *c, const mr_witness *w, mr_error *error)
{
    if (c->uncovered != MR_NONE) {
        reject(c, c->uncovered, error, "operation '%s' is not covered by the checker",
               mr_op_name((mr_op)c->trace->op[c->uncovered]));
        if (error)
            error->status = MR_ERR_UNSUPPORTED;
        return MR_ERR_UNSUPPORTED;
    }
    if (w->window_start > w->window_end || w->window_end > c->trace->event_count)
        return mr_error_set(error, MR_ERR_INTERNAL, NULL, 0,
                            "window [%" PRIu32 ", %" PRIu32
                            "): is not part of the trace, which has %" PRIu32 " events",
                            w->window_start, w->window_end, c->trace->event_count);
    if (w->model != MR_MODEL_RF && w->model != MR_MODEL_VALUE)
        return mr_error_set(error, MR_ERR_INTERNAL, NULL, 0, "model %d: is unknown", (int)w->model);
    mr_status status = check_accesses(c, w, error);
    return status == MR_OK ? check_conflict(c, w, error) : status;
}

/* Rule 3, first half: a thread's events come after its fork. */
static mr_status check_started(const mr_checker *c, uint32_t event, mr_error *error)
{
    uint32_t fork = c->fork[c->trace->thread[event]];
    if (fork == MR_NONE || happened(c, fork))
        return MR_OK;
    return reject(c, event, error,
                  "its thread is forked by event %" PRIu32 ", which has not happened", fork);
}

/* Rule 1 and the window, for a listed event. */
static mr_status check_place(const mr_checker *c, const mr_witness *w, uint32_t event,
                             mr_error *error)
{
    if (event < w->window_start || event >= w->window_end)
        return reject(c, event, error, "lies outside the window [%" PRIu32 ", %" PRIu32 ")",
                      w->window_start, w->window_end);
    if (event == w->first || event == w->second)
        return reject(c, event, error, "is one of the two accesses, which must not be listed");
    if (happened(c, event))
        return reject(c, event, error, "is listed twice");
    uint32_t next = c->next[c->trace->thread[event]];
    if (event != next)
        return reject(c, event, error,
                      "comes before event %" PRIu32 " of its thread (program order)", next);
    return check_started(c, event, error);
}

/* Rule 6 where the source counts: the last write must be the same event, or none in both. */
static mr_status check_source(const mr_checker *c, uint32_t read, mr_error *error)
{
    uint32_t now = c->last_write[c->trace->operand[read]], saw = c->required.source[read];
    if (now == saw)
        return MR_OK;
    if (now == MR_NONE)
        return reject(c, read, error, "reads no write, saw that of event %" PRIu32, saw);
    if (saw == MR_NONE)
        return reject(c, read, error, "reads the write of event %" PRIu32 ", saw none", now);
    return reject(c, read, error,
                  "reads the write of event %" PRIu32 ", saw that of event %" PRIu32, now, saw);
}

/* Rule 6 where the value counts. */
static mr_status check_value(const mr_checker *c, uint32_t read, mr_error *error)
{
    const mr_trace *trace = c->trace;
    const mr_variable_rule *rule = &c->required.rules[trace->operand[read]];
    uint32_t now = c->last_write[trace->operand[read]];
    int64_t saw = trace->values[trace->value[read]];
    if (now == MR_NONE && !rule->initial_known)
        return reject(c, read, error, "reads an initial value that is unknown, saw %" PRId64, saw);
    int64_t value = now == MR_NONE ? rule->initial : trace->values[trace->value[now]];
    if (value == saw)
        return MR_OK;
    return reject(c, read, error, "reads %s%" PRId64 ", saw %" PRId64,
                  now == MR_NONE ? "the initial value " : "", value, saw);
}

/* Rule 2. An inner acquire or release of a reentrant lock only counts up or down. */
static mr_status check_lock(const mr_checker *c, uint32_t event, mr_error *error)
{
    const mr_trace *trace = c->trace;
    lock_state lock = c->locks[trace->operand[event]];
    bool mine = lock.depth > 0 && lock.owner == trace->thread[event];
    if (trace->op[event] == MR_OP_RELEASE)
        return mine ? MR_OK
                    : reject(c, event, error, "releases a lock that its thread does not hold");
    if (mine || lock.depth == 0)
        return MR_OK;
    return reject(c, event, error, "acquires a lock that thread %.40s holds",
                  trace->threads.items[lock.owner].text);
}

/* Rule 3, second half: a join comes after all events of the joined thread. */
static mr_status check_join(const mr_checker *c, uint32_t join, mr_error *error)
{
    uint32_t next = c->next[c->trace->operand[join]];
    if (next == MR_NONE)
        return MR_OK;
    return reject(c, join, error, "joins a thread whose event %" PRIu32 " has not happened", next);
}

static mr_status check_event(const mr_checker *c, const mr_witness *w, uint32_t event,
                             mr_error *error)
{
    mr_status status = check_place(c, w, event, error);
    if (status != MR_OK)
        return status;
    switch (c->trace->op[event]) {
    case MR_OP_READ:
        if (w->model == MR_MODEL_RF || c->required.rules[c->trace->operand[event]].by_source)
            return check_source(c, event, error);
        return check_value(c, event, error);
    case MR_OP_ACQUIRE:
    case MR_OP_RELEASE:
        return check_lock(c, event, error);
    case MR_OP_JOIN:
        return check_join(c, event, error);
    default:
        return MR_OK;
    }
}

/* docs/semantics.md 3: an access must be the next event of its thread, and possible but for what it
 * reads.
 */
static mr_status check_next(const mr_checker *c, uint32_t access, mr_error *error)
{
    uint32_t next = c->next[c->trace->thread[access]];
    if (next != access)
        return reject(c, access, error,
                      "is not the next event of its thread: event %" PRIu32 " has not happened",
                      next);
    return check_started(c, access, error);
}

static mr_status replay(mr_checker *c, const mr_witness *w, mr_error *error)
{
    for (uint32_t i = 0; i < w->event_count; i++) {
        uint32_t event = w->events[i];
        mr_status status = check_event(c, w, event, error);
        if (status != MR_OK)
            return status;
        if (!mr_grow((void **)&c->undos, &c->undo_capacity, c->undo_count + 1, sizeof *c->undos))
            return mr_error_memory(error, "checking a witness");
        bool write = c->trace->op[event] == MR_OP_WRITE;
        uint32_t last = write ? c->last_write[c->trace->operand[event]] : MR_NONE;
        c->undos[c->undo_count++] = (undo){event, last};
        apply(c, event);
    }
    mr_status status = check_next(c, w->first, error);
    return status == MR_OK ? check_next(c, w->second, error) : status;
}

mr_status mr_checker_check(mr_checker *c, const mr_witness *witness, mr_error *error)
{
    mr_status status = check_claim(c, witness, error);
    if (status != MR_OK)
        return status;
    seek(c, witness->window_start);
    status = replay(c, witness, error);
    while (c->undo_count > 0)
        take_back(c, c->undos[--c->undo_count]);
    return status;
}

/* ---- life ---- */

static void index_events(mr_checker *c)
{
    const mr_trace *trace = c->trace;
    for (uint32_t t = 0; t < trace->threads.count; t++)
        c->first_event[t] = c->fork[t] = MR_NONE;
    /* Backwards, so that `first_event` is at each point the next one of the thread, and the first
     * fork stays. */
    for (uint32_t e = trace->event_count; e-- > 0;) {
        uint32_t thread = trace->thread[e];
        c->following[e] = c->first_event[thread];
        c->first_event[thread] = e;
        if (trace->op[e] == MR_OP_FORK)
            c->fork[trace->operand[e]] = e;
        if (!mr_op_covered((mr_op)trace->op[e]))
            c->uncovered = e;
    }
}

mr_checker *mr_checker_new(const mr_trace *trace)
{
    mr_checker *c = mr_calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->trace = trace;
    c->uncovered = MR_NONE;
    c->following = mr_calloc(trace->event_count, sizeof *c->following);
    c->first_event = mr_calloc(trace->threads.count, sizeof *c->first_event);
    c->fork = mr_calloc(trace->threads.count, sizeof *c->fork);
    c->next = mr_calloc(trace->threads.count, sizeof *c->next);
    c->locks = mr_calloc(trace->locks.count, sizeof *c->locks);
    c->last_write = mr_calloc(trace->variables.count, sizeof *c->last_write);
    if (!c->following || !c->first_event || !c->fork || !c->next || !c->locks || !c->last_write ||
        !mr_requirements_init(&c->required, trace)) {
        mr_checker_free(c);
        return NULL;
    }
    index_events(c);
    reset(c);
    return c;
}

void mr_checker_free(mr_checker *c)
{
    if (!c)
        return;
    mr_requirements_free(&c->required);
    free(c->following);
    free(c->first_event);
    free(c->fork);
    free(c->next);
    free(c->locks);
    free(c->last_write);
    free(c->undos);
    free(c);
}
