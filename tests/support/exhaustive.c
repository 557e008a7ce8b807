#include "exhaustive.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = MR_EXHAUSTIVE_THREADS,
    VARIABLES = MR_EXHAUSTIVE_VARIABLES,
};

struct mr_exhaustive_state {
    uint8_t done[THREADS];     /* events of the window that each thread has done */
    uint8_t source[VARIABLES]; /* class of what a read would see */
    uint8_t last[VARIABLES];   /* option last_writes: the last write + 1, 0: none */
    uint64_t diverged;         /* threads, as bits */
    uint32_t parent;           /* state before `event`; the first state is its own parent */
    uint32_t event;
};

typedef struct job {
    const mr_trace *trace;
    mr_exhaustive *out;
    mr_exhaustive_options options;
    mr_facts facts;
    size_t state_capacity, step_capacity, hit_capacity;
    uint32_t *slots; /* hash table of states, number + 1 */
    size_t slot_count;
    uint32_t *found; /* for each pair of the window, a state + 1, 0: no race so far; found_at */
} job;

static uint32_t *found_at(const job *s, uint32_t a, uint32_t b)
{
    uint32_t start = s->out->start;
    return &s->found[(size_t)(a - start) * (s->out->end - start) + (b - start)];
}

static bool is_atomic(uint8_t op)
{
    return op == MR_OP_ATOMIC_READ || op == MR_OP_ATOMIC_WRITE || op == MR_OP_ATOMIC_UPDATE;
}

static bool reads(uint8_t op)
{
    return op == MR_OP_READ || op == MR_OP_ATOMIC_READ || op == MR_OP_ATOMIC_UPDATE;
}

static bool writes(uint8_t op)
{
    return op == MR_OP_WRITE || op == MR_OP_ATOMIC_WRITE || op == MR_OP_ATOMIC_UPDATE;
}

/* Does the event, an access, access a variable of the object that the other one frees? */
static bool is_freed_by(const mr_trace *trace, uint32_t access, uint32_t other)
{
    return (reads(trace->op[access]) || writes(trace->op[access])) &&
           trace->op[other] == MR_OP_FREE && trace->thread[access] != trace->thread[other] &&
           mr_trace_object(trace, trace->operand[access]) == trace->operand[other];
}

bool mr_exhaustive_conflict(const mr_trace *trace, uint32_t a, uint32_t b)
{
    uint8_t one = trace->op[a], other = trace->op[b];
    if (is_freed_by(trace, a, b) || is_freed_by(trace, b, a))
        return true;
    if ((!reads(one) && !writes(one)) || (!reads(other) && !writes(other)))
        return false;
    return trace->thread[a] != trace->thread[b] && trace->operand[a] == trace->operand[b] &&
           (writes(one) || writes(other)) && !(is_atomic(one) && is_atomic(other));
}

static bool happened(const job *s, const mr_exhaustive_state *state, uint32_t event)
{
    if (event < s->out->start)
        return true;
    return event < s->out->end && state->done[s->trace->thread[event]] > s->facts.index[event];
}

/* Rule 7: the object lives, or was freed before the event in the trace, too. */
static bool lives(const job *s, const mr_exhaustive_state *state, uint32_t event)
{
    uint32_t alloc = s->facts.alloc[event], later = s->facts.later_free[event];
    return (alloc == MR_NONE || happened(s, state, alloc)) &&
           (later == MR_NONE || !happened(s, state, later));
}

/* May a thread be about to do `event` (rules 3, 5 and 7)? This holds for the accesses of a race
 * too. */
static bool ready(const job *s, const mr_exhaustive_state *state, uint32_t event)
{
    uint32_t fork = s->facts.fork[s->trace->thread[event]];
    if ((fork != MR_NONE && !happened(s, state, fork)) || !lives(s, state, event))
        return false;
    for (uint32_t t = 0; t < s->trace->threads.count; t++) {
        uint32_t need = s->facts.need[event][t];
        if (need != MR_NONE && !happened(s, state, need))
            return false;
    }
    return true;
}

/* Rule 2: nobody else holds the lock exclusively; nor shared, unless this is to be a shared hold.
 */
static bool lock_free_for(const job *s, const mr_exhaustive_state *state, uint32_t acquire)
{
    uint32_t lock = s->trace->operand[acquire];
    for (uint32_t t = 0; t < s->trace->threads.count; t++) {
        uint32_t held = s->facts.exclusive[t][state->done[t]];
        if (s->trace->op[acquire] == MR_OP_ACQUIRE)
            held |= s->facts.shared[t][state->done[t]];
        if (t != s->trace->thread[acquire] && held >> lock & 1)
            return false;
    }
    return true;
}

