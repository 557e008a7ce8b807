#include "index.h"

#include "base/assert.h"
#include "base/huge.h"
#include "base/keys.h"
#include "chains.h"
#include "columns.h"

#include <stdlib.h>
#include <string.h>

/* What the pass knows of a variable and of a lock. */
typedef struct variable_state {
    uint32_t last_write;    /* MR_NONE: none so far */
    uint32_t last_value;    /* that it wrote; 0: unknown */
    uint32_t initial_value; /* as in mr_variable_info */
    uint32_t by_source;     /* 0 or 1 */
} variable_state;

typedef struct lock_state {
    uint32_t acquire, depth; /* `acquire` is the outermost one while depth > 0 */
} lock_state;

/* Posts whose unit nobody has taken so far, the oldest first. */
typedef struct post_queue {
    uint32_t first, last; /* in `posts`, MR_NONE: there is none */
} post_queue;

typedef struct post {
    uint32_t event, next;
} post;

/* The columns of the trace, as they are during one call of mr_index_add. */
typedef struct columns {
    const uint8_t *op;
    const uint32_t *thread, *operand, *value;
    uint32_t *link;
    const mr_update *updates;
    uint32_t update_count;
} columns;

struct mr_index {
    columns run;
    uint32_t end;              /* of the events that were added */
    uint32_t absent;           /* how many of them were passed over */
    variable_state *variables; /* NULL: links alone are wanted; then: */
    uint32_t *written;         /*   by variable: its last write + 1, 0: none so far */
    bool links_alone;
    size_t variable_count; /* for how many there is room; likewise below */
    lock_state *locks;
    size_t lock_count;
    mr_thread_info *threads;
    size_t thread_count;
    uint64_t op_counts[MR_OP_COUNT];
    mr_keys share_numbers; /* (lock, thread) to number in `shares` */
    lock_state *shares;    /* shared holds; the number 0 is unused */
    size_t share_capacity;
    post_queue *queues; /* by semaphore, as many as locks */
    post *posts;
    size_t post_count, post_capacity;
    mr_object_info *objects;
    size_t object_count;
    mr_chains chains;
    uint32_t *open_call; /* by thread: its innermost open call, whose link is the next outer one */
};

/* An access of any kind when values do not matter. */
static inline void index_link(mr_index *pass, uint32_t event, bool writes)
{
    uint32_t *written = &pass->written[pass->run.operand[event]];
    pass->run.link[event] = *written ? *written - 1 : MR_NONE;
    *written = writes ? event + 1 : *written;
}

static inline void index_read(mr_index *pass, uint32_t event, uint32_t value)
{
    variable_state *state = &pass->variables[pass->run.operand[event]];
    pass->run.link[event] = state->last_write;
    if (!value) {
        state->by_source = 1;
    } else if (state->last_write != MR_NONE) {
        state->by_source |= value != state->last_value;
    } else if (!state->initial_value) {
        state->initial_value = value;
    } else {
        /* Two different values before any write: only an unrecorded writer explains them. */
        state->by_source |= value != state->initial_value;
    }
}

static inline void index_write(mr_index *pass, uint32_t event, uint32_t value)
{
    variable_state *state = &pass->variables[pass->run.operand[event]];
    pass->run.link[event] = state->last_write;
    state->last_write = event;
    state->last_value = value;
    state->by_source |= !value;
}

static void index_update(mr_index *pass, uint32_t event)
{
    uint32_t value = pass->run.value[event];
    MR_ASSERT(!value || value < pass->run.update_count);
    mr_update update = value ? pass->run.updates[value] : (mr_update){0};
    index_read(pass, event, update.read_value);
    index_write(pass, event, update.written_value);
}

static void index_acquire(mr_index *pass, lock_state *lock, uint32_t event)
{
    if (lock->depth++)
        pass->run.link[event] = MR_NESTED;
    else
        lock->acquire = event;
}

static void index_release(mr_index *pass, lock_state *lock, uint32_t event)
{
    MR_ASSERT(lock->depth > 0); /* the trace is valid: the thread holds the lock */
    if (--lock->depth) {
        pass->run.link[event] = MR_NESTED;
    } else {
        pass->run.link[event] = lock->acquire;
        pass->run.link[lock->acquire] = event;
    }
}

