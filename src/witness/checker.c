#include "checker.h"

#include "after.h"
#include "barrier_check.h"
#include "base/assert.h"
#include "goal_check.h"
#include "life_check.h"
#include "replay.h"
#include "requirement.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mr_checker {
    const mr_trace *trace;
    mr_opaque opaque;
    bool by_window;
    bool shares;              /* `required`, `calls` and `lives` are another checker's */
    mr_requirements required; /* what each read must see */
    mr_witness_calls calls;
    mr_witness_lives lives;
    mr_replay state;
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
    if (w->first > w->second && w->kind == MR_WITNESS_RACE)
        return reject(c, w->first, error,
                      "is named as the first access, but the second, event %" PRIu32
                      ", comes before it in the trace",
                      w->second);
    return MR_OK;
}

/* docs/semantics.md 3: by different threads, on the same variable, at least one writes, and not
 * both are atomic. A free is a plain write of all variables of its object. */
static mr_status check_conflict(const mr_checker *c, const mr_witness *w, mr_error *error)
{
    const mr_trace *trace = c->trace;
    const uint32_t accesses[] = {w->first, w->second};
    for (int i = 0; i < 2; i++) {
        if (!mr_op_is_access(trace->op[accesses[i]]) && trace->op[accesses[i]] != MR_OP_FREE)
            return reject(c, accesses[i], error, "is not a read, a write or a free");
    }
    const char *why = NULL;
    bool frees = trace->op[w->first] == MR_OP_FREE || trace->op[w->second] == MR_OP_FREE;
    if (trace->thread[w->first] == trace->thread[w->second])
        why = "they are of the same thread";
    else if (frees)
        why = mr_witness_lives_freed_by(&c->lives, w->first, w->second) ||
                      mr_witness_lives_freed_by(&c->lives, w->second, w->first)
                  ? NULL
                  : "it is not the object of the variable that is freed";
    else if (trace->operand[w->first] != trace->operand[w->second])
        why = "they access different variables";
    else if (!mr_op_writes(trace->op[w->first]) && !mr_op_writes(trace->op[w->second]))
        why = "both read";
    else if (mr_op_is_atomic(trace->op[w->first]) && mr_op_is_atomic(trace->op[w->second]))
        why = "both are atomic";
    if (!why)
        return MR_OK;
    return reject(c, w->second, error, "does not conflict with event %" PRIu32 ": %s", w->first,
                  why);
}

/* docs/semantics.md 7, as `judge` finds it broken. */
static mr_status check_goal(const mr_checker *c, const mr_witness *w, mr_error *error,
                            bool (*judge)(const mr_goal_judge *judge, const mr_witness *witness,
                                          mr_goal_broken *broken))
{
    const mr_goal_judge all = {
        .trace = c->trace, .required = &c->required, .lives = &c->lives, .state = &c->state};
    mr_goal_broken broken = {0};
    return judge(&all, w, &broken) ? reject(c, broken.event, error, "%s", broken.rule) : MR_OK;
}

/* What can be said without replaying anything. */
static mr_status check_claim(const mr_checker *c, const mr_witness *w, mr_error *error)
{
    if (w->window_start > w->window_end || w->window_end > c->trace->event_count)
        return mr_error_set(error, MR_ERR_INTERNAL, NULL, 0,
                            "window [%" PRIu32 ", %" PRIu32
                            "): is not part of the trace, which has %" PRIu64 " events",
                            w->window_start, w->window_end, c->trace->event_count);
    if (w->model != MR_MODEL_RF && w->model != MR_MODEL_VALUE && w->model != MR_MODEL_BRANCH)
        return mr_error_set(error, MR_ERR_INTERNAL, NULL, 0, "model %d: is unknown", (int)w->model);
    if (w->kind != MR_WITNESS_RACE && w->kind != MR_WITNESS_MEMORY_ORDER)
        return check_goal(c, w, error, mr_goal_claim_broken);
    mr_status status = check_accesses(c, w, error);
    return status == MR_OK ? check_conflict(c, w, error) : status;
}

/* Rule 3, first half: a thread's events come after its fork. */
static mr_status check_started(const mr_checker *c, uint32_t event, mr_error *error)
{
    uint32_t fork = c->state.fork[c->trace->thread[event]];
    if (fork == MR_NONE || mr_replay_happened(&c->state, fork))
        return MR_OK;
    return reject(c, event, error,
                  "its thread is forked by event %" PRIu32 ", which has not happened", fork);
}