/* Has no other thread begun a section already that comes later in the trace and excludes this? */
static bool in_lock_order(const job *s, const mr_exhaustive_state *state, uint32_t acquire)
{
    const mr_trace *trace = s->trace;
    for (uint32_t t = 0; t < trace->threads.count; t++) {
        for (uint32_t k = 0; k < state->done[t]; k++) {
            uint32_t e = s->facts.events[t][k];
            bool excludes =
                trace->op[e] == MR_OP_ACQUIRE ||
                (trace->op[e] == MR_OP_SHARED_ACQUIRE && trace->op[acquire] == MR_OP_ACQUIRE);
            if (e > acquire && excludes && trace->operand[e] == trace->operand[acquire] &&
                t != trace->thread[acquire])
                return false;
        }
    }
    return true;
}

/* Rule 4. */
static bool has_unit(const job *s, const mr_exhaustive_state *state, uint32_t semaphore)
{
    const mr_trace *trace = s->trace;
    int32_t units = s->facts.units[semaphore];
    for (uint32_t e = s->out->start; e < s->out->end; e++) {
        if (happened(s, state, e) && trace->operand[e] == semaphore)
            units += (trace->op[e] == MR_OP_POST) - (trace->op[e] == MR_OP_WAIT);
    }
    return units > 0;
}

static bool is_diverged(const job *s, const mr_exhaustive_state *state, uint32_t event)
{
    return state->diverged >> s->trace->thread[event] & 1;
}

static bool consistent(const job *s, const mr_exhaustive_state *state, uint32_t read)
{
    return state->source[s->trace->operand[read]] == s->facts.sees[read];
}

/* May `event`, which is ready, happen now (rules 2, 3, 4 and 6)? */
static bool possible(const job *s, const mr_exhaustive_state *state, uint32_t event)
{
    uint32_t operand = s->trace->operand[event];
    switch ((mr_op)s->trace->op[event]) {
    case MR_OP_READ:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_UPDATE:
        return s->options.model == MR_MODEL_BRANCH || consistent(s, state, event);
    case MR_OP_ACQUIRE:
    case MR_OP_SHARED_ACQUIRE:
        return lock_free_for(s, state, event) &&
               (!s->options.sync_preserving || in_lock_order(s, state, event));
    case MR_OP_JOIN:
        return s->facts.last[operand] == MR_NONE || happened(s, state, s->facts.last[operand]);
    case MR_OP_WAIT:
        return has_unit(s, state, operand) &&
               (!s->options.sync_preserving || happened(s, state, s->facts.post[event]));
    case MR_OP_BRANCH:
    case MR_OP_FORK:
    case MR_OP_CALL_BEGIN:
        return !is_diverged(s, state, event);
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_RELEASE:
    case MR_OP_SHARED_RELEASE:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_POST:
    case MR_OP_CALL_END:
    case MR_OP_ALLOC:
    case MR_OP_FREE:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break;
    }
    return true;
}

/* The state after the event, which is possible. */
static mr_exhaustive_state step(const job *s, uint32_t number, uint32_t event)
{
    mr_exhaustive_state after = s->out->states[number];
    uint32_t thread = s->trace->thread[event], operand = s->trace->operand[event];
    if (reads(s->trace->op[event]) && !consistent(s, &after, event))
        after.diverged |= UINT64_C(1) << thread;
    if (writes(s->trace->op[event]))
        after.source[operand] =
            is_diverged(s, &after, event) ? MR_UNKNOWN_CLASS : s->facts.gives[event];
    if (writes(s->trace->op[event]) && s->options.last_writes)
        after.last[operand] = (uint8_t)(event + 1);
    after.done[thread]++;
    after.parent = number;
    after.event = event;
    return after;
}

static size_t hash_state(const mr_exhaustive_state *state)
{
    uint64_t words[(THREADS + 2 * VARIABLES) / 8 + 1], hash = 0;
    memcpy(words, state->done, THREADS);
    memcpy(words + THREADS / 8, state->source, VARIABLES);
    memcpy(words + (THREADS + VARIABLES) / 8, state->last, VARIABLES);
    words[(THREADS + 2 * VARIABLES) / 8] = state->diverged;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return (size_t)hash;
}

