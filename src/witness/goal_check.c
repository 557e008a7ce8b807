#include "goal_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static bool broken_by(mr_goal_broken *broken, uint32_t event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool broken_by(mr_goal_broken *broken, uint32_t event, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(broken->rule, sizeof broken->rule, format, arguments);
    va_end(arguments);
    broken->event = event;
    return true;
}

/* ---- claims ---- */

static bool stops_broken(const mr_goal_judge *judge, const mr_witness *w, mr_goal_broken *broken)
{
    const mr_trace *trace = judge->trace;
    uint32_t count;
    const uint32_t *stops = mr_witness_stops(w, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (stops[i] < w->window_start || stops[i] >= w->window_end)
            return broken_by(broken, stops[i], "lies outside the window [%" PRIu32 ", %" PRIu32 ")",
                             w->window_start, w->window_end);
        for (uint32_t k = 0; k < i; k++)
            if (trace->thread[stops[k]] == trace->thread[stops[i]])
                return broken_by(broken, stops[i], "is of the same thread as event %" PRIu32,
                                 stops[k]);
    }
    return false;
}

static bool use_broken(const mr_goal_judge *judge, const mr_witness *w, mr_goal_broken *broken)
{
    const mr_trace *trace = judge->trace;
    if (w->first >= trace->event_count || trace->op[w->first] != MR_OP_FREE)
        return broken_by(broken, w->first, "is not a free");
    if (!mr_witness_lives_freed_by(judge->lives, w->second, w->first))
        return broken_by(broken, w->second,
                         "is not an access of the object that event %" PRIu32 " frees", w->first);
    if (trace->thread[w->first] == trace->thread[w->second])
        return broken_by(broken, w->second, "is of the thread that frees");
    if (w->first < w->second)
        return broken_by(broken, w->second, "comes after event %" PRIu32 " in the trace", w->first);
    return false;
}

static bool waits_broken(const mr_goal_judge *judge, const mr_witness *w, mr_goal_broken *broken)
{
    const mr_trace *trace = judge->trace;
    if (w->wait_count < 2)
        return broken_by(broken, w->first, "waits alone");
    for (uint32_t i = 0; i < w->wait_count; i++) {
        if (!mr_op_acquires(trace->op[w->waits[i]]))
            return broken_by(broken, w->waits[i], "is not an acquire");
        if (mr_trace_memory_order(trace, w->waits[i]) == MR_ORDER_TRY)
            return broken_by(broken, w->waits[i], "is a try, which waits for nothing");
        for (uint32_t k = 0; k < i; k++)
            if (trace->operand[w->waits[k]] == trace->operand[w->waits[i]])
                return broken_by(broken, w->waits[i], "acquires the same lock as event %" PRIu32,
                                 w->waits[k]);
    }
    return false;
}

/* Is there a deref of what the read gave its thread? `frees`: followed by a free; any: either way. */
static bool has_deref(const mr_goal_judge *judge, uint32_t read, bool any, bool frees)
{
    const mr_trace *trace = judge->trace;
    const uint32_t *following = judge->state->following;
    for (uint32_t e = following[read]; e != MR_NONE; e = following[e]) {
        if (mr_op_reads(trace->op[e]) && trace->operand[e] == trace->operand[read])
            return false;
        if (trace->op[e] != MR_OP_DEREF || trace->operand[e] != trace->operand[read])
            continue;
        bool freed = following[e] != MR_NONE && trace->op[following[e]] == MR_OP_FREE;
        if (any || freed == frees)
            return true;
    }
    return false;
}

static bool pointer_broken(const mr_goal_judge *judge, const mr_witness *w, mr_goal_broken *broken)
{
    const mr_trace *trace = judge->trace;
    uint32_t read = w->second;
    if (!mr_op_reads(trace->op[read]))
        return broken_by(broken, read, "is not a read");
    if (w->kind == MR_WITNESS_SEES)
        return false;
    if (judge->required->rules[trace->operand[read]].by_source)
        return broken_by(broken, read, "is of a variable whose values are not known");
    if (!has_deref(judge, read, w->kind == MR_WITNESS_NULL, w->kind == MR_WITNESS_DOUBLE_FREE))
        return broken_by(broken, read,
                         w->kind == MR_WITNESS_DOUBLE_FREE
                             ? "gives its thread nothing that it then frees"
                             : "gives its thread nothing that it then uses as an address");
    if (w->kind == MR_WITNESS_NULL && mr_requirement_read(trace, read) == 0)
        return broken_by(broken, read, "saw 0 in the trace");
    return false;
}

bool mr_goal_claim_broken(const mr_goal_judge *judge, const mr_witness *w, mr_goal_broken *broken)
{
    if (stops_broken(judge, w, broken))
        return true;
    switch (w->kind) {
    case MR_WITNESS_USE_AFTER_FREE:
        return use_broken(judge, w, broken);
    case MR_WITNESS_DEADLOCK:
        return waits_broken(judge, w, broken);
    case MR_WITNESS_NULL:
    case MR_WITNESS_DANGLING:
    case MR_WITNESS_DOUBLE_FREE:
    case MR_WITNESS_SEES:
        return pointer_broken(judge, w, broken);
    case MR_WITNESS_RACE:
    case MR_WITNESS_MEMORY_ORDER:
    case MR_WITNESS_KINDS:
        break;
    }
    return broken_by(broken, w->first, "is of a witness of an unknown kind");
}