/* Rule 7. `late`: it may come after the free. */
static mr_status check_life(const mr_checker *c, uint32_t event, bool late, mr_error *error)
{
    uint32_t alloc = mr_witness_lives_unborn(&c->lives, &c->state, event);
    uint32_t end = late ? MR_NONE : mr_witness_lives_over(&c->lives, &c->state, event);
    if (alloc != MR_NONE)
        return reject(c, event, error,
                      "its object is allocated by event %" PRIu32 ", which has not happened",
                      alloc);
    if (end != MR_NONE)
        return reject(
            c, event, error,
            "its object was freed by event %" PRIu32 ", which comes after it in the trace", end);
    return MR_OK;
}

/* Rules 3, 5 and 7 for an event that is the next one of its thread: they hold for the events that
 * threads stop at, too. */
static mr_status check_ready(const mr_checker *c, uint32_t event, bool late, mr_error *error)
{
    mr_status status = check_started(c, event, error);
    if (status == MR_OK)
        status = check_life(c, event, late, error);
    uint32_t unmet =
        status == MR_OK ? mr_witness_calls_unmet(&c->calls, &c->state, event) : MR_NONE;
    if (unmet == MR_NONE)
        return status;
    return reject(c, event, error,
                  "an opaque call puts event %" PRIu32 " before it, which has not happened", unmet);
}

/* Is it one of the events that threads stop at? */
static bool is_stop(const mr_witness *w, uint32_t event)
{
    uint32_t count;
    const uint32_t *stops = mr_witness_stops(w, &count);
    for (uint32_t i = 0; i < count; i++)
        if (stops[i] == event)
            return true;
    return false;
}

/* Rule 1 and the window, for a listed event. */
static mr_status check_place(const mr_checker *c, const mr_witness *w, uint32_t event,
                             mr_error *error)
{
    if (event < w->window_start || event >= w->window_end)
        return reject(c, event, error, "lies outside the window [%" PRIu32 ", %" PRIu32 ")",
                      w->window_start, w->window_end);
    if (is_stop(w, event))
        return reject(
            c, event, error,
            w->kind == MR_WITNESS_RACE || w->kind == MR_WITNESS_MEMORY_ORDER
                ? "is one of the two accesses, which must not be listed"
                : "is one of the events that are next at the end, which must not be listed");
    if (mr_replay_happened(&c->state, event))
        return reject(c, event, error, "is listed twice");
    uint32_t next = c->state.next[c->trace->thread[event]];
    if (event != next)
        return reject(c, event, error,
                      "comes before event %" PRIu32 " of its thread (program order)", next);
    return check_ready(c, event, false, error);
}

/* Rule 6 where the source counts: the last write must be the same event, or none in both. */
static mr_status check_source(const mr_checker *c, uint32_t read, mr_error *error)
{
    uint32_t now = c->state.variables[c->trace->operand[read]].last_write;
    uint32_t saw = c->required.source[read - c->required.from];
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
    uint32_t now = c->state.variables[trace->operand[read]].last_write;
    int64_t saw = mr_requirement_read(trace, read);
    if (now == MR_NONE && !rule->initial_known)
        return reject(c, read, error, "reads an initial value that is unknown, saw %" PRId64, saw);
    int64_t value = now == MR_NONE ? rule->initial : mr_requirement_written(trace, now);
    if (value == saw)
        return MR_OK;
    return reject(c, read, error, "reads %s%" PRId64 ", saw %" PRId64,
                  now == MR_NONE ? "the initial value " : "", value, saw);
}

/* Rule 6 for a read that must be consistent. */
static mr_status check_read(const mr_checker *c, mr_model model, uint32_t read, mr_error *error)
{
    if (model == MR_MODEL_RF || c->required.rules[c->trace->operand[read]].by_source)
        return check_source(c, read, error);
    return check_value(c, read, error);
}

/* Model `branch`: does the event read something else than it did, or something unknown? */
static bool diverges(const mr_checker *c, mr_model model, uint32_t event)
{
    const mr_trace *trace = c->trace;
    if (model != MR_MODEL_BRANCH || !mr_op_reads(trace->op[event]))
        return false;
    return c->state.variables[trace->operand[event]].unknown ||
           check_read(c, model, event, NULL) != MR_OK;
}

/* Rule 6 in the model `branch`: what a thread decides after it has diverged, nobody knows. */
static mr_status check_decision(const mr_checker *c, uint32_t event, mr_error *error)
{
    uint32_t read = c->state.diverged[c->trace->thread[event]];
    if (read == MR_NONE)
        return MR_OK;
    return reject(c, event, error,
                  "depends on what event %" PRIu32
                  " of its thread read, which is not what it saw in the trace",
                  read);
}

