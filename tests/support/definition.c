#include "definition.h"

#include "exhaustive.h"

#include <string.h>

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

/* How often the thread has done `up` to the lock more than `down` after the first `n`. */
static int64_t holds(const mr_trace *trace, const mr_witness *w, uint32_t n, uint32_t thread,
                     uint32_t lock, mr_op up, mr_op down)
{
    int64_t depth = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t e = at(w, i);
        if (trace->thread[e] != thread || trace->operand[e] != lock)
            continue;
        depth += trace->op[e] == up;
        depth -= trace->op[e] == down;
    }
    return depth;
}

/* Rule 2 after the first `n`: who holds a lock exclusively is the only one to hold it at all. */
static bool locks(const mr_trace *trace, const mr_witness *w, uint32_t n)
{
    for (uint32_t lock = 0; lock < trace->locks.count; lock++) {
        int owners = 0, holders = 0;
        for (uint32_t t = 0; t < trace->threads.count; t++) {
            bool owns = holds(trace, w, n, t, lock, MR_OP_ACQUIRE, MR_OP_RELEASE) > 0;
            bool shares =
                holds(trace, w, n, t, lock, MR_OP_SHARED_ACQUIRE, MR_OP_SHARED_RELEASE) > 0;
            owners += owns;
            holders += owns || shares;
        }
        if (owners > 0 && holders > 1)
            return false;
    }
    return true;
}

