#include "c17_pairs.h"

#include "base/memory.h"
#include "c17.h"
#include "epochs.h"

#include <stdlib.h>
#include <string.h>

/* The latest access of a thread to the variable at one place, of one kind; or the free of its
 * object. */
typedef struct past {
    uint32_t event, thread, local, location;
    uint8_t op;
    bool is_over; /* the free came later */
} past;

/* A contended variable. */
typedef struct variable {
    mr_time write; /* of its last write; local 0: none */
    bool is_plain; /* is that a plain one? */
    bool is_freed; /* the free of its object is among the accesses */
    past *accesses;
    size_t count, capacity;
} variable;

/* Units of a semaphore that were given: those from `first` on are not taken. */
typedef struct units {
    mr_time *given;
    size_t first, count, capacity;
} units;

/* What a sequence of events leaves. */
typedef struct state {
    mr_hb hb;
    mr_c17 order;
    units *semaphores; /* by lock */
    mr_time *sources;  /* of the events with edges of calls from them, as in `from` */
    mr_map numbers;    /* variable → number in `variables` */
    variable *variables;
    size_t variable_count, variable_capacity;
} state;

struct mr_c17_pairs {
    const mr_trace *trace;
    const mr_outlook *outlook;
    const mr_barrier_edges *edges;
    mr_c17_take *take;
    void *context;
    uint32_t *from; /* the events with edges of calls from them, ascending */
    uint32_t from_count;
    uint32_t end;
    state recorded;
    state *tried; /* the one in use, when a sequence is tried */
};

/* ---- states ---- */

static void drop_variable(mr_clock_pool *pool, variable *it)
{
    mr_clock_drop(pool, &it->write.clock);
    free(it->accesses);
}

static void free_state(const mr_c17_pairs *pairs, state *it)
{
    mr_clock_pool *pool = &it->hb.pool;
    for (uint32_t lock = 0; it->semaphores && lock < pairs->trace->locks.count; lock++) {
        for (size_t i = 0; i < it->semaphores[lock].count; i++)
            mr_clock_drop(pool, &it->semaphores[lock].given[i].clock);
        free(it->semaphores[lock].given);
    }
    for (uint32_t i = 0; it->sources && i < pairs->from_count; i++)
        mr_clock_drop(pool, &it->sources[i].clock);
    for (size_t i = 0; i < it->variable_count; i++)
        drop_variable(pool, &it->variables[i]);
    free(it->semaphores);
    free(it->sources);
    free(it->variables);
    mr_map_free(&it->numbers);
    mr_c17_free(&it->order, pool);
    mr_hb_free(&it->hb);
}

static bool start_state(const mr_c17_pairs *pairs, state *it)
{
    const mr_trace *trace = pairs->trace;
    it->semaphores = mr_calloc((size_t)trace->locks.count + 1, sizeof *it->semaphores);
    it->sources = mr_calloc((size_t)pairs->from_count + 1, sizeof *it->sources);
    return it->semaphores && it->sources &&
           mr_hb_grow(&it->hb, trace->threads.count, trace->locks.count) &&
           mr_c17_grow(&it->order, trace->threads.count);
}

static bool copy_locks(const mr_c17_pairs *pairs, state *to, const state *from)
{
    for (uint32_t lock = 0; lock < pairs->trace->locks.count; lock++) {
        const units *old = &from->semaphores[lock];
        units *new = &to->semaphores[lock];
        void *given = NULL;
        to->hb.locks[lock] = from->hb.locks[lock];
        mr_clock_share(to->hb.locks[lock].release.clock);
        mr_clock_share(to->hb.locks[lock].shared);
        if (old->first == old->count)
            continue;
        if (!mr_grow(&given, &new->capacity, old->count - old->first, sizeof *new->given))
            return false;
        new->given = given;
        for (size_t i = old->first; i < old->count; i++) {
            new->given[new->count++] = old->given[i];
            mr_clock_share(old->given[i].clock);
        }
    }
    return true;
}

