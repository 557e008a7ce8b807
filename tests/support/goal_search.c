#include "goal_search.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = MR_EXHAUSTIVE_THREADS, VARIABLES = MR_EXHAUSTIVE_VARIABLES };

/* A state as section 7 asks about it: what is in rho, and the last writes. */
typedef struct moment {
    bool in[MR_GOAL_EVENTS];
    uint32_t write[VARIABLES];
    bool known[VARIABLES];  /* false: the write's value is unknown */
    uint32_t next[THREADS]; /* at which the thread stands, by rules 1, 3 and 5; or MR_NONE */
    uint32_t exclusive[THREADS], shared[THREADS]; /* locks held, as bits */
} moment;

typedef struct job {
    const mr_trace *trace;
    mr_facts facts;
    mr_right_goals *out;
    uint32_t state; /* that is looked at */
    moment now;
    bool full; /* there are more deadlocks than places */
} job;

static bool reads(uint8_t op)
{
    return op == MR_OP_READ || op == MR_OP_ATOMIC_READ || op == MR_OP_ATOMIC_UPDATE;
}

static bool writes(uint8_t op)
{
    return op == MR_OP_WRITE || op == MR_OP_ATOMIC_WRITE || op == MR_OP_ATOMIC_UPDATE;
}

static void find(job *s, uint32_t *place)
{
    if (!*place)
        *place = s->state + 1;
}

/* ---- the moment ---- */

static bool may_stand_at(const job *s, uint32_t event)
{
    uint32_t fork = s->facts.fork[s->trace->thread[event]];
    if (fork != MR_NONE && !s->now.in[fork])
        return false;
    for (uint32_t t = 0; t < s->trace->threads.count; t++) {
        uint32_t need = s->facts.need[event][t];
        if (need != MR_NONE && !s->now.in[need])
            return false;
    }
    return true;
}

static void look(job *s)
{
    const mr_exhaustive *search = &s->out->search;
    moment *now = &s->now;
    for (uint32_t e = 0; e < s->trace->event_count; e++)
        now->in[e] = e < search->start ||
                     (e < search->end && mr_exhaustive_done(search, s->state, s->trace->thread[e]) >
                                             s->facts.index[e]);
    for (uint32_t x = 0; x < s->trace->variables.count; x++)
        now->write[x] = mr_exhaustive_last_write(search, s->state, x, &now->known[x]);
    for (uint32_t t = 0; t < s->trace->threads.count; t++) {
        uint32_t done = mr_exhaustive_done(search, s->state, t);
        now->next[t] = done < s->facts.count[t] ? s->facts.events[t][done] : MR_NONE;
        if (now->next[t] != MR_NONE && !may_stand_at(s, now->next[t]))
            now->next[t] = MR_NONE;
        now->exclusive[t] = s->facts.exclusive[t][done];
        now->shared[t] = s->facts.shared[t][done];
    }
}

/* ---- use after free ---- */

static void note_uses(job *s, uint32_t use)
{
    const mr_trace *trace = s->trace;
    uint32_t object = mr_trace_object(trace, trace->operand[use]), alloc = s->facts.alloc[use];
    if (object == MR_NONE || (alloc != MR_NONE && !s->now.in[alloc]))
        return;
    for (uint32_t f = use + 1; f < trace->event_count; f++)
        if (trace->op[f] == MR_OP_FREE && trace->operand[f] == object && s->now.in[f] &&
            trace->thread[f] != trace->thread[use])
            find(s, &s->out->use_after_free[f][use]);
}

/* ---- pointers ---- */

unsigned mr_goal_uses(const mr_trace *trace, uint32_t read)
{
    unsigned uses = 0;
    for (uint32_t e = read + 1; e < trace->event_count; e++) {
        if (trace->thread[e] != trace->thread[read])
            continue;
        if (reads(trace->op[e]) && trace->operand[e] == trace->operand[read])
            break;
        if (trace->op[e] != MR_OP_DEREF || trace->operand[e] != trace->operand[read])
            continue;
        uint32_t after = e + 1;
        while (after < trace->event_count && trace->thread[after] != trace->thread[read])
            after++;
        bool frees = after < trace->event_count && trace->op[after] == MR_OP_FREE;
        uses |= frees ? MR_USED_BY_FREE : MR_USED_BY_ACCESS;
    }
    return uses;
}

static int64_t written(const mr_trace *trace, uint32_t write)
{
    uint32_t value = trace->value[write];
    if (trace->op[write] == MR_OP_ATOMIC_UPDATE)
        value = trace->updates[value].written_value;
    return trace->values[value];
}