/* ---- the end ---- */

/* Does the thread hold the lock so that the acquire cannot be? */
static bool excludes(const mr_goal_judge *judge, uint32_t thread, uint32_t acquire)
{
    const mr_trace *trace = judge->trace;
    uint32_t lock = trace->operand[acquire];
    const mr_lock_now *now = &judge->state->locks[lock];
    if (now->depth > 0 && now->owner == thread)
        return true;
    return !mr_op_is_shared(trace->op[acquire]) && mr_replay_shares(judge->state, lock, thread);
}

static bool cycle_broken(const mr_goal_judge *judge, const mr_witness *w, mr_goal_broken *broken)
{
    for (uint32_t i = 0; i < w->wait_count; i++) {
        uint32_t other = w->waits[(i + 1) % w->wait_count];
        if (!excludes(judge, judge->trace->thread[other], w->waits[i]))
            return broken_by(broken, w->waits[i],
                             "acquires a lock that the thread of event %" PRIu32 " does not hold",
                             other);
    }
    return false;
}

/* Where the object is; false: nobody knows. */
static bool find_extent(const mr_goal_judge *judge, uint32_t object, uint64_t *address,
                        uint64_t *bytes)
{
    const mr_trace *trace = judge->trace;
    uint32_t alloc = judge->lives->alloc[object];
    uint32_t value = alloc == MR_NONE ? 0 : trace->value[alloc];
    if (!value)
        return false;
    *address = (uint64_t)trace->values[trace->updates[value].read_value];
    *bytes = (uint64_t)trace->values[trace->updates[value].written_value];
    return true;
}

/* Has the event happened: at the end, or before `until` in the trace when that is not MR_NONE? */
static bool is_past(const mr_goal_judge *judge, uint32_t event, uint32_t until)
{
    if (event == MR_NONE)
        return false;
    return until == MR_NONE ? mr_replay_happened(judge->state, event) : event < until;
}

/* Is some object that contains the address freed, and does none live? `*freed`: is `free` that of one
 * of them, and past? */
static bool dangles(const mr_goal_judge *judge, uint64_t value, uint32_t until, uint32_t end,
                    bool *freed)
{
    bool one = false;
    *freed = false;
    for (uint32_t object = 0; object < judge->trace->objects.count; object++) {
        uint64_t address, bytes;
        if (!find_extent(judge, object, &address, &bytes) || value < address ||
            value - address >= bytes)
            continue;
        if (is_past(judge, judge->lives->free[object], until)) {
            one = true;
            *freed |= judge->lives->free[object] == end;
        } else if (is_past(judge, judge->lives->alloc[object], until)) {
            return false;
        }
    }
    return one;
}

/* Was it so before the read in the trace? */
static bool dangled(const mr_goal_judge *judge, uint32_t read)
{
    uint32_t source = judge->required->source[read];
    bool freed;
    return source != MR_NONE &&
           dangles(judge, (uint64_t)mr_requirement_written(judge->trace, source), read, MR_NONE,
                   &freed);
}

static bool last_write_broken(const mr_goal_judge *judge, const mr_witness *w,
                              mr_goal_broken *broken)
{
    const mr_trace *trace = judge->trace;
    const mr_variable_now *now = &judge->state->variables[trace->operand[w->second]];
    const mr_variable_rule *rule = &judge->required->rules[trace->operand[w->second]];
    bool freed;
    if (now->last_write != w->first)
        return broken_by(broken, w->second, "would not see event %" PRIu32, w->first);
    if (w->kind == MR_WITNESS_SEES)
        return w->first == MR_NONE ? broken_by(broken, w->second, "would see no write") : false;
    if (now->last_write == MR_NONE)
        return w->kind == MR_WITNESS_NULL && rule->initial_known && rule->initial == 0
                   ? false
                   : broken_by(broken, w->second, "would see no write");
    if (now->unknown)
        return broken_by(broken, w->first, "writes nobody knows what");
    int64_t value = mr_requirement_written(trace, now->last_write);
    if (w->kind == MR_WITNESS_NULL)
        return value != 0 ? broken_by(broken, w->first, "does not write 0") : false;
    if (!dangles(judge, (uint64_t)value, MR_NONE, w->freed, &freed))
        return broken_by(broken, w->first, "does not write the address of a freed object");
    if (!freed)
        return broken_by(broken, w->freed, "does not free an object that contains the address");
    if (dangled(judge, w->second))
        return broken_by(broken, w->second, "saw the address of a freed object in the trace");
    return false;
}

bool mr_goal_end_broken(const mr_goal_judge *judge, const mr_witness *w, mr_goal_broken *broken)
{
    switch (w->kind) {
    case MR_WITNESS_USE_AFTER_FREE:
        if (mr_replay_happened(judge->state, w->first))
            return false;
        return broken_by(broken, w->first, "is the free, and has not happened");
    case MR_WITNESS_DEADLOCK:
        return cycle_broken(judge, w, broken);
    case MR_WITNESS_NULL:
    case MR_WITNESS_DANGLING:
    case MR_WITNESS_DOUBLE_FREE:
    case MR_WITNESS_SEES:
        return last_write_broken(judge, w, broken);
    case MR_WITNESS_RACE:
    case MR_WITNESS_MEMORY_ORDER:
    case MR_WITNESS_KINDS:
        break;
    }
    return false;
}