/* The shared holds of the event's lock by its thread. NULL: no memory. */
static lock_state *get_share(mr_index *pass, uint32_t event)
{
    uint64_t key = (uint64_t)pass->run.operand[event] << 32 | pass->run.thread[event];
    uint32_t known = pass->share_numbers.count, number;
    void *shares = pass->shares;
    if (!mr_grow(&shares, &pass->share_capacity, (size_t)known + 2, sizeof *pass->shares))
        return NULL;
    pass->shares = shares;
    if (!mr_keys_add(&pass->share_numbers, key, &number))
        return NULL;
    if (number > known)
        pass->shares[number] = (lock_state){0};
    return &pass->shares[number];
}

static bool index_post(mr_index *pass, uint32_t event)
{
    post_queue *queue = &pass->queues[pass->run.operand[event]];
    void *posts = pass->posts;
    if (!mr_grow(&posts, &pass->post_capacity, pass->post_count + 1, sizeof *pass->posts))
        return false;
    pass->posts = posts;
    uint32_t number = (uint32_t)pass->post_count++;
    pass->posts[number] = (post){event, MR_NONE};
    *(queue->first == MR_NONE ? &queue->first : &pass->posts[queue->last].next) = number;
    queue->last = number;
    return true;
}

/* The trace is valid: there is a unit. */
static void index_wait(mr_index *pass, uint32_t event)
{
    post_queue *queue = &pass->queues[pass->run.operand[event]];
    MR_ASSERT(pass->posts && queue->first != MR_NONE);
    const post *given = &pass->posts[queue->first];
    pass->run.link[event] = given->event;
    MR_ASSERT(given->event < event);
    pass->run.link[given->event] = event;
    queue->first = given->next;
}

static void index_call(mr_index *pass, uint32_t event)
{
    uint32_t *link = pass->run.link, *open = &pass->open_call[pass->run.thread[event]];
    if (mr_op_calls(pass->run.op[event])) {
        link[event] = *open;
        *open = event;
        return;
    }
    uint32_t begin = *open;
    MR_ASSERT(begin < event); /* the trace is valid: a call of the thread is open */
    *open = link[begin];
    link[begin] = event;
    link[event] = begin;
}

/* Calls that never return have no end to link to. */
static void close_calls(mr_index *pass, uint32_t *link)
{
    for (size_t thread = 0; thread < pass->thread_count; thread++)
        for (uint32_t call = pass->open_call[thread], outer; call != MR_NONE; call = outer) {
            outer = link[call];
            link[call] = MR_NONE;
        }
}

static void index_life(mr_index *pass, uint32_t event)
{
    mr_object_info *object = &pass->objects[pass->run.operand[event]];
    if (mr_op_starts_life(pass->run.op[event])) {
        object->alloc = event;
        return;
    }
    object->free = event;
    pass->run.link[event] = object->alloc;
    if (object->alloc != MR_NONE)
        pass->run.link[object->alloc] = event;
}

/* Any operation but r and w, which mr_index_add knows. False: no memory. */
static bool index_operation(mr_index *pass, uint32_t event)
{
    const columns *run = &pass->run;
    lock_state *share;
    if (pass->links_alone && mr_op_is_access(run->op[event])) {
        index_link(pass, event, mr_op_writes(run->op[event]));
        return true;
    }
    switch ((mr_op)run->op[event]) {
    case MR_OP_ATOMIC_READ:
        index_read(pass, event, run->value[event]);
        return true;
    case MR_OP_ATOMIC_WRITE:
        index_write(pass, event, run->value[event]);
        return true;
    case MR_OP_ATOMIC_UPDATE:
        index_update(pass, event);
        return true;
    case MR_OP_ACQUIRE:
        index_acquire(pass, &pass->locks[run->operand[event]], event);
        return true;
    case MR_OP_RELEASE:
        index_release(pass, &pass->locks[run->operand[event]], event);
        return true;
    case MR_OP_SHARED_ACQUIRE:
    case MR_OP_SHARED_RELEASE:
        share = get_share(pass, event);
        if (share)
            (mr_op_acquires(run->op[event]) ? index_acquire : index_release)(pass, share, event);
        return share != NULL;
    case MR_OP_POST:
        return index_post(pass, event);
    case MR_OP_WAIT:
        index_wait(pass, event);
        return true;
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
        index_call(pass, event);
        return true;
    case MR_OP_ALLOC:
    case MR_OP_FREE:
        index_life(pass, event);
        return true;
    case MR_OP_FORK:
        pass->threads[run->operand[event]].fork = event;
        mr_chains_fork(&pass->chains, run->thread[event], run->operand[event]);
        return true;
    case MR_OP_JOIN:
        /* A join of a thread without events needs nothing, not even its fork. */
        if (pass->threads[run->operand[event]].first != MR_NONE)
            mr_chains_join(&pass->chains, run->thread[event], run->operand[event]);
        return true;
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_BRANCH:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break;
    }
    return true;
}