static int64_t read_value(const mr_trace *trace, uint32_t read)
{
    uint32_t value = trace->value[read];
    if (trace->op[read] == MR_OP_ATOMIC_UPDATE)
        value = trace->updates[value].read_value;
    return trace->values[value];
}

/* Would the read see 0? */
static bool sees_null(const job *s, uint32_t read)
{
    uint32_t x = s->trace->operand[read], write = s->now.write[x];
    if (write != MR_NONE)
        return s->now.known[x] && written(s->trace, write) == 0;
    /* The initial value is that of the variable's first access, when it is a read. */
    for (uint32_t e = 0; e < s->trace->event_count; e++)
        if ((reads(s->trace->op[e]) || writes(s->trace->op[e])) && s->trace->operand[e] == x)
            return reads(s->trace->op[e]) && read_value(s->trace, e) == 0;
    return false;
}

/* Did the write leave an address in freed memory, when what `in` says has happened? */
static bool points_to_freed(const mr_trace *trace, uint32_t write, const bool *in)
{
    bool dead = false, alive = false;
    uint64_t address = (uint64_t)written(trace, write);
    for (uint32_t alloc = 0; alloc < trace->event_count; alloc++) {
        if (trace->op[alloc] != MR_OP_ALLOC || !trace->value[alloc])
            continue;
        mr_update extent = trace->updates[trace->value[alloc]];
        uint64_t first = (uint64_t)trace->values[extent.read_value];
        uint64_t bytes = (uint64_t)trace->values[extent.written_value];
        if (address < first || address - first >= bytes)
            continue;
        bool freed = false;
        for (uint32_t f = 0; f < trace->event_count; f++)
            freed |=
                trace->op[f] == MR_OP_FREE && trace->operand[f] == trace->operand[alloc] && in[f];
        dead |= freed;
        alive |= in[alloc] && !freed;
    }
    return dead && !alive;
}

static bool was_dangling(const mr_trace *trace, uint32_t read)
{
    bool in[MR_GOAL_EVENTS] = {false};
    uint32_t write = MR_NONE;
    for (uint32_t e = 0; e < read; e++) {
        in[e] = true;
        if (writes(trace->op[e]) && trace->operand[e] == trace->operand[read])
            write = e;
    }
    return write != MR_NONE && points_to_freed(trace, write, in);
}

static void note_pointer(job *s, uint32_t read)
{
    const mr_trace *trace = s->trace;
    uint32_t x = trace->operand[read], write = s->now.write[x];
    unsigned uses = mr_goal_uses(trace, read);
    if (!uses || s->out->by_source[x])
        return;
    if (read_value(trace, read) != 0 && sees_null(s, read))
        find(s, &s->out->null[read]);
    if (write == MR_NONE || !s->now.known[x] || !points_to_freed(trace, write, s->now.in) ||
        was_dangling(trace, read))
        return;
    if (uses & MR_USED_BY_ACCESS)
        find(s, &s->out->dangling[read]);
    if (uses & MR_USED_BY_FREE)
        find(s, &s->out->double_free[read]);
}

/* ---- what a read sees ---- */

static void note_sees(job *s, uint32_t read)
{
    uint32_t x = s->trace->operand[read], write = s->now.write[x];
    if (write == MR_NONE)
        return;
    find(s, &s->out->sees[read][write]);
    if (s->now.known[x] && !s->out->by_source[x]) {
        uint32_t value = s->trace->value[write];
        if (s->trace->op[write] == MR_OP_ATOMIC_UPDATE)
            value = s->trace->updates[value].written_value;
        find(s, &s->out->sees_value[read][value]);
    }
}

/* ---- deadlocks ---- */

/* A path of threads, each of which waits for the next. */
typedef struct path {
    uint32_t threads, locks; /* as bits */
    uint64_t acquires;
} path;

static bool waits(const job *s, uint32_t thread, uint32_t *lock)
{
    uint32_t e = s->now.next[thread];
    if (e == MR_NONE || (s->trace->memory_order && s->trace->memory_order[e] == MR_ORDER_TRY) ||
        (s->trace->op[e] != MR_OP_ACQUIRE && s->trace->op[e] != MR_OP_SHARED_ACQUIRE))
        return false;
    *lock = s->trace->operand[e];
    return true;
}

/* Does the thread hold the lock so that the acquire cannot be? */
static bool excludes(const job *s, uint32_t holder, uint32_t acquire)
{
    uint32_t held = s->now.exclusive[holder];
    if (s->trace->op[acquire] == MR_OP_ACQUIRE)
        held |= s->now.shared[holder];
    return held >> s->trace->operand[acquire] & 1;
}

bool mr_goal_search_has_deadlock(const mr_right_goals *goals, uint64_t acquires)
{
    for (uint32_t i = 0; i < goals->deadlock_count; i++)
        if (goals->deadlocks[i].acquires == acquires)
            return true;
    return false;
}