/* Rule 2 for an exclusive acquire or release. An inner one of a reentrant lock only counts up or
 * down. */
static mr_status check_lock(const mr_checker *c, uint32_t event, mr_error *error)
{
    const mr_trace *trace = c->trace;
    const mr_lock_now *lock = &c->state.locks[trace->operand[event]];
    bool mine = lock->depth > 0 && lock->owner == trace->thread[event];
    if (mr_op_releases(trace->op[event]))
        return mine ? MR_OK
                    : reject(c, event, error, "releases a lock that its thread does not hold");
    if (!mine && lock->depth > 0)
        return reject(c, event, error, "acquires a lock that thread %.40s holds",
                      trace->threads.items[lock->owner].text);
    uint32_t others = lock->sharers;
    if (others && mr_replay_share_depth(&c->state, event))
        others--;
    if (!others)
        return MR_OK;
    return reject(c, event, error, "acquires a lock that %" PRIu32 " other thread%s shared", others,
                  others == 1 ? " holds" : "s hold");
}

/* Rule 2 for a shared acquire or release. */
static mr_status check_shared_lock(const mr_checker *c, uint32_t event, mr_error *error)
{
    const mr_trace *trace = c->trace;
    const mr_lock_now *lock = &c->state.locks[trace->operand[event]];
    if (mr_op_releases(trace->op[event]))
        return mr_replay_share_depth(&c->state, event)
                   ? MR_OK
                   : reject(c, event, error,
                            "releases a lock that its thread does not hold shared");
    if (!lock->depth || lock->owner == trace->thread[event])
        return MR_OK;
    return reject(c, event, error, "acquires a lock that thread %.40s holds",
                  trace->threads.items[lock->owner].text);
}

/* Rule 3, second half: a join comes after all events of the joined thread. */
static mr_status check_join(const mr_checker *c, uint32_t join, mr_error *error)
{
    /* By windows: it has no events behind the window, as it has none behind the join. */
    uint32_t next = c->state.next[c->trace->operand[join]];
    if (next == MR_NONE || (c->by_window && next == c->state.end))
        return MR_OK;
    return reject(c, join, error, "joins a thread whose event %" PRIu32 " has not happened", next);
}

/* Rules 2, 3, 4 and 6 for a listed event that is ready. */
static mr_status check_operation(const mr_checker *c, mr_model model, uint32_t event,
                                 mr_error *error)
{
    switch ((mr_op)c->trace->op[event]) {
    case MR_OP_READ:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_UPDATE:
        return model == MR_MODEL_BRANCH ? MR_OK : check_read(c, model, event, error);
    case MR_OP_ACQUIRE:
    case MR_OP_RELEASE:
        return check_lock(c, event, error);
    case MR_OP_SHARED_ACQUIRE:
    case MR_OP_SHARED_RELEASE:
        return check_shared_lock(c, event, error);
    case MR_OP_JOIN:
        return check_join(c, event, error);
    case MR_OP_WAIT:
        return c->state.locks[c->trace->operand[event]].units
                   ? MR_OK
                   : reject(c, event, error, "takes a unit of a semaphore that has none");
    case MR_OP_FORK:
    case MR_OP_CALL_BEGIN:
    case MR_OP_BRANCH:
        return check_decision(c, event, error);
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_POST:
    case MR_OP_CALL_END:
    case MR_OP_ALLOC:
    case MR_OP_FREE:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break; /* nothing but what check_ready asks for */
    }
    return MR_OK;
}

/* docs/semantics.md 3: an access must be the next event of its thread, and possible but for what it
 * reads.
 */
static mr_status check_next(const mr_checker *c, uint32_t access, bool late, mr_error *error)
{
    uint32_t next = c->state.next[c->trace->thread[access]];
    if (next != access)
        return reject(c, access, error,
                      "is not the next event of its thread: event %" PRIu32 " has not happened",
                      next);
    return check_ready(c, access, late, error);
}

/* What must be so after the listed events. */
static mr_status check_end(const mr_checker *c, const mr_witness *w, mr_error *error)
{
    uint32_t count;
    const uint32_t *stops = mr_witness_stops(w, &count);
    mr_status status = MR_OK;
    if (w->kind == MR_WITNESS_MEMORY_ORDER && !mr_replay_happened(&c->state, w->first))
        return reject(c, w->first, error, "is the first access, and has not happened");
    for (uint32_t i = 0; i < count && status == MR_OK; i++)
        status = check_next(c, stops[i], w->kind == MR_WITNESS_USE_AFTER_FREE, error);
    return status == MR_OK && w->kind != MR_WITNESS_RACE && w->kind != MR_WITNESS_MEMORY_ORDER
               ? check_goal(c, w, error, mr_goal_end_broken)
               : status;
}

