#include "relevant.h"

#include "base/assert.h"

#include <stdlib.h>

/* A trace with more chains of threads (trace/chains.h) gets no clocks: their matrix would be large. */
enum { MOST_CLOCKS = 2048 };

/* A point in a thread. `thread` is its number plus one; 0: no thread. `time` is the number of threads
 * that its chain has forked so far, and of its threads that were joined, plus one. */
typedef struct moment {
    uint32_t thread, time;
} moment;

typedef struct name_state {
    moment write, read; /* the last write, and the last read */
    bool many;          /* some earlier read is not certainly before `read` */
    moment end;         /* variable: the free of its object */
} name_state;

typedef struct finder {
    const mr_trace *trace;
    bool by_thread;       /* a variable that two threads use, one of them writing, is relevant */
    uint32_t chain_count; /* with clocks; 0: none */
    uint32_t *clocks;     /* clocks[c][d]: the time of d that is certainly before c's next event */
    uint32_t *latest;     /* by chain: its thread that was forked last */
    name_state *variables, *locks;
    mr_relevant *relevant;
} finder;

static uint32_t *clock_of(const finder *f, uint32_t chain)
{
    return f->clocks + (size_t)chain * f->chain_count;
}

static moment now_of(const finder *f, uint32_t thread)
{
    uint32_t chain = f->trace->chain[thread];
    return (moment){thread + 1, f->chain_count ? clock_of(f, chain)[chain] : 0};
}

/* Is the moment certainly before the next event of the thread? */
static bool is_before(const finder *f, moment earlier, uint32_t thread, bool by_thread)
{
    MR_ASSERT(earlier.thread <= f->trace->threads.count);
    if (!earlier.thread || earlier.thread == thread + 1)
        return true;
    if (!f->chain_count || by_thread)
        return false;
    uint32_t chain = f->trace->chain[thread], its = f->trace->chain[earlier.thread - 1];
    return its == chain || earlier.time <= clock_of(f, chain)[its];
}

/* Is there an earlier operation on the name that excludes this one and is not certainly before it?
 * Adds this one to the state of the name. */
static bool is_unordered(const finder *f, name_state *name, uint32_t thread, bool writes,
                         bool by_thread)
{
    moment now = now_of(f, thread);
    if (!is_before(f, name->write, thread, by_thread))
        return true;
    if (writes) {
        name->write = now;
        return name->many || !is_before(f, name->read, thread, by_thread);
    }
    name->many |= !is_before(f, name->read, thread, by_thread);
    name->read = now;
    return false;
}

static void join_clock(finder *f, uint32_t into, uint32_t from)
{
    uint32_t *to = clock_of(f, into);
    const uint32_t *clock = clock_of(f, from);
    for (uint32_t c = 0; c < f->chain_count; c++)
        to[c] = clock[c] > to[c] ? clock[c] : to[c];
}

static void fork_thread(finder *f, uint32_t parent, uint32_t child)
{
    if (!f->chain_count)
        return;
    uint32_t from = f->trace->chain[parent], into = f->trace->chain[child];
    MR_ASSERT(from != into && clock_of(f, from)[from] > clock_of(f, into)[from]);
    join_clock(f, into, from);
    clock_of(f, from)[from]++;
    f->latest[into] = child;
}

/* When the chain goes on with another thread already, the join is passed over: then less is known. */
static void join_thread(finder *f, uint32_t thread, uint32_t child)
{
    if (!f->chain_count)
        return;
    uint32_t into = f->trace->chain[thread], from = f->trace->chain[child];
    if (into == from || f->latest[from] != child)
        return;
    join_clock(f, into, from);
    clock_of(f, from)[from]++;
}

static void look_at_lock(finder *f, uint32_t event, bool writes)
{
    const mr_trace *trace = f->trace;
    uint32_t lock = trace->operand[event];
    if (trace->link[event] != MR_NESTED && !f->relevant->locks[lock])
        f->relevant->locks[lock] =
            is_unordered(f, &f->locks[lock], trace->thread[event], writes, false);
}

/* A free excludes each access of its object. */
static void look_at_free(finder *f, uint32_t event)
{
    const mr_trace *trace = f->trace;
    uint32_t object = trace->operand[event], thread = trace->thread[event];
    const mr_object_info *info = &trace->object_info[object];
    moment now = now_of(f, thread);
    for (uint32_t i = 0; i < info->variable_count; i++) {
        uint32_t variable = trace->object_variables[info->first_variable + i];
        name_state *name = &f->variables[variable];
        name->end = now;
        /* Of a relevant variable only the first accesses are known. */
        if (f->relevant->variables[variable] || name->many ||
            !is_before(f, name->write, thread, false) || !is_before(f, name->read, thread, false))
            f->relevant->variables[variable] = f->relevant->objects[object] = true;
    }
}