/* One event by the thread. */
static inline void index_thread(mr_thread_info *info, uint32_t event)
{
    MR_ASSERT_COSTLY(!info->event_count || info->last < event);
    info->first = info->event_count++ ? info->first : event;
    info->last = event;
}

/* Room for `need` elements; what is there stays. */
static bool widen(void **array, size_t need, size_t size_bytes)
{
    void *wider = mr_realloc(*array, need, size_bytes);
    if (!wider)
        return false;
    *array = wider;
    return true;
}

/* At least twice as much when it grows at all, so that names that come one by one cost O(1). */
static size_t roomier(size_t count, size_t need)
{
    return count && need < 2 * count ? 2 * count : need;
}

static bool widen_written(mr_index *pass, size_t count)
{
    const size_t before = pass->variable_count * sizeof *pass->written;
    const size_t bytes = count * sizeof *pass->written;
    void *written =
        before ? mr_huge_resize(pass->written, before, bytes) : mr_huge_new_present(bytes);
    if (!written)
        return false;
    pass->written = written;
    if (before)
        memset((char *)written + before, 0, bytes - before);
    pass->variable_count = count;
    return true;
}

static bool widen_variables(mr_index *pass, size_t need)
{
    size_t count = roomier(pass->variable_count, need);
    if (need <= pass->variable_count)
        return true;
    if (pass->links_alone)
        return widen_written(pass, count);
    if (!widen((void **)&pass->variables, count, sizeof *pass->variables))
        return false;
    for (size_t i = pass->variable_count; i < count; i++)
        pass->variables[i] = (variable_state){.last_write = MR_NONE};
    pass->variable_count = count;
    return true;
}

static bool widen_locks(mr_index *pass, size_t need)
{
    size_t count = roomier(pass->lock_count, need);
    if (need <= pass->lock_count)
        return true;
    if (!widen((void **)&pass->locks, count, sizeof *pass->locks) ||
        !widen((void **)&pass->queues, count, sizeof *pass->queues))
        return false;
    for (size_t i = pass->lock_count; i < count; i++) {
        pass->locks[i] = (lock_state){0};
        pass->queues[i] = (post_queue){.first = MR_NONE};
    }
    pass->lock_count = count;
    return true;
}

static bool widen_threads(mr_index *pass, size_t need)
{
    size_t count = roomier(pass->thread_count, need);
    if (need <= pass->thread_count)
        return true;
    if (!widen((void **)&pass->threads, count, sizeof *pass->threads) ||
        !widen((void **)&pass->open_call, count, sizeof *pass->open_call) ||
        !mr_chains_widen(&pass->chains, count))
        return false;
    for (size_t i = pass->thread_count; i < count; i++) {
        pass->threads[i] = (mr_thread_info){.fork = MR_NONE, .first = MR_NONE, .last = MR_NONE};
        pass->open_call[i] = MR_NONE;
    }
    pass->thread_count = count;
    return true;
}

static bool widen_objects(mr_index *pass, size_t need)
{
    size_t count = roomier(pass->object_count, need);
    if (need <= pass->object_count)
        return true;
    if (!widen((void **)&pass->objects, count, sizeof *pass->objects))
        return false;
    for (size_t i = pass->object_count; i < count; i++)
        pass->objects[i] = (mr_object_info){.alloc = MR_NONE, .free = MR_NONE};
    pass->object_count = count;
    return true;
}

