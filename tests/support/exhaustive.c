#include "exhaustive.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = MR_EXHAUSTIVE_THREADS,
    VARIABLES = MR_EXHAUSTIVE_VARIABLES,
    LOCKS = MR_EXHAUSTIVE_LOCKS,
    EVENTS = MR_EXHAUSTIVE_EVENTS,
};

struct mr_exhaustive_state {
    uint8_t done[THREADS];     /* events of the window that each thread has done */
    uint8_t source[VARIABLES]; /* class of what a read would see */
    uint32_t parent;           /* state before `event`; the first state is its own parent */
    uint32_t event;
};

/*
 * What a read sees is a class of writes, so that both models are "the class is the one that was
 * observed": rf: a class per write event; value: a class per value. Class 0 is the initial value
 * that is unknown, and in rf "no write yet". A read may see another class than its own only in
 * value, when both are of one value; by construction they are then one class.
 */
typedef struct job {
    const mr_trace *trace;
    mr_exhaustive *out;
    uint8_t class_of[EVENTS]; /* read: what it must see; write: what later reads see */
    uint8_t carried[VARIABLES];
    uint32_t count[THREADS];            /* events of the window, by thread */
    uint32_t events[THREADS][EVENTS];   /* their numbers */
    uint32_t held[THREADS][EVENTS + 1]; /* locks held after so many of them, as bits */
    uint32_t index[EVENTS];             /* an event's place in `events` of its thread */
    uint32_t fork[THREADS];             /* the event that forks it, or MR_NONE */
    uint32_t last[THREADS];             /* its last event in the whole trace, or MR_NONE */
    bool sync_preserving;
    size_t state_capacity;
    uint32_t *slots; /* hash table of states, number + 1 */
    size_t slot_count;
    uint32_t found[EVENTS][EVENTS]; /* for each pair, a state + 1, 0: no race so far */
} job;

static bool is_read(const mr_trace *trace, uint32_t e)
{
    return trace->op[e] == MR_OP_READ;
}

static bool is_write(const mr_trace *trace, uint32_t e)
{
    return trace->op[e] == MR_OP_WRITE;
}

static bool is_access_of(const mr_trace *trace, uint32_t e, uint32_t variable)
{
    return (is_read(trace, e) || is_write(trace, e)) && trace->operand[e] == variable;
}

bool mr_exhaustive_conflict(const mr_trace *trace, uint32_t a, uint32_t b)
{
    if (!is_read(trace, a) && !is_write(trace, a))
        return false;
    return trace->thread[a] != trace->thread[b] && is_access_of(trace, b, trace->operand[a]) &&
           (is_write(trace, a) || is_write(trace, b));
}

static bool within_limits(const mr_trace *trace)
{
    if (trace->event_count > EVENTS || trace->threads.count > THREADS ||
        trace->variables.count > VARIABLES || trace->locks.count > LOCKS)
        return false;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        if (!mr_op_covered((mr_op)trace->op[e]))
            return false;
    }
    return true;
}

/* Is the variable treated as in rf (docs/semantics.md 2.6)? An access without a value; or a read
 * that saw something else than the last write wrote; or, before any write, than the first such read
 * saw: then too someone wrote unseen. */
static bool by_source(const mr_trace *trace, uint32_t variable)
{
    bool known = false;
    int64_t current = 0;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        if (!is_access_of(trace, e, variable))
            continue;
        if (!trace->value[e])
            return true;
        int64_t value = trace->values[trace->value[e]];
        if (is_read(trace, e) && known && value != current)
            return true;
        known = true;
        current = value;
    }
    return false;
}

/* Classes in rf: a write's own number + 1. */
static void classify_by_source(job *s, uint32_t variable)
{
    uint8_t last = 0;
    for (uint32_t e = 0; e < s->trace->event_count; e++) {
        if (!is_access_of(s->trace, e, variable))
            continue;
        if (is_write(s->trace, e))
            last = (uint8_t)(e + 1);
        s->class_of[e] = last;
        if (e < s->out->start)
            s->carried[variable] = last;
    }
}

/* The number + 1 of the first access of the variable that has the value of `event`. */
static uint8_t value_class(const mr_trace *trace, uint32_t event)
{
    for (uint32_t e = 0; e < event; e++) {
        if (is_access_of(trace, e, trace->operand[event]) &&
            trace->values[trace->value[e]] == trace->values[trace->value[event]])
            return (uint8_t)(e + 1);
    }
    return (uint8_t)(event + 1);
}

static void classify_by_value(job *s, uint32_t variable)
{
    const mr_trace *trace = s->trace;
    bool written = false, first = true;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        if (!is_access_of(trace, e, variable))
            continue;
        s->class_of[e] = value_class(trace, e);
        /* The first access, when it reads, tells the initial value. */
        if (first && is_read(trace, e))
            s->carried[variable] = s->class_of[e];
        first = false;
        written = written || is_write(trace, e);
        if (e < s->out->start && written)
            s->carried[variable] = s->class_of[e];
    }
}