/* All but the variables, which are copied when they are used. */
static bool copy_state(const mr_c17_pairs *pairs, state *to, const state *from)
{
    if (!start_state(pairs, to))
        return false;
    for (uint32_t thread = 0; thread < pairs->trace->threads.count; thread++) {
        to->hb.threads[thread] = from->hb.threads[thread];
        mr_clock_share(to->hb.threads[thread].clock);
    }
    for (uint32_t i = 0; i < pairs->from_count; i++) {
        to->sources[i] = from->sources[i];
        mr_clock_share(to->sources[i].clock);
    }
    for (uint32_t i = 0; i < from->hb.share_depths.count; i++) {
        const mr_map_item *item = &from->hb.share_depths.items[i];
        if (!mr_map_at(&to->hb.share_depths, item->key, item->value))
            return false;
    }
    mr_c17_free(&to->order, &to->hb.pool);
    return copy_locks(pairs, to, from) && mr_c17_copy(&to->order, &from->order);
}

/* ---- variables ---- */

static bool copy_variable(variable *to, const variable *from)
{
    void *accesses = NULL;
    if (!mr_grow(&accesses, &to->capacity, from->count, sizeof *to->accesses))
        return false;
    to->accesses = accesses;
    if (from->count)
        memcpy(to->accesses, from->accesses, from->count * sizeof *to->accesses);
    to->count = from->count;
    to->write = from->write;
    to->is_plain = from->is_plain;
    to->is_freed = from->is_freed;
    mr_clock_share(to->write.clock);
    return true;
}

/* The variable in the state in use. NULL: no memory. Valid until the next call. */
static variable *variable_of(mr_c17_pairs *pairs, uint32_t name)
{
    state *in = pairs->tried ? pairs->tried : &pairs->recorded;
    uint32_t *number = mr_map_at(&in->numbers, name, MR_NONE);
    if (!number)
        return NULL;
    if (*number != MR_NONE)
        return &in->variables[*number];
    void *variables = in->variables;
    if (!mr_grow(&variables, &in->variable_capacity, in->variable_count + 1, sizeof *in->variables))
        return NULL;
    in->variables = variables;
    variable *made = &in->variables[in->variable_count];
    *made = (variable){0};
    uint32_t old =
        pairs->tried ? mr_map_get(&pairs->recorded.numbers, name, MR_NONE) : (uint32_t)MR_NONE;
    if (old != MR_NONE && !copy_variable(made, &pairs->recorded.variables[old]))
        return NULL;
    *number = (uint32_t)in->variable_count++;
    return made;
}

/* ---- accesses ---- */

/* What the event knows: its thread's clock, and what it acquires itself. */
typedef struct knowing {
    const mr_clock *clock;
    mr_time acquired;
} knowing;

static bool knows(const knowing *self, const past *earlier)
{
    const mr_time *acquired = &self->acquired;
    return earlier->local <= mr_clock_get(self->clock, earlier->thread) ||
           earlier->local <= mr_clock_get(acquired->clock, earlier->thread) ||
           (acquired->thread == earlier->thread && earlier->local <= acquired->local);
}

/* Is the free of the object known? What came before it cannot be a pair with this event, as in the
 * orders of the trace (lives.h). */
static bool knows_free(const knowing *self, const variable *of)
{
    for (size_t i = 0; i < of->count; i++)
        if (mr_op_ends_life(of->accesses[i].op) && knows(self, &of->accesses[i]))
            return true;
    return false;
}

/* Tells the pairs of which the event is the second. */
static bool judge(mr_c17_pairs *pairs, const state *in, uint32_t event, const variable *of)
{
    const mr_trace *trace = pairs->trace;
    uint32_t thread = trace->thread[event];
    uint8_t op = trace->op[event];
    knowing self = {.clock = in->hb.threads[thread].clock};
    if (mr_op_is_atomic(op) && mr_op_reads(op) &&
        mr_memory_order_acquires(mr_trace_memory_order(trace, event)))
        self.acquired = mr_c17_offer(&in->order, trace->operand[event]);
    bool is_freed = of->is_freed && knows_free(&self, of);
    for (size_t i = 0; i < of->count; i++) {
        const past *earlier = &of->accesses[i];
        bool conflicts =
            mr_op_ends_life(earlier->op) || mr_op_ends_life(op) || mr_ops_conflict(earlier->op, op);
        if (earlier->thread != thread && conflicts && !knows(&self, earlier) &&
            !(is_freed && earlier->is_over) && !pairs->take(pairs->context, earlier->event, event))
            return false;
    }
    return true;
}