mr_index *mr_index_new(void)
{
    return mr_calloc(1, sizeof(mr_index));
}

mr_index *mr_index_new_links(void)
{
    mr_index *index = mr_index_new();
    if (index)
        index->links_alone = true;
    return index;
}

void mr_index_free(mr_index *index)
{
    if (!index)
        return;
    free(index->variables);
    mr_huge_free(index->written, index->variable_count * sizeof *index->written);
    free(index->locks);
    free(index->threads);
    free(index->shares);
    free(index->queues);
    free(index->posts);
    free(index->open_call);
    free(index->objects);
    mr_keys_free(&index->share_numbers);
    mr_chains_free(&index->chains);
    free(index);
}

/* The links of the events from `first` on, when they alone are wanted. The events that a thread has one after the other are counted
 * at once. False: no memory. */
static bool add_links(mr_index *index, uint32_t first)
{
    const columns run = index->run;
    const uint32_t end = index->end;
    uint32_t *const written = index->written;
    uint64_t plain = 0, writes = 0;
    _Static_assert(MR_OP_READ == 0 && MR_OP_WRITE == 1 && MR_NONE == UINT32_MAX, "as used below");
    for (uint32_t event = first; event < end;) {
        const uint32_t thread = run.thread[event], begin = event;
        do {
            uint32_t op = run.op[event];
            if (op <= MR_OP_WRITE) {
                uint32_t *last = &written[run.operand[event]], before = *last;
                run.link[event] = before - 1;
                *last = op ? event + 1 : before;
                writes += op;
                plain++;
                continue;
            }
            run.link[event] = MR_NONE;
            if (!index_operation(index, event))
                return false;
            index->op_counts[op]++;
        } while (++event < end && run.thread[event] == thread);
        mr_thread_info *info = &index->threads[thread];
        info->first = info->event_count ? info->first : begin;
        info->event_count += event - begin;
        info->last = event - 1;
    }
    index->op_counts[MR_OP_READ] += plain - writes;
    index->op_counts[MR_OP_WRITE] += writes;
    return true;
}

/* A link leads from a later event to an earlier one. So the pass never touches the `link` of an
 * event that it has not met yet. */
bool mr_index_add(mr_index *index, const mr_trace *trace, uint32_t first, uint32_t count)
{
    MR_REQUIRE(first == index->end && trace->link);
    uint64_t plain = 0, writes = 0;
    const columns *run = &index->run;
    if (!widen_variables(index, trace->variables.count) ||
        !widen_locks(index, trace->locks.count) || !widen_threads(index, trace->threads.count) ||
        !widen_objects(index, trace->objects.count))
        return false;
    index->run = (columns){.op = trace->op,
                           .thread = trace->thread,
                           .operand = trace->operand,
                           .value = trace->value,
                           .link = trace->link,
                           .updates = trace->updates,
                           .update_count = trace->update_count};
    index->end = first + count;
    if (index->links_alone)
        return add_links(index, first);
    for (uint32_t event = first; event < index->end; event++) {
        uint8_t op = run->op[event];
        index_thread(&index->threads[run->thread[event]], event);
        if (mr_op_is_plain(op)) {
            bool is_write = op == MR_OP_WRITE;
            plain++;
            writes += is_write;
            if (is_write)
                index_write(index, event, run->value[event]);
            else
                index_read(index, event, run->value[event]);
        } else {
            run->link[event] = MR_NONE;
            if (!index_operation(index, event))
                return false;
            index->op_counts[op]++;
        }
    }
    index->op_counts[MR_OP_READ] += plain - writes;
    index->op_counts[MR_OP_WRITE] += writes;
    return true;
}

void mr_index_pass_over(mr_index *index, uint32_t event)
{
    MR_REQUIRE(event >= index->end);
    index->absent += event - index->end;
    index->end = event;
}