static bool same_state(const mr_exhaustive_state *a, const mr_exhaustive_state *b)
{
    return !memcmp(a->done, b->done, THREADS) && !memcmp(a->source, b->source, VARIABLES) &&
           !memcmp(a->last, b->last, VARIABLES) && a->diverged == b->diverged;
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

static bool keep_step(job *s, uint32_t from, uint32_t to)
{
    mr_exhaustive *out = s->out;
    if (!s->options.whole)
        return true;
    if (!mr_grow((void **)&out->steps, &s->step_capacity, out->step_count + 1, sizeof *out->steps))
        return false;
    out->steps[out->step_count++] = (mr_exhaustive_step){from, to};
    return true;
}

static bool keep_hit(job *s, uint32_t state, uint32_t a, uint32_t b)
{
    mr_exhaustive *out = s->out;
    if (!s->options.whole)
        return true;
    if (!mr_grow((void **)&out->hits, &s->hit_capacity, out->hit_count + 1, sizeof *out->hits))
        return false;
    out->hits[out->hit_count++] = (mr_exhaustive_hit){{a, b}, state};
    return true;
}

/* A state, reached from number `from`. */
static bool visit(job *s, uint32_t from, const mr_exhaustive_state *state)
{
    if (2 * s->out->state_count >= s->slot_count && !grow_slots(s))
        return false;
    uint32_t *slot = find_slot(s, state);
    if (*slot)
        return keep_step(s, from, *slot - 1);
    if (s->out->state_count == MR_EXHAUSTIVE_STATES ||
        !mr_grow((void **)&s->out->states, &s->state_capacity, s->out->state_count + 1,
                 sizeof *state))
        return false;
    s->out->states[s->out->state_count++] = *state;
    *slot = (uint32_t)s->out->state_count;
    return *slot == 1 || keep_step(s, from, *slot - 1);
}

static uint32_t next_event(const job *s, const mr_exhaustive_state *state, uint32_t thread)
{
    if (state->done[thread] == s->facts.count[thread])
        return MR_NONE;
    return s->facts.events[thread][state->done[thread]];
}

/* False: no memory. */
static bool note_races(job *s, uint32_t number, const uint32_t *next, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = i + 1; j < count; j++) {
            uint32_t a = next[i] < next[j] ? next[i] : next[j];
            uint32_t b = next[i] < next[j] ? next[j] : next[i];
            if ((*found_at(s, a, b) && !s->options.whole) ||
                !mr_exhaustive_conflict(s->trace, a, b))
                continue;
            if (!*found_at(s, a, b))
                *found_at(s, a, b) = number + 1;
            if (!keep_hit(s, number, a, b))
                return false;
        }
    }
    return true;
}

/* Notes the races of a state and visits the states after it. */
static bool expand(job *s, uint32_t number)
{
    mr_exhaustive_state state = s->out->states[number];
    uint32_t next[THREADS], count = 0;
    for (uint32_t t = 0; t < s->trace->threads.count; t++) {
        uint32_t event = next_event(s, &state, t);
        if (event != MR_NONE && ready(s, &state, event))
            next[count++] = event;
    }
    if (!note_races(s, number, next, count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!possible(s, &state, next[i]))
            continue;
        mr_exhaustive_state after = step(s, number, next[i]);
        if (!visit(s, number, &after))
            return false;
    }
    return true;
}

static bool search_all(job *s)
{
    mr_exhaustive_state first = {.event = MR_NONE};
    memcpy(first.source, s->facts.carried, VARIABLES);
    for (uint32_t e = 0; s->options.last_writes && e < s->out->start; e++)
        if (writes(s->trace->op[e]))
            first.last[s->trace->operand[e]] = (uint8_t)(e + 1);
    if (!visit(s, 0, &first))
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
    for (uint32_t a = out->start; a < out->end; a++) {
        for (uint32_t b = a + 1; b < out->end; b++) {
            if (!*found_at(s, a, b))
                continue;
            size_t n = out->race_count + 1;
            if (!mr_grow((void **)&out->races, &capacity, n, sizeof *out->races) ||
                !mr_grow((void **)&out->race_states, &state_capacity, n, sizeof(uint32_t)))
                return false;
            out->races[n - 1] = (mr_pair){a, b};
            out->race_states[n - 1] = *found_at(s, a, b) - 1;
            out->race_count = n;
        }
    }
    return true;
}

bool mr_exhaustive_find_with(const mr_trace *trace, const mr_exhaustive_options *options,
                             uint32_t start, uint32_t end, mr_exhaustive *out)
{
    assert(start <= end && end <= trace->event_count);
    *out = (mr_exhaustive){.start = start, .end = end, .model = options->model};
    job *s = mr_calloc(1, sizeof *s);
    if (!s)
        return false;
    s->trace = trace;
    s->out = out;
    s->options = *options;
    s->found = mr_calloc((size_t)(end - start) * (end - start) + 1, sizeof *s->found);
    bool ok = s->found &&
              mr_facts_init(&s->facts, trace, options->model, options->opaque, start, end) &&
              search_all(s) && collect(s);
    free(s->found);
    free(s->slots);
    free(s);
    return ok;
}

bool mr_exhaustive_find(const mr_trace *trace, mr_model model, uint32_t start, uint32_t end,
                        mr_exhaustive *out)
{
    return mr_exhaustive_find_with(trace, &(mr_exhaustive_options){.model = model}, start, end,
                                   out);
}

bool mr_exhaustive_find_sync_preserving(const mr_trace *trace, uint32_t start, uint32_t end,
                                        mr_exhaustive *out)
{
    mr_exhaustive_options options = {.model = MR_MODEL_RF, .sync_preserving = true};
    return mr_exhaustive_find_with(trace, &options, start, end, out);
}

void mr_exhaustive_free(mr_exhaustive *search)
{
    free(search->races);
    free(search->race_states);
    free(search->states);
    free(search->steps);
    free(search->hits);
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

uint32_t mr_exhaustive_last_write(const mr_exhaustive *search, size_t state, uint32_t variable,
                                  bool *known)
{
    const mr_exhaustive_state *s = &search->states[state];
    *known = s->source[variable] != MR_UNKNOWN_CLASS;
    return s->last[variable] ? s->last[variable] - 1u : MR_NONE;
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