/* After the free. */
static void look_at_late(finder *f, uint32_t event)
{
    const mr_trace *trace = f->trace;
    uint32_t variable = trace->operand[event];
    if (!is_before(f, f->variables[variable].end, trace->thread[event], false))
        f->relevant->variables[variable] = f->relevant->objects[mr_trace_object(trace, variable)] =
            true;
}

static void look_at(finder *f, uint32_t event)
{
    const mr_trace *trace = f->trace;
    uint8_t op = trace->op[event];
    uint32_t thread = trace->thread[event], operand = trace->operand[event];
    if (mr_op_is_access(op)) {
        look_at_late(f, event);
        if (!f->relevant->variables[operand])
            f->relevant->variables[operand] =
                is_unordered(f, &f->variables[operand], thread, mr_op_writes(op), f->by_thread);
        return;
    }
    switch ((mr_op)op) {
    case MR_OP_ACQUIRE:
    case MR_OP_RELEASE:
    case MR_OP_POST:
    case MR_OP_WAIT:
        look_at_lock(f, event, true);
        break;
    case MR_OP_SHARED_ACQUIRE:
    case MR_OP_SHARED_RELEASE:
        look_at_lock(f, event, false);
        break;
    case MR_OP_FORK:
        fork_thread(f, thread, operand);
        break;
    case MR_OP_FREE:
        look_at_free(f, event);
        break;
    case MR_OP_JOIN:
        join_thread(f, thread, operand);
        break;
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_ALLOC:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break;
    }
}

static bool prepare(finder *f)
{
    const mr_trace *trace = f->trace;
    uint32_t chains = trace->chain_count;
    f->relevant->variables = mr_calloc(trace->variables.count, 1);
    f->relevant->locks = mr_calloc(trace->locks.count, 1);
    f->relevant->objects = mr_calloc(trace->objects.count, 1);
    f->variables = mr_calloc(trace->variables.count, sizeof *f->variables);
    f->locks = mr_calloc(trace->locks.count, sizeof *f->locks);
    if (!f->relevant->variables || !f->relevant->locks || !f->relevant->objects || !f->variables ||
        !f->locks)
        return false;
    if (chains > MOST_CLOCKS)
        return true;
    f->clocks = mr_calloc((size_t)chains * chains, sizeof *f->clocks);
    f->latest = mr_calloc(chains, sizeof *f->latest);
    if (!f->clocks || !f->latest)
        return false;
    f->chain_count = chains;
    for (uint32_t c = 0; c < chains; c++)
        clock_of(f, c)[c] = 1;
    for (uint32_t t = 0; t < trace->threads.count; t++)
        if (trace->thread_info[t].fork == MR_NONE)
            f->latest[trace->chain[t]] = t; /* alone in its chain */
    return true;
}

bool mr_relevant_find(mr_relevant *relevant, const mr_trace *trace, mr_model model)
{
    *relevant = (mr_relevant){0};
    finder f = {.trace = trace, .by_thread = model == MR_MODEL_BRANCH, .relevant = relevant};
    bool complete = prepare(&f);
    for (uint32_t event = 0; complete && event < trace->event_count; event++)
        look_at(&f, event);
    free(f.variables);
    free(f.locks);
    free(f.clocks);
    free(f.latest);
    return complete;
}

bool mr_relevant_keeps(const mr_relevant *relevant, const mr_trace *trace, mr_model model,
                       uint32_t event)
{
    MR_REQUIRE(event < trace->event_count);
    uint8_t op = trace->op[event];
    switch ((mr_op)op) {
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
        return relevant->variables[trace->operand[event]];
    case MR_OP_FORK:
    case MR_OP_JOIN:
        return true;
    case MR_OP_BRANCH:
    case MR_OP_CALL_BEGIN:
        return model == MR_MODEL_BRANCH;
    case MR_OP_FREE:
        return relevant->objects[trace->operand[event]];
    case MR_OP_ALLOC:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_CALL_END:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        return false;
    case MR_OP_ACQUIRE:
    case MR_OP_RELEASE:
    case MR_OP_SHARED_ACQUIRE:
    case MR_OP_SHARED_RELEASE:
    case MR_OP_POST:
    case MR_OP_WAIT:
        break;
    }
    return trace->link[event] != MR_NESTED && relevant->locks[trace->operand[event]];
}

void mr_relevant_free(mr_relevant *relevant)
{
    free(relevant->variables);
    free(relevant->locks);
    free(relevant->objects);
    *relevant = (mr_relevant){0};
}