static void index_threads(job *s)
{
    const mr_trace *trace = s->trace;
    uint32_t depth[THREADS][LOCKS] = {{0}}, now[THREADS] = {0};
    for (uint32_t t = 0; t < THREADS; t++)
        s->fork[t] = s->last[t] = MR_NONE;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        uint32_t t = trace->thread[e], operand = trace->operand[e];
        s->last[t] = e;
        if (trace->op[e] == MR_OP_FORK)
            s->fork[operand] = e;
        else if (trace->op[e] == MR_OP_ACQUIRE && depth[t][operand]++ == 0)
            now[t] |= UINT32_C(1) << operand;
        else if (trace->op[e] == MR_OP_RELEASE && --depth[t][operand] == 0)
            now[t] &= ~(UINT32_C(1) << operand);
        if (e < s->out->start) {
            s->held[t][0] = now[t];
        } else if (e < s->out->end) {
            s->index[e] = s->count[t];
            s->events[t][s->count[t]++] = e;
            s->held[t][s->count[t]] = now[t];
        }
    }
}

static bool happened(const job *s, const mr_exhaustive_state *state, uint32_t event)
{
    if (event < s->out->start)
        return true;
    return event < s->out->end && state->done[s->trace->thread[event]] > s->index[event];
}

static bool started(const job *s, const mr_exhaustive_state *state, uint32_t thread)
{
    return s->fork[thread] == MR_NONE || happened(s, state, s->fork[thread]);
}

static bool lock_free_for(const job *s, const mr_exhaustive_state *state, uint32_t thread,
                          uint32_t lock)
{
    for (uint32_t t = 0; t < s->trace->threads.count; t++) {
        if (t != thread && s->held[t][state->done[t]] >> lock & 1)
            return false;
    }
    return true;
}

/* Has no other thread acquired the lock later in the trace already? */
static bool in_lock_order(const job *s, const mr_exhaustive_state *state, uint32_t acquire)
{
    const mr_trace *trace = s->trace;
    for (uint32_t t = 0; t < trace->threads.count; t++) {
        for (uint32_t k = 0; k < state->done[t]; k++) {
            uint32_t e = s->events[t][k];
            if (e > acquire && trace->op[e] == MR_OP_ACQUIRE &&
                trace->operand[e] == trace->operand[acquire])
                return false;
        }
    }
    return true;
}

/* May `event`, the next one of its thread, happen now (rules 2, 3 and 6)? */
static bool possible(const job *s, const mr_exhaustive_state *state, uint32_t event)
{
    uint32_t thread = s->trace->thread[event], operand = s->trace->operand[event];
    if (!started(s, state, thread))
        return false;
    switch (s->trace->op[event]) {
    case MR_OP_READ:
        return state->source[operand] == s->class_of[event];
    case MR_OP_ACQUIRE:
        return lock_free_for(s, state, thread, operand) &&
               (!s->sync_preserving || in_lock_order(s, state, event));
    case MR_OP_JOIN:
        return s->last[operand] == MR_NONE || happened(s, state, s->last[operand]);
    default:
        return true;
    }
}

static size_t hash_state(const mr_exhaustive_state *state)
{
    uint64_t words[(THREADS + VARIABLES) / 8], hash = 0;
    memcpy(words, state->done, THREADS);
    memcpy(words + THREADS / 8, state->source, VARIABLES);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return (size_t)hash;
}

static bool same_state(const mr_exhaustive_state *a, const mr_exhaustive_state *b)
{
    return !memcmp(a->done, b->done, THREADS) && !memcmp(a->source, b->source, VARIABLES);
}

/* The slot of the state, or the free one where it belongs. */
static uint32_t *find_slot(job *s, const mr_exhaustive_state *state)
{
    size_t i = hash_state(state) & (s->slot_count - 1);
    while (s->slots[i] && !same_state(&s->out->states[s->slots[i] - 1], state))
        i = (i + 1) & (s->slot_count - 1);
    return &s->slots[i];
}

static bool grow_slots(job *s)
{
    free(s->slots);
    s->slot_count = s->slot_count ? 2 * s->slot_count : 1024;
    s->slots = mr_calloc(s->slot_count, sizeof *s->slots);
    if (!s->slots)
        return false;
    for (size_t i = 0; i < s->out->state_count; i++)
        *find_slot(s, &s->out->states[i]) = (uint32_t)i + 1;
    return true;
}

static bool visit(job *s, const mr_exhaustive_state *state)
{
    if (2 * s->out->state_count >= s->slot_count && !grow_slots(s))
        return false;
    uint32_t *slot = find_slot(s, state);
    if (*slot)
        return true;
    if (s->out->state_count == MR_EXHAUSTIVE_STATES ||
        !mr_grow((void **)&s->out->states, &s->state_capacity, s->out->state_count + 1,
                 sizeof *state))
        return false;
    s->out->states[s->out->state_count++] = *state;
    *slot = (uint32_t)s->out->state_count;
    return true;
}

static uint32_t next_event(const job *s, const mr_exhaustive_state *state, uint32_t thread)
{
    if (state->done[thread] == s->count[thread])
        return MR_NONE;
    return s->events[thread][state->done[thread]];
}