/* Has each event been counted once, by its thread and by its operation? */
static bool counts_all_events(const mr_index *index)
{
    uint64_t by_thread = 0, by_op = 0;
    for (size_t i = 0; i < index->thread_count; i++)
        by_thread += index->threads[i].event_count;
    for (int op = 0; op < MR_OP_COUNT; op++)
        by_op += index->op_counts[op];
    uint32_t there = index->end - index->absent;
    return by_thread == there && by_op == there;
}

/* Where the allocs say that the objects are. */
static void note_extents(mr_trace *trace)
{
    for (uint32_t i = 0; i < trace->objects.count; i++) {
        mr_object_info *object = &trace->object_info[i];
        uint32_t value = object->alloc != MR_NONE ? trace->value[object->alloc] : 0;
        if (!value)
            continue;
        object->has_extent = true;
        object->address = (uint64_t)trace->values[trace->updates[value].read_value];
        object->bytes = (uint64_t)trace->values[trace->updates[value].written_value];
    }
}

/* Lists the variables of each object. */
static void list_members(mr_trace *trace)
{
    const mr_members *members = &trace->members;
    uint32_t next = 0;
    for (uint32_t i = 0; i < members->count; i++)
        trace->object_info[members->items[i].object].variable_count++;
    for (uint32_t i = 0; i < trace->objects.count; i++) {
        trace->object_info[i].first_variable = next;
        next += trace->object_info[i].variable_count;
        trace->object_info[i].variable_count = 0;
    }
    for (uint32_t v = 0; v < members->variable_count; v++) {
        if (members->object[v] == MR_NONE)
            continue;
        mr_object_info *object = &trace->object_info[members->object[v]];
        trace->object_variables[object->first_variable + object->variable_count++] = v;
    }
}

static bool finish_objects(mr_index *index, mr_trace *trace)
{
    uint32_t objects = trace->objects.count;
    MR_REQUIRE(trace->members.variable_count <= trace->variables.count);
    trace->object_info = mr_calloc(objects, sizeof *trace->object_info);
    trace->object_variables = mr_calloc(trace->members.count, sizeof *trace->object_variables);
    if (!trace->object_info || !trace->object_variables || !widen_objects(index, objects))
        return false;
    if (objects)
        memcpy(trace->object_info, index->objects, objects * sizeof *trace->object_info);
    note_extents(trace);
    list_members(trace);
    return true;
}

bool mr_index_finish(mr_index *index, mr_trace *trace)
{
    uint32_t variables = trace->variables.count, threads = trace->threads.count;
    MR_REQUIRE(index->end == trace->event_count);
    trace->variable_info = mr_calloc(variables, sizeof *trace->variable_info);
    trace->thread_info = mr_calloc(threads, sizeof *trace->thread_info);
    if (!trace->variable_info || !trace->thread_info || !widen_variables(index, variables) ||
        !widen_threads(index, threads))
        return false;
    MR_ASSERT_COSTLY(counts_all_events(index));
    for (uint32_t i = 0; i < variables && !index->links_alone; i++) {
        const variable_state *state = &index->variables[i];
        trace->variable_info[i] = (mr_variable_info){state->initial_value, state->by_source};
        trace->by_source_count += state->by_source;
    }
    if (threads)
        memcpy(trace->thread_info, index->threads, threads * sizeof *trace->thread_info);
    trace->chain = mr_chains_take(&index->chains, threads, &trace->chain_count);
    if (!trace->chain)
        return false;
    memcpy(trace->op_counts, index->op_counts, sizeof trace->op_counts);
    close_calls(index, trace->link);
    return finish_objects(index, trace);
}

mr_status mr_index_build(mr_trace *trace, mr_error *error)
{
    enum { RUN = 1 << 16 };
    mr_status status = mr_columns_reserve_links(trace, trace->event_count, error);
    if (status)
        return status;
    mr_index *index = trace->lacks_values ? mr_index_new_links() : mr_index_new();
    bool done = index != NULL;
    for (uint32_t first = 0; done && first < trace->event_count;) {
        uint32_t left = trace->event_count - first, count = left < RUN ? left : RUN;
        mr_spill_look(&trace->spill);
        done = mr_index_add(index, trace, first, count);
        first += count;
    }
    done = done && mr_index_finish(index, trace);
    mr_index_free(index);
    return done ? MR_OK : mr_error_memory(error, "indexing the trace");
}