static bool note(const mr_c17_pairs *pairs, const state *in, uint32_t event, variable *of)
{
    const mr_trace *trace = pairs->trace;
    uint32_t thread = trace->thread[event];
    past now = {
        event, thread, in->hb.threads[thread].local, trace->location[event], trace->op[event],
        false};
    for (size_t i = 0; i < of->count; i++) {
        past *known = &of->accesses[i];
        if (known->thread == thread && known->location == now.location && known->op == now.op) {
            *known = now;
            return true;
        }
    }
    void *accesses = of->accesses;
    if (!mr_grow(&accesses, &of->capacity, of->count + 1, sizeof *of->accesses))
        return false;
    of->accesses = accesses;
    of->accesses[of->count++] = now;
    return true;
}

/* What a read learns of the last write without synchronising. */
static bool follow_write(state *in, uint32_t thread, const variable *of)
{
    return !of->write.local || of->write.thread == thread ||
           mr_clock_learn(&in->hb.pool, &in->hb.threads[thread].clock, of->write);
}

static bool read_and_write(mr_c17_pairs *pairs, state *in, uint32_t event)
{
    const mr_trace *trace = pairs->trace;
    uint32_t thread = trace->thread[event], name = trace->operand[event];
    uint8_t op = trace->op[event];
    mr_memory_order order = mr_trace_memory_order(trace, event);
    if (!mr_op_is_atomic(op)) {
        if (mr_op_writes(op))
            mr_c17_plain_write(&in->order, &in->hb, thread, name);
        return true;
    }
    return (!mr_op_reads(op) || mr_c17_read(&in->order, &in->hb, thread, name, order)) &&
           (!mr_op_writes(op) ||
            mr_c17_write(&in->order, &in->hb, thread, name, order, mr_op_updates(op)));
}

static bool access(mr_c17_pairs *pairs, state *in, uint32_t event)
{
    const mr_trace *trace = pairs->trace;
    uint32_t thread = trace->thread[event];
    uint8_t op = trace->op[event];
    variable *of = NULL;
    if (pairs->outlook->contended[trace->operand[event]]) {
        of = variable_of(pairs, trace->operand[event]);
        if (!of || !judge(pairs, in, event, of) || !note(pairs, in, event, of))
            return false;
        if (mr_op_reads(op) && (of->is_plain || !mr_op_is_atomic(op)) &&
            !follow_write(in, thread, of))
            return false;
    } else if (!mr_op_is_atomic(op)) {
        return true;
    }
    if (!read_and_write(pairs, in, event))
        return false;
    if (!mr_op_writes(op))
        return true;
    if (of) {
        mr_time_set(&in->hb.pool, &of->write, mr_hb_now(&in->hb, thread));
        of->is_plain = !mr_op_is_atomic(op);
    }
    in->hb.threads[thread].local++;
    return true;
}

/* The free as an access of each variable of its object. `only_judge`: it is next, and not done. */
static bool free_object(mr_c17_pairs *pairs, state *in, uint32_t event, bool only_judge)
{
    const mr_trace *trace = pairs->trace;
    const mr_object_info *object = &trace->object_info[trace->operand[event]];
    for (uint32_t i = 0; i < object->variable_count; i++) {
        uint32_t name = trace->object_variables[object->first_variable + i];
        if (!pairs->outlook->contended[name])
            continue;
        variable *of = variable_of(pairs, name);
        if (!of || !judge(pairs, in, event, of))
            return false;
        if (only_judge)
            continue;
        for (size_t k = 0; k < of->count; k++)
            of->accesses[k].is_over = true;
        of->is_freed = true;
        if (!note(pairs, in, event, of))
            return false;
    }
    return true;
}