static void note_races(job *s, uint32_t number, const uint32_t *next, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = i + 1; j < count; j++) {
            uint32_t a = next[i] < next[j] ? next[i] : next[j];
            uint32_t b = next[i] < next[j] ? next[j] : next[i];
            if (!s->found[a][b] && mr_exhaustive_conflict(s->trace, a, b))
                s->found[a][b] = number + 1;
        }
    }
}

/* Notes the races of a state and visits the states after it. */
static bool expand(job *s, uint32_t number)
{
    mr_exhaustive_state state = s->out->states[number];
    uint32_t next[THREADS], count = 0;
    for (uint32_t t = 0; t < s->trace->threads.count; t++) {
        uint32_t event = next_event(s, &state, t);
        if (event != MR_NONE && started(s, &state, t))
            next[count++] = event;
    }
    note_races(s, number, next, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t event = next[i];
        if (!possible(s, &state, event))
            continue;
        mr_exhaustive_state after = state;
        after.done[s->trace->thread[event]]++;
        after.parent = number;
        after.event = event;
        if (is_write(s->trace, event))
            after.source[s->trace->operand[event]] = s->class_of[event];
        if (!visit(s, &after))
            return false;
    }
    return true;
}

static bool search_all(job *s)
{
    mr_exhaustive_state first = {.event = MR_NONE};
    memcpy(first.source, s->carried, VARIABLES);
    if (!visit(s, &first))
        return false;
    for (uint32_t i = 0; i < s->out->state_count; i++) {
        if (!expand(s, i))
            return false;
    }
    return true;
}

static bool collect(job *s)
{
    mr_exhaustive *out = s->out;
    size_t capacity = 0, state_capacity = 0;
    for (uint32_t a = 0; a < s->trace->event_count; a++) {
        for (uint32_t b = a + 1; b < s->trace->event_count; b++) {
            if (!s->found[a][b])
                continue;
            size_t n = out->race_count + 1;
            if (!mr_grow((void **)&out->races, &capacity, n, sizeof *out->races) ||
                !mr_grow((void **)&out->race_states, &state_capacity, n, sizeof(uint32_t)))
                return false;
            out->races[n - 1] = (mr_pair){a, b};
            out->race_states[n - 1] = s->found[a][b] - 1;
            out->race_count = n;
        }
    }
    return true;
}

static bool find(const mr_trace *trace, mr_model model, bool sync_preserving, uint32_t start,
                 uint32_t end, mr_exhaustive *out)
{
    assert(start <= end && end <= trace->event_count);
    *out = (mr_exhaustive){.start = start, .end = end, .model = model};
    if (!within_limits(trace))
        return false;
    job *s = mr_calloc(1, sizeof *s);
    if (!s)
        return false;
    s->trace = trace;
    s->out = out;
    s->sync_preserving = sync_preserving;
    for (uint32_t x = 0; x < trace->variables.count; x++) {
        if (model == MR_MODEL_RF || by_source(trace, x))
            classify_by_source(s, x);
        else
            classify_by_value(s, x);
    }
    index_threads(s);
    bool ok = search_all(s) && collect(s);
    free(s->slots);
    free(s);
    return ok;
}

bool mr_exhaustive_find(const mr_trace *trace, mr_model model, uint32_t start, uint32_t end,
                        mr_exhaustive *out)
{
    return find(trace, model, false, start, end, out);
}

bool mr_exhaustive_find_sync_preserving(const mr_trace *trace, uint32_t start, uint32_t end,
                                        mr_exhaustive *out)
{
    return find(trace, MR_MODEL_RF, true, start, end, out);
}

void mr_exhaustive_free(mr_exhaustive *search)
{
    free(search->races);
    free(search->race_states);
    free(search->states);
    *search = (mr_exhaustive){0};
}

bool mr_exhaustive_has(const mr_exhaustive *search, uint32_t first, uint32_t second)
{
    for (size_t i = 0; i < search->race_count; i++) {
        if (search->races[i].first == first && search->races[i].second == second)
            return true;
    }
    return false;
}

uint32_t mr_exhaustive_done(const mr_exhaustive *search, size_t state, uint32_t thread)
{
    return search->states[state].done[thread];
}

bool mr_exhaustive_path(const mr_exhaustive *search, size_t state, uint32_t first, uint32_t second,
                        mr_witness *witness)
{
    *witness = (mr_witness){.first = first,
                            .second = second,
                            .window_start = search->start,
                            .window_end = search->end,
                            .model = search->model};
    uint32_t length = 0;
    for (size_t i = state; search->states[i].event != MR_NONE; i = search->states[i].parent)
        length++;
    witness->events = mr_calloc(length + 1, sizeof *witness->events);
    if (!witness->events)
        return false;
    witness->event_count = length;
    for (size_t i = state; search->states[i].event != MR_NONE; i = search->states[i].parent)
        witness->events[--length] = search->states[i].event;
    return true;
}

bool mr_exhaustive_witness(const mr_exhaustive *search, size_t race, mr_witness *witness)
{
    return mr_exhaustive_path(search, search->race_states[race], search->races[race].first,
                              search->races[race].second, witness);
}
