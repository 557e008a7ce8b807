#include "definition.h"

#include "exhaustive.h"

/* The sequence: the events before the window as observed, then those of the witness. */
static uint32_t at(const mr_witness *w, uint32_t i)
{
    return i < w->window_start ? i : w->events[i - w->window_start];
}

static uint32_t length(const mr_witness *w)
{
    return w->window_start + w->event_count;
}

/* Is `event` among the first `n` of the sequence? */
static bool within(const mr_witness *w, uint32_t n, uint32_t event)
{
    for (uint32_t i = 0; i < n; i++) {
        if (at(w, i) == event)
            return true;
    }
    return false;
}

/* Distinct events of the window. */
static bool is_sequence(const mr_trace *trace, const mr_witness *w)
{
    if (w->window_start > w->window_end || w->window_end > trace->event_count)
        return false;
    for (uint32_t i = w->window_start; i < length(w); i++) {
        if (at(w, i) < w->window_start || at(w, i) >= w->window_end || within(w, i, at(w, i)))
            return false;
    }
    return true;
}

/* Rule 1 at a place: what the thread of `event` did earlier in the trace is among the first `n`. */
static bool program_order(const mr_trace *trace, const mr_witness *w, uint32_t n, uint32_t event)
{
    for (uint32_t e = 0; e < event; e++) {
        if (trace->thread[e] == trace->thread[event] && !within(w, n, e))
            return false;
    }
    return true;
}

/* How often the thread holds the lock after the first `n`. */
static int64_t holds(const mr_trace *trace, const mr_witness *w, uint32_t n, uint32_t thread,
                     uint32_t lock)
{
    int64_t depth = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t e = at(w, i);
        if (trace->thread[e] != thread || trace->operand[e] != lock)
            continue;
        depth += trace->op[e] == MR_OP_ACQUIRE;
        depth -= trace->op[e] == MR_OP_RELEASE;
    }
    return depth;
}

/* Rule 2 after the first `n`: no lock is held by two threads. */
static bool locks(const mr_trace *trace, const mr_witness *w, uint32_t n)
{
    for (uint32_t lock = 0; lock < trace->locks.count; lock++) {
        int holders = 0;
        for (uint32_t t = 0; t < trace->threads.count; t++)
            holders += holds(trace, w, n, t, lock) > 0;
        if (holders > 1)
            return false;
    }
    return true;
}

/* Rule 3 for `event` after the first `n`. */
static bool fork_and_join(const mr_trace *trace, const mr_witness *w, uint32_t n, uint32_t event)
{
    for (uint32_t e = 0; e < trace->event_count; e++) {
        bool forks = trace->op[e] == MR_OP_FORK && trace->operand[e] == trace->thread[event];
        bool joined = trace->op[event] == MR_OP_JOIN && trace->thread[e] == trace->operand[event];
        if ((forks || joined) && !within(w, n, e))
            return false;
    }
    return true;
}

static bool writes(const mr_trace *trace, uint32_t event, uint32_t variable)
{
    return trace->op[event] == MR_OP_WRITE && trace->operand[event] == variable;
}

static bool accesses(const mr_trace *trace, uint32_t event, uint32_t variable)
{
    return trace->operand[event] == variable &&
           (trace->op[event] == MR_OP_READ || trace->op[event] == MR_OP_WRITE);
}

/* The last write of the variable before the event in the trace. */
static uint32_t observed_write(const mr_trace *trace, uint32_t event, uint32_t variable)
{
    while (event-- > 0) {
        if (writes(trace, event, variable))
            return event;
    }
    return MR_NONE;
}

static int64_t value_of(const mr_trace *trace, uint32_t event)
{
    return trace->values[trace->value[event]];
}

/* The first read of the variable that has no write before it in the trace. */
static uint32_t initial_read(const mr_trace *trace, uint32_t variable)
{
    for (uint32_t e = 0; e < trace->event_count && !writes(trace, e, variable); e++) {
        if (accesses(trace, e, variable))
            return e;
    }
    return MR_NONE;
}

static bool as_in_rf(const mr_trace *trace, uint32_t variable)
{
    uint32_t initial = initial_read(trace, variable);
    for (uint32_t e = 0; e < trace->event_count; e++) {
        if (!accesses(trace, e, variable))
            continue;
        if (!trace->value[e])
            return true;
        if (trace->op[e] != MR_OP_READ)
            continue;
        uint32_t source = observed_write(trace, e, variable);
        source = source == MR_NONE ? initial : source;
        if (!trace->value[source] || value_of(trace, e) != value_of(trace, source))
            return true;
    }
    return false;
}

/* Rule 6 for a read after the first `n`. */
static bool sees(const mr_trace *trace, const mr_witness *w, uint32_t n, uint32_t read)
{
    uint32_t variable = trace->operand[read], last = MR_NONE;
    for (uint32_t i = 0; i < n; i++) {
        if (writes(trace, at(w, i), variable))
            last = at(w, i);
    }
    if (w->model == MR_MODEL_RF || as_in_rf(trace, variable))
        return last == observed_write(trace, read, variable);
    uint32_t source = last == MR_NONE ? initial_read(trace, variable) : last;
    return source != MR_NONE && value_of(trace, source) == value_of(trace, read);
}

bool mr_definition_reordering(const mr_trace *trace, const mr_witness *w)
{
    if (!is_sequence(trace, w))
        return false;
    for (uint32_t n = w->window_start; n < length(w); n++) {
        uint32_t event = at(w, n);
        if (!program_order(trace, w, n, event) || !locks(trace, w, n + 1) ||
            !fork_and_join(trace, w, n, event))
            return false;
        if (trace->op[event] == MR_OP_READ && !sees(trace, w, n, event))
            return false;
    }
    return true;
}

static bool is_next(const mr_trace *trace, const mr_witness *w, uint32_t access)
{
    uint32_t n = length(w);
    return access >= w->window_start && access < w->window_end && !within(w, n, access) &&
           program_order(trace, w, n, access) && fork_and_join(trace, w, n, access);
}

bool mr_definition_accepts(const mr_trace *trace, const mr_witness *w)
{
    return w->first < w->second && mr_definition_reordering(trace, w) &&
           is_next(trace, w, w->first) && is_next(trace, w, w->second) &&
           mr_exhaustive_conflict(trace, w->first, w->second);
}