/* ---- synchronisation ---- */

static bool lock(state *in, mr_op op, uint32_t thread, uint32_t operand)
{
    bool acquires = mr_op_acquires((uint8_t)op), outermost;
    if (!mr_op_is_shared((uint8_t)op))
        outermost = acquires ? mr_hb_enters(&in->hb, operand) : mr_hb_leaves(&in->hb, operand);
    else if (!(acquires ? mr_hb_enters_shared(&in->hb, thread, operand, &outermost)
                        : mr_hb_leaves_shared(&in->hb, thread, operand, &outermost)))
        return false;
    return !outermost || mr_hb_sync(&in->hb, op, thread, operand);
}

static bool post(state *in, uint32_t thread, uint32_t semaphore)
{
    units *it = &in->semaphores[semaphore];
    void *given = it->given;
    if (!mr_grow(&given, &it->capacity, it->count + 1, sizeof *it->given))
        return false;
    it->given = given;
    it->given[it->count] = (mr_time){0};
    mr_time_set(&in->hb.pool, &it->given[it->count++], mr_hb_now(&in->hb, thread));
    in->hb.threads[thread].local++;
    return true;
}

static bool wait(state *in, uint32_t thread, uint32_t semaphore)
{
    units *it = &in->semaphores[semaphore];
    MR_ASSERT(it->first < it->count);
    mr_time *unit = &it->given[it->first++];
    bool done = unit->thread == thread ||
                mr_clock_learn(&in->hb.pool, &in->hb.threads[thread].clock, *unit);
    mr_clock_drop(&in->hb.pool, &unit->clock);
    if (it->first == it->count)
        it->first = it->count = 0;
    return done;
}

/* ---- calls that were not recorded ---- */

/* The number of the event in `from`, or MR_NONE. */
static uint32_t source_of(const mr_c17_pairs *pairs, uint32_t event)
{
    uint32_t low = 0, high = pairs->from_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (pairs->from[middle] < event)
            low = middle + 1;
        else
            high = middle;
    }
    return low < pairs->from_count && pairs->from[low] == event ? low : (uint32_t)MR_NONE;
}

static bool enter(const mr_c17_pairs *pairs, state *in, uint32_t event)
{
    const mr_barrier_edges *edges = pairs->edges;
    uint32_t thread = pairs->trace->thread[event];
    for (size_t i = mr_barrier_edges_from(edges, event);
         i < edges->count && edges->items[i].to == event; i++) {
        uint32_t number = source_of(pairs, edges->items[i].from);
        MR_ASSERT(number != MR_NONE && in->sources[number].local);
        if (!mr_clock_learn(&in->hb.pool, &in->hb.threads[thread].clock, in->sources[number]))
            return false;
    }
    return true;
}

static void leave(const mr_c17_pairs *pairs, state *in, uint32_t event)
{
    uint32_t thread = pairs->trace->thread[event], number = source_of(pairs, event);
    if (number == MR_NONE)
        return;
    mr_time_set(&in->hb.pool, &in->sources[number], mr_hb_now(&in->hb, thread));
    in->hb.threads[thread].local++;
}

static int compare_events(const void *one, const void *two)
{
    uint32_t x = *(const uint32_t *)one, y = *(const uint32_t *)two;
    return (x > y) - (x < y);
}

static bool find_sources(mr_c17_pairs *pairs)
{
    const mr_barrier_edges *edges = pairs->edges;
    pairs->from = mr_calloc(edges->count + 1, sizeof *pairs->from);
    if (!pairs->from)
        return false;
    for (size_t i = 0; i < edges->count; i++)
        pairs->from[i] = edges->items[i].from;
    if (edges->count)
        qsort(pairs->from, edges->count, sizeof *pairs->from, compare_events);
    for (size_t i = 0; i < edges->count; i++)
        if (!i || pairs->from[i] != pairs->from[pairs->from_count - 1])
            pairs->from[pairs->from_count++] = pairs->from[i];
    return true;
}