static void note_deadlock(job *s, uint64_t acquires)
{
    mr_right_goals *out = s->out;
    if (mr_goal_search_has_deadlock(out, acquires))
        return;
    s->full |= out->deadlock_count == MR_GOAL_DEADLOCKS;
    if (!s->full)
        out->deadlocks[out->deadlock_count++] = (mr_right_deadlock){acquires, s->state};
}

/* Goes on from the last thread of the path; a cycle is complete when it is back at the first. */
static void follow(job *s, path p, uint32_t first, uint32_t last)
{
    uint32_t lock = 0, acquire = s->now.next[last];
    if (!waits(s, last, &lock) || p.locks >> lock & 1)
        return;
    p.threads |= UINT32_C(1) << last;
    p.locks |= UINT32_C(1) << lock;
    p.acquires |= UINT64_C(1) << acquire;
    for (uint32_t t = first; t < s->trace->threads.count; t++) {
        if (t == last || !excludes(s, t, acquire))
            continue;
        if (t == first)
            note_deadlock(s, p.acquires);
        else if (!(p.threads >> t & 1))
            follow(s, p, first, t);
    }
}

static int compare_deadlocks(const void *a, const void *b)
{
    uint64_t one = ((const mr_right_deadlock *)a)->acquires;
    uint64_t other = ((const mr_right_deadlock *)b)->acquires;
    return (one > other) - (one < other);
}

/* ---- all of it ---- */

/* Rule 7 for an event that a thread stands at. */
static bool lives(const job *s, uint32_t event)
{
    uint32_t alloc = s->facts.alloc[event], later = s->facts.later_free[event];
    return (alloc == MR_NONE || s->now.in[alloc]) && (later == MR_NONE || !s->now.in[later]);
}

static void note_all(job *s)
{
    for (uint32_t t = 0; t < s->trace->threads.count; t++) {
        uint32_t next = s->now.next[t];
        follow(s, (path){0, 0, 0}, t, t);
        if (next == MR_NONE)
            continue;
        if (reads(s->trace->op[next]) || writes(s->trace->op[next]))
            note_uses(s, next);
        if (reads(s->trace->op[next]) && lives(s, next)) {
            note_pointer(s, next);
            note_sees(s, next);
        }
    }
}

/* Variables without values for each access, or with an unrecorded writer (docs/semantics.md 2.6). */
static void find_by_source(const mr_trace *trace, bool *by_source)
{
    for (uint32_t x = 0; x < trace->variables.count; x++) {
        bool known = false;
        int64_t current = 0;
        for (uint32_t e = 0; e < trace->event_count && !by_source[x]; e++) {
            if ((!reads(trace->op[e]) && !writes(trace->op[e])) || trace->operand[e] != x)
                continue;
            if (!trace->value[e])
                by_source[x] = true;
            else if (reads(trace->op[e])) {
                by_source[x] = known && read_value(trace, e) != current;
                current = read_value(trace, e);
            }
            if (trace->value[e] && writes(trace->op[e]))
                current = written(trace, e);
            known = true;
        }
    }
}

static bool search(job *s, mr_model model, mr_opaque opaque, uint32_t start, uint32_t end)
{
    const mr_trace *trace = s->trace;
    mr_exhaustive_options options = {.model = model, .opaque = opaque, .last_writes = true};
    if (trace->event_count > MR_GOAL_EVENTS || trace->value_count > MR_GOAL_VALUES ||
        !mr_facts_init(&s->facts, trace, model, opaque, start, end) ||
        !mr_exhaustive_find_with(trace, &options, start, end, &s->out->search))
        return false;
    find_by_source(trace, s->out->by_source);
    for (s->state = 0; s->state < s->out->search.state_count; s->state++) {
        look(s);
        note_all(s);
    }
    qsort(s->out->deadlocks, s->out->deadlock_count, sizeof *s->out->deadlocks, compare_deadlocks);
    return !s->full;
}

mr_right_goals *mr_goal_search(const mr_trace *trace, mr_model model, mr_opaque opaque,
                               uint32_t start, uint32_t end)
{
    job *s = mr_calloc(1, sizeof *s);
    mr_right_goals *out = mr_calloc(1, sizeof *out);
    bool ok = s && out;
    if (ok) {
        s->trace = trace;
        s->out = out;
        ok = search(s, model, opaque, start, end);
    }
    free(s);
    if (ok)
        return out;
    mr_goal_search_free(out);
    return NULL;
}

void mr_goal_search_free(mr_right_goals *goals)
{
    if (!goals)
        return;
    mr_exhaustive_free(&goals->search);
    free(goals);
}