/* Rule 4 after the first `n`: as many units were given as taken, or more. */
static bool semaphores(const mr_trace *trace, const mr_witness *w, uint32_t n)
{
    for (uint32_t semaphore = 0; semaphore < trace->locks.count; semaphore++) {
        int64_t units = 0;
        for (uint32_t t = 0; t < trace->threads.count; t++)
            units += holds(trace, w, n, t, semaphore, MR_OP_POST, MR_OP_WAIT);
        if (units < 0)
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

/* ---- opaque calls ---- */

/* Is the event in the call that `begin` begins: after it in its thread, and not after its end? */
static bool inside(const mr_trace *trace, uint32_t begin, uint32_t event)
{
    int open = 0;
    if (trace->op[begin] != MR_OP_CALL_BEGIN || trace->thread[begin] != trace->thread[event] ||
        event < begin)
        return false;
    for (uint32_t e = begin; e < event; e++) {
        if (trace->thread[e] != trace->thread[begin])
            continue;
        open += trace->op[e] == MR_OP_CALL_BEGIN;
        open -= trace->op[e] == MR_OP_CALL_END;
        if (!open)
            return false;
    }
    return true;
}

/* Is the name in the list of the call? */
static bool in_reach(const mr_trace *trace, uint32_t begin, const char *name)
{
    mr_reach reach = trace->reaches[trace->value[begin]];
    for (uint32_t i = reach.first; i < reach.first + reach.count; i++) {
        if (strcmp(trace->reach_names.items[trace->reach_items.items[i]].text, name) == 0)
            return true;
    }
    return false;
}

static bool share_an_element(const mr_trace *trace, uint32_t one, uint32_t other)
{
    mr_reach reach = trace->reaches[trace->value[one]];
    if (!reach.count || !trace->reaches[trace->value[other]].count)
        return false;
    if (in_reach(trace, one, "*") || in_reach(trace, other, "*"))
        return true;
    for (uint32_t i = reach.first; i < reach.first + reach.count; i++) {
        if (in_reach(trace, other, trace->reach_names.items[trace->reach_items.items[i]].text))
            return true;
    }
    return false;
}

static bool is_first_or_last(const mr_trace *trace, uint32_t event)
{
    uint32_t before = 0, after = 0;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        if (trace->thread[e] == trace->thread[event]) {
            before += e < event;
            after += e > event;
        }
    }
    return !before || !after;
}

/* Is the event about something that the call can reach? */
static bool about(const mr_trace *trace, uint32_t begin, uint32_t event)
{
    mr_operand_kind kind = mr_op_operand_kind((mr_op)trace->op[event]);
    bool everything = in_reach(trace, begin, "*");
    for (uint32_t x = 0; trace->op[event] == MR_OP_FREE && x < trace->variables.count; x++)
        if (mr_trace_object(trace, x) == trace->operand[event] &&
            (everything || in_reach(trace, begin, trace->variables.items[x].text)))
            return true;
    if (trace->op[event] == MR_OP_DEREF)
        kind = MR_OPERAND_NONE; /* no access */
    if (kind == MR_OPERAND_VARIABLE || kind == MR_OPERAND_LOCK) {
        const mr_names *names = kind == MR_OPERAND_LOCK ? &trace->locks : &trace->variables;
        if (everything || in_reach(trace, begin, names->items[trace->operand[event]].text))
            return true;
    }
    return is_first_or_last(trace, event) &&
           (everything || in_reach(trace, begin, trace->threads.items[trace->thread[event]].text));
}

/* Do two events of different threads keep their observed order (docs/semantics.md 2.5)? */
static bool kept(const mr_trace *trace, uint32_t one, uint32_t other, mr_opaque opaque)
{
    for (uint32_t begin = 0; begin < trace->event_count; begin++) {
        if ((inside(trace, begin, one) && about(trace, begin, other)) ||
            (inside(trace, begin, other) && about(trace, begin, one)))
            return true;
        if (!inside(trace, begin, one))
            continue;
        for (uint32_t b = 0; b < trace->event_count; b++) {
            if (inside(trace, b, other) &&
                (opaque == MR_OPAQUE_SIMPLE || share_an_element(trace, begin, b)))
                return true;
        }
    }
    return false;
}

/* Rule 5 for `event` after the first `n`. */
static bool opaque_calls(const mr_trace *trace, const mr_witness *w, uint32_t n, uint32_t event,
                         mr_opaque opaque)
{
    if (opaque == MR_OPAQUE_IGNORE || !trace->calls.count)
        return true;
    for (uint32_t e = w->window_start; e < event; e++) {
        if (trace->thread[e] != trace->thread[event] && !within(w, n, e) &&
            kept(trace, e, event, opaque))
            return false;
    }
    return true;
}

/* ---- reads ---- */

static bool writes(const mr_trace *trace, uint32_t event, uint32_t variable)
{
    uint8_t op = trace->op[event];
    return trace->operand[event] == variable &&
           (op == MR_OP_WRITE || op == MR_OP_ATOMIC_WRITE || op == MR_OP_ATOMIC_UPDATE);
}

static bool is_read(const mr_trace *trace, uint32_t event)
{
    uint8_t op = trace->op[event];
    return op == MR_OP_READ || op == MR_OP_ATOMIC_READ || op == MR_OP_ATOMIC_UPDATE;
}

static bool accesses(const mr_trace *trace, uint32_t event, uint32_t variable)
{
    return writes(trace, event, variable) ||
           (is_read(trace, event) && trace->operand[event] == variable);
}

/* Is the event an access of a variable of the object? */
static bool accesses_object(const mr_trace *trace, uint32_t event, uint32_t object)
{
    return accesses(trace, event, trace->operand[event]) &&
           mr_trace_object(trace, trace->operand[event]) == object;
}

/* Rule 7 for `event` after the first `n`. */
static bool lifetimes(const mr_trace *trace, const mr_witness *w, uint32_t n, uint32_t event)
{
    for (uint32_t e = 0; e < trace->event_count; e++) {
        bool accessed = accesses_object(trace, event, trace->operand[e]);
        bool freed = trace->op[event] == MR_OP_FREE && trace->operand[event] == trace->operand[e];
        if (trace->op[e] == MR_OP_ALLOC && (accessed || freed) && !within(w, n, e))
            return false;
        if (trace->op[e] == MR_OP_FREE && accessed && e > event && within(w, n, e))
            return false;
    }
    return true;
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

static int64_t read_value(const mr_trace *trace, uint32_t event)
{
    uint32_t value = trace->value[event];
    bool update = trace->op[event] == MR_OP_ATOMIC_UPDATE;
    return trace->values[update ? trace->updates[value].read_value : value];
}

static int64_t written_value(const mr_trace *trace, uint32_t event)
{
    uint32_t value = trace->value[event];
    bool update = trace->op[event] == MR_OP_ATOMIC_UPDATE;
    return trace->values[update ? trace->updates[value].written_value : value];
}

/* The first read of the variable that has no write before it in the trace. */
static uint32_t initial_read(const mr_trace *trace, uint32_t variable)
{
    uint32_t first = 0;
    while (first < trace->event_count && !accesses(trace, first, variable))
        first++;
    return first < trace->event_count && is_read(trace, first) ? first : MR_NONE;
}

/* The value of the variable after the write, or at first. False: it is unknown. */
static bool value_after(const mr_trace *trace, uint32_t write, uint32_t variable, int64_t *value)
{
    uint32_t initial = initial_read(trace, variable);
    if (write == MR_NONE && initial == MR_NONE)
        return false;
    *value = write == MR_NONE ? read_value(trace, initial) : written_value(trace, write);
    return true;
}

static bool as_in_rf(const mr_trace *trace, uint32_t variable)
{
    for (uint32_t e = 0; e < trace->event_count; e++) {
        if (accesses(trace, e, variable) && !trace->value[e])
            return true;
    }
    for (uint32_t e = 0; e < trace->event_count; e++) {
        int64_t value = 0;
        if (!accesses(trace, e, variable) || !is_read(trace, e))
            continue;
        if (!value_after(trace, observed_write(trace, e, variable), variable, &value) ||
            read_value(trace, e) != value)
            return true;
    }
    return false;
}

static bool diverged(const mr_trace *trace, const mr_witness *w, uint32_t n, uint32_t thread);

/* Is the read consistent after the first `n`? */
static bool sees(const mr_trace *trace, const mr_witness *w, uint32_t n, uint32_t read)
{
    uint32_t variable = trace->operand[read], last = MR_NONE, place = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (writes(trace, at(w, i), variable)) {
            last = at(w, i);
            place = i;
        }
    }
    if (last != MR_NONE && diverged(trace, w, place + 1, trace->thread[last]))
        return false; /* it wrote something unknown */
    if (w->model == MR_MODEL_RF || as_in_rf(trace, variable))
        return last == observed_write(trace, read, variable);
    int64_t value;
    return value_after(trace, last, variable, &value) && value == read_value(trace, read);
}

/* Has the thread, in the first `n`, read something else than it did? Only `branch` allows it. */
static bool diverged(const mr_trace *trace, const mr_witness *w, uint32_t n, uint32_t thread)
{
    for (uint32_t i = w->window_start; w->model == MR_MODEL_BRANCH && i < n; i++) {
        if (trace->thread[at(w, i)] == thread && is_read(trace, at(w, i)) &&
            !sees(trace, w, i, at(w, i)))
            return true;
    }
    return false;
}

/* Rule 6 for `event` after the first `n`. */
static bool goes_on(const mr_trace *trace, const mr_witness *w, uint32_t n, uint32_t event)
{
    if (is_read(trace, event))
        return w->model == MR_MODEL_BRANCH || sees(trace, w, n, event);
    uint8_t op = trace->op[event];
    if (op == MR_OP_BRANCH || op == MR_OP_FORK || op == MR_OP_CALL_BEGIN)
        return !diverged(trace, w, n, trace->thread[event]);
    return true;
}

bool mr_definition_reordering(const mr_trace *trace, const mr_witness *w, mr_opaque opaque)
{
    if (!is_sequence(trace, w))
        return false;
    for (uint32_t n = w->window_start; n < length(w); n++) {
        uint32_t event = at(w, n);
        if (!program_order(trace, w, n, event) || !locks(trace, w, n + 1) ||
            !fork_and_join(trace, w, n, event) || !semaphores(trace, w, n + 1) ||
            !opaque_calls(trace, w, n, event, opaque) || !lifetimes(trace, w, n, event) ||
            !goes_on(trace, w, n, event))
            return false;
    }
    return true;
}

static bool is_next(const mr_trace *trace, const mr_witness *w, uint32_t access, mr_opaque opaque)
{
    uint32_t n = length(w);
    return access >= w->window_start && access < w->window_end && !within(w, n, access) &&
           program_order(trace, w, n, access) && fork_and_join(trace, w, n, access) &&
           opaque_calls(trace, w, n, access, opaque) && lifetimes(trace, w, n, access);
}

bool mr_definition_accepts(const mr_trace *trace, const mr_witness *w, mr_opaque opaque)
{
    return w->first < w->second && mr_definition_reordering(trace, w, opaque) &&
           is_next(trace, w, w->first, opaque) && is_next(trace, w, w->second, opaque) &&
           mr_exhaustive_conflict(trace, w->first, w->second);
}

/* ---- other questions (docs/semantics.md 7) ---- */

/* Does the thread of the event stop before it, and may it by rules 1, 3 and 5? */
static bool stops_at(const mr_trace *trace, const mr_witness *w, uint32_t event, mr_opaque opaque)
{
    uint32_t n = length(w);
    return event >= w->window_start && event < w->window_end && !within(w, n, event) &&
           program_order(trace, w, n, event) && fork_and_join(trace, w, n, event) &&
           opaque_calls(trace, w, n, event, opaque);
}

static bool ends_in_use_after_free(const mr_trace *trace, const mr_witness *w, uint32_t release,
                                   uint32_t use, mr_opaque opaque)
{
    if (trace->op[release] != MR_OP_FREE || !within(w, length(w), release) || release < use ||
        trace->thread[release] == trace->thread[use] ||
        !accesses_object(trace, use, trace->operand[release]))
        return false;
    for (uint32_t e = 0; e < trace->event_count; e++)
        if (trace->op[e] == MR_OP_ALLOC && trace->operand[e] == trace->operand[release] &&
            !within(w, length(w), e))
            return false;
    return stops_at(trace, w, use, opaque);
}

/* The write that the variable was last written by in the first `n`, and its place; MR_NONE: none. */
static uint32_t last_write(const mr_trace *trace, const mr_witness *w, uint32_t n,
                           uint32_t variable, uint32_t *place)
{
    while (n-- > 0) {
        *place = n;
        if (writes(trace, at(w, n), variable))
            return at(w, n);
    }
    return MR_NONE;
}

/* Is some object that contains the address freed, and none alive, in e0 … e(n-1) (`w` is NULL) or at
 * the end of the sequence? */
static bool is_in_freed_memory(const mr_trace *trace, const mr_witness *w, uint32_t n,
                               uint64_t address)
{
    uint32_t freed = 0, alive = 0;
    for (uint32_t o = 0; o < trace->objects.count; o++) {
        uint32_t allocs = 0, frees = 0;
        for (uint32_t e = 0; e < trace->event_count; e++) {
            if (trace->operand[e] != o || (w ? !within(w, length(w), e) : e >= n))
                continue;
            if (trace->op[e] == MR_OP_ALLOC && trace->value[e]) {
                mr_update extent = trace->updates[trace->value[e]];
                uint64_t low = (uint64_t)trace->values[extent.read_value];
                allocs +=
                    low <= address && address < low + (uint64_t)trace->values[extent.written_value];
            }
            frees += trace->op[e] == MR_OP_FREE;
        }
        freed += allocs && frees;
        alive += allocs && !frees;
    }
    return freed && !alive;
}

/* Is there a deref of what the read saw that a free follows, or (`frees` false) none? */
static bool is_used(const mr_trace *trace, uint32_t read, bool frees, bool any)
{
    for (uint32_t e = read + 1; e < trace->event_count; e++) {
        bool last = true, followed = false;
        if (trace->op[e] != MR_OP_DEREF || trace->thread[e] != trace->thread[read] ||
            trace->operand[e] != trace->operand[read])
            continue;
        for (uint32_t r = read + 1; r < e; r++)
            last &= !(is_read(trace, r) && trace->thread[r] == trace->thread[read] &&
                      trace->operand[r] == trace->operand[read]);
        for (uint32_t f = e + 1; f < trace->event_count; f++) {
            if (trace->thread[f] == trace->thread[read]) {
                followed = trace->op[f] == MR_OP_FREE;
                break;
            }
        }
        if (last && (any || followed == frees))
            return true;
    }
    return false;
}

static bool ends_in_null(const mr_trace *trace, const mr_witness *w, uint32_t read)
{
    uint32_t x = trace->operand[read], place = 0;
    uint32_t write = last_write(trace, w, length(w), x, &place);
    int64_t value = 0;
    if (as_in_rf(trace, x) || !is_used(trace, read, false, true) || read_value(trace, read) == 0)
        return false;
    if (write != MR_NONE && diverged(trace, w, place + 1, trace->thread[write]))
        return false;
    return value_after(trace, write, x, &value) && value == 0;
}

static bool ends_in_dangling(const mr_trace *trace, const mr_witness *w, uint32_t read, bool frees)
{
    uint32_t x = trace->operand[read], place = 0;
    uint32_t write = last_write(trace, w, length(w), x, &place);
    uint32_t observed = observed_write(trace, read, x);
    if (as_in_rf(trace, x) || !is_used(trace, read, frees, false) || write == MR_NONE ||
        diverged(trace, w, place + 1, trace->thread[write]))
        return false;
    if (observed != MR_NONE &&
        is_in_freed_memory(trace, NULL, read, (uint64_t)written_value(trace, observed)))
        return false;
    return is_in_freed_memory(trace, w, 0, (uint64_t)written_value(trace, write));
}

/* Does the thread hold the lock so that the acquire is excluded? */
static bool holds_against(const mr_trace *trace, const mr_witness *w, uint32_t thread,
                          uint32_t acquire)
{
    uint32_t lock = trace->operand[acquire];
    return holds(trace, w, length(w), thread, lock, MR_OP_ACQUIRE, MR_OP_RELEASE) > 0 ||
           (trace->op[acquire] == MR_OP_ACQUIRE &&
            holds(trace, w, length(w), thread, lock, MR_OP_SHARED_ACQUIRE, MR_OP_SHARED_RELEASE) >
                0);
}

/* Is there an order of the acquires from `place` on in which each waits for the next thread? Those
 * before are in order. */
static bool closes(const mr_trace *trace, const mr_witness *w, mr_claim *claim, uint32_t place)
{
    uint32_t last = claim->events[place - 1];
    if (place == claim->count)
        return holds_against(trace, w, trace->thread[claim->events[0]], last);
    for (uint32_t i = place; i < claim->count; i++) {
        mr_claim other = *claim;
        other.events[i] = claim->events[place];
        other.events[place] = claim->events[i];
        if (holds_against(trace, w, trace->thread[other.events[place]], last) &&
            closes(trace, w, &other, place + 1))
            return true;
    }
    return false;
}

static bool ends_in_deadlock(const mr_trace *trace, const mr_witness *w, const mr_claim *claim,
                             mr_opaque opaque)
{
    for (uint32_t i = 0; i < claim->count; i++) {
        uint32_t acquire = claim->events[i];
        if (trace->memory_order && trace->memory_order[acquire] == MR_ORDER_TRY)
            return false;
        if ((trace->op[acquire] != MR_OP_ACQUIRE && trace->op[acquire] != MR_OP_SHARED_ACQUIRE) ||
            !stops_at(trace, w, acquire, opaque))
            return false;
        for (uint32_t j = 0; j < i; j++)
            if (trace->thread[claim->events[j]] == trace->thread[acquire] ||
                trace->operand[claim->events[j]] == trace->operand[acquire])
                return false;
    }
    mr_claim copy = *claim;
    return claim->count >= 2 && closes(trace, w, &copy, 1);
}

bool mr_definition_ends_in(const mr_trace *trace, const mr_witness *w, const mr_claim *claim,
                           mr_opaque opaque)
{
    uint32_t first = claim->events[0], second = claim->events[1], place = 0;
    if (claim->kind == MR_CLAIM_USE_AFTER_FREE)
        return ends_in_use_after_free(trace, w, first, second, opaque);
    if (claim->kind == MR_CLAIM_DEADLOCK)
        return ends_in_deadlock(trace, w, claim, opaque);
    if (!is_read(trace, first) || !stops_at(trace, w, first, opaque) ||
        !lifetimes(trace, w, length(w), first))
        return false;
    switch (claim->kind) {
    case MR_CLAIM_NULL:
        return ends_in_null(trace, w, first);
    case MR_CLAIM_DANGLING:
    case MR_CLAIM_DOUBLE_FREE:
        return ends_in_dangling(trace, w, first, claim->kind == MR_CLAIM_DOUBLE_FREE);
    case MR_CLAIM_SEES:
        return last_write(trace, w, length(w), trace->operand[first], &place) == second;
    case MR_CLAIM_USE_AFTER_FREE:
    case MR_CLAIM_DEADLOCK:
        break;
    }
    return false;
}