/* ---- sequences ---- */

static bool operation(mr_c17_pairs *pairs, state *in, uint32_t event)
{
    const mr_trace *trace = pairs->trace;
    uint32_t thread = trace->thread[event], operand = trace->operand[event];
    mr_op op = (mr_op)trace->op[event];
    switch ((mr_op)op) {
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
        return access(pairs, in, event);
    case MR_OP_ACQUIRE:
    case MR_OP_RELEASE:
    case MR_OP_SHARED_ACQUIRE:
    case MR_OP_SHARED_RELEASE:
        return !pairs->outlook->lock_shared[operand] || lock(in, op, thread, operand);
    case MR_OP_FORK:
        return mr_hb_fork(&in->hb, thread, operand);
    case MR_OP_JOIN:
        return mr_hb_join(&in->hb, thread, operand);
    case MR_OP_POST:
        return post(in, thread, operand);
    case MR_OP_WAIT:
        return wait(in, thread, operand);
    case MR_OP_FENCE: {
        bool done = mr_c17_fence(&in->order, &in->hb, thread, mr_trace_memory_order(trace, event));
        in->hb.threads[thread].local++;
        return done;
    }
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_ALLOC: /* its edges are among those of calls */
    case MR_OP_DEREF:
        break;
    case MR_OP_FREE:
        return free_object(pairs, in, event, false);
    }
    return true;
}

static bool step(mr_c17_pairs *pairs, state *in, uint32_t event)
{
    if (!pairs->from_count)
        return operation(pairs, in, event);
    if (!enter(pairs, in, event) || !operation(pairs, in, event))
        return false;
    leave(pairs, in, event);
    return true;
}

bool mr_c17_pairs_go_to(mr_c17_pairs *pairs, uint32_t end)
{
    MR_REQUIRE(end >= pairs->end && end <= pairs->trace->event_count);
    for (; pairs->end < end; pairs->end++) {
        mr_trace_pass(pairs->trace, pairs->end);
        if (!step(pairs, &pairs->recorded, pairs->end))
            return false;
    }
    return true;
}

/* The pairs of an access that is next. */
static bool probe(mr_c17_pairs *pairs, state *in, uint32_t event)
{
    const mr_trace *trace = pairs->trace;
    if (!enter(pairs, in, event))
        return false;
    if (mr_op_ends_life(trace->op[event]))
        return free_object(pairs, in, event, true);
    if (!pairs->outlook->contended[trace->operand[event]])
        return true;
    const variable *of = variable_of(pairs, trace->operand[event]);
    return of && judge(pairs, in, event, of);
}

bool mr_c17_pairs_try(mr_c17_pairs *pairs, const uint32_t *events, uint32_t count,
                      const uint32_t accesses[2])
{
    state in = {0};
    bool done = copy_state(pairs, &in, &pairs->recorded);
    pairs->tried = &in;
    for (uint32_t i = 0; done && i < count; i++)
        done = step(pairs, &in, events[i]);
    for (int i = 0; done && i < 2; i++)
        done = probe(pairs, &in, accesses[i]);
    pairs->tried = NULL;
    free_state(pairs, &in);
    return done;
}

/* ---- life ---- */

mr_c17_pairs *mr_c17_pairs_new(const mr_trace *trace, const mr_outlook *outlook,
                               const mr_barrier_edges *edges, mr_c17_take *take, void *context)
{
    mr_c17_pairs *pairs = mr_calloc(1, sizeof *pairs);
    if (!pairs)
        return NULL;
    *pairs = (mr_c17_pairs){
        .trace = trace, .outlook = outlook, .edges = edges, .take = take, .context = context};
    if (find_sources(pairs) && start_state(pairs, &pairs->recorded))
        return pairs;
    mr_c17_pairs_free(pairs);
    return NULL;
}

void mr_c17_pairs_free(mr_c17_pairs *pairs)
{
    if (!pairs)
        return;
    free_state(pairs, &pairs->recorded);
    free(pairs->from);
    free(pairs);
}