static mr_status replay(mr_checker *c, const mr_witness *w, mr_error *error)
{
    for (uint32_t i = 0; i < w->event_count; i++) {
        uint32_t event = w->events[i];
        mr_status status = check_place(c, w, event, error);
        if (status == MR_OK)
            status = check_operation(c, w->model, event, error);
        if (status != MR_OK)
            return status;
        if (!mr_replay_do(&c->state, event, diverges(c, w->model, event)))
            return mr_error_memory(error, "checking a witness");
    }
    return check_end(c, w, error);
}

/* docs/semantics.md 8, when the events are known to be possible: does nothing order the first access
 * before the second? The state is that of the start of the window. */
static mr_status check_unordered(const mr_checker *c, const mr_witness *w, mr_error *error)
{
    mr_after after;
    bool done = mr_after_init(&after, c->trace, &c->calls, &c->state, w->first);
    for (uint32_t i = 0; done && i < w->event_count; i++)
        done = mr_after_do(&after, w->events[i]);
    bool ordered = done && mr_after_is_before(&after, w->second);
    mr_after_free(&after);
    if (!done)
        return mr_error_memory(error, "checking a witness");
    if (!ordered)
        return MR_OK;
    return reject(c, w->second, error, "event %" PRIu32 " happens before it", w->first);
}

static uint32_t written_before(const void *context, uint32_t variable)
{
    return ((const mr_replay *)context)->variables[variable].last_write;
}

static bool open_window(mr_checker *c, const mr_witness *w)
{
    MR_REQUIRE(w->kind == MR_WITNESS_RACE && w->model == MR_MODEL_RF);
    return mr_requirements_open(&c->required, c->trace, w->window_start, w->window_end,
                                written_before, &c->state) &&
           mr_replay_open(&c->state, w->window_end);
}

mr_status mr_checker_check(mr_checker *c, const mr_witness *witness, mr_error *error)
{
    mr_status status = check_claim(c, witness, error);
    if (status != MR_OK)
        return status;
    mr_replay_seek(&c->state, witness->window_start);
    if (c->by_window && !open_window(c, witness))
        return mr_error_memory(error, "checking a witness");
    status = replay(c, witness, error);
    mr_replay_take_back(&c->state);
    if (status == MR_OK && witness->kind == MR_WITNESS_MEMORY_ORDER)
        status = check_unordered(c, witness, error);
    MR_ASSERT_COSTLY(mr_replay_is_at(&c->state, witness->window_start));
    return status;
}

/* ---- life ---- */

mr_checker *mr_checker_new(const mr_trace *trace, mr_opaque opaque)
{
    mr_checker *c = mr_calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->trace = trace;
    c->opaque = opaque;
    if (mr_requirements_init(&c->required, trace) && mr_replay_init(&c->state, trace) &&
        mr_witness_calls_init(&c->calls, trace, opaque) && mr_witness_lives_init(&c->lives, trace))
        return c;
    mr_checker_free(c);
    return NULL;
}

mr_checker *mr_checker_new_by_window(const mr_trace *trace)
{
    MR_REQUIRE(trace->calls.count == 0);
    mr_checker *c = mr_calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->trace = trace;
    c->by_window = true;
    if (mr_requirements_init_by_window(&c->required, trace) &&
        mr_replay_init_by_window(&c->state, trace) &&
        mr_witness_calls_init(&c->calls, trace, MR_OPAQUE_IGNORE) &&
        mr_witness_lives_init(&c->lives, trace))
        return c;
    mr_checker_free(c);
    return NULL;
}

mr_checker *mr_checker_like(const mr_checker *other)
{
    mr_checker *c = mr_calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->trace = other->trace;
    c->shares = true;
    c->required = other->required;
    c->calls = other->calls;
    c->lives = other->lives;
    if (mr_replay_init_like(&c->state, &other->state))
        return c;
    mr_checker_free(c);
    return NULL;
}

void mr_checker_free(mr_checker *c)
{
    if (!c)
        return;
    if (!c->shares) {
        mr_requirements_free(&c->required);
        mr_witness_calls_free(&c->calls);
        mr_witness_lives_free(&c->lives);
    }
    mr_replay_free(&c->state);
    free(c);
}
