#include "validity.h"

#include "base/assert.h"
#include "base/memory.h"
#include "base/slice.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned long long line_number; /* for %llu */

struct mr_thread_state {
    uint64_t fork_line, first_line, end_line, join_line; /* 0: not so far */
    uint32_t innermost_call;                             /* index + 1 in `calls`; 0: none is open */
};

struct mr_open_call {
    uint64_t line;
    uint32_t call, outer; /* `outer`: index + 1, 0: none; for free entries the next free one */
};

void mr_validity_init(mr_validity *validity, const mr_trace *trace)
{
    *validity = (mr_validity){.trace = trace};
}

void mr_validity_free(mr_validity *validity)
{
    free(validity->threads);
    free(validity->running);
    free(validity->locks);
    free(validity->share_depths);
    free(validity->calls);
    free(validity->lives);
    mr_keys_free(&validity->shares);
    *validity = (mr_validity){0};
}

/* Makes `*count` at least `need`; new elements are zero. */
static bool reach_count(void **array, size_t *count, size_t *capacity, size_t need,
                        size_t size_bytes)
{
    if (need <= *count)
        return true;
    if (!mr_grow(array, capacity, need, size_bytes))
        return false;
    memset((char *)*array + *count * size_bytes, 0, (need - *count) * size_bytes);
    *count = need;
    return true;
}

static bool reach_thread(mr_validity *validity, uint32_t thread)
{
    void *threads = validity->threads;
    bool done = reach_count(&threads, &validity->thread_count, &validity->thread_capacity,
                            (size_t)thread + 1, sizeof *validity->threads);
    validity->threads = threads;
    void *running = validity->running;
    done = done && reach_count(&running, &validity->running_count, &validity->running_capacity,
                               (size_t)thread + 1, sizeof *validity->running);
    validity->running = running;
    return done;
}

static bool reach_lock(mr_validity *validity, uint32_t lock)
{
    void *locks = validity->locks;
    bool done = reach_count(&locks, &validity->lock_count, &validity->lock_capacity,
                            (size_t)lock + 1, sizeof *validity->locks);
    validity->locks = locks;
    return done;
}

static bool reach_life(mr_validity *validity, uint32_t object)
{
    void *lives = validity->lives;
    bool done = reach_count(&lives, &validity->life_count, &validity->life_capacity,
                            (size_t)object + 1, sizeof *validity->lives);
    validity->lives = lives;
    return done;
}

#define REFUSE(error, ...) mr_error_set(error, MR_ERR_TRACE, NULL, 0, __VA_ARGS__)

/* A name for a message. */
typedef struct quoted_name {
    char text[MR_QUOTE_SIZE];
} quoted_name;

static quoted_name quote(const mr_names *names, uint32_t number)
{
    quoted_name quoted = {""};
    const mr_name *name = &names->items[number];
    mr_slice_quote((mr_slice){name->text, name->length}, quoted.text);
    return quoted;
}

static quoted_name quote_thread(const mr_validity *validity, uint32_t number)
{
    return quote(&validity->trace->threads, number);
}

static mr_status check_not_held(const mr_validity *validity, const mr_step *step,
                                const mr_lock_state *lock, mr_error *error)
{
    if (!lock->depth || lock->owner == step->thread)
        return MR_OK;
    return REFUSE(error, "acquires a lock that %s holds (acquired on line %llu)",
                  quote_thread(validity, lock->owner).text, (line_number)lock->line);
}

static uint64_t share_key(const mr_step *step)
{
    return (uint64_t)step->operand << 32 | step->thread;
}

static bool shares(const mr_validity *validity, const mr_step *step)
{
    uint32_t share = mr_keys_find(&validity->shares, share_key(step));
    return share && validity->share_depths[share];
}

static mr_status acquire(mr_validity *validity, const mr_step *step, mr_lock_state *lock,
                         mr_error *error)
{
    mr_status status = check_not_held(validity, step, lock, error);
    if (status)
        return status;
    uint32_t others = lock->sharers;
    if (others && shares(validity, step))
        others--;
    if (others)
        return REFUSE(error, "acquires a lock that %u other thread%s shared", others,
                      others == 1 ? " holds" : "s hold");
    if (lock->depth == UINT32_MAX)
        return REFUSE(error, "acquires the lock for the 2^32nd time without a release");
    if (!lock->depth++) {
        lock->owner = step->thread;
        lock->line = step->line;
    }
    return MR_OK;
}

static mr_status release(mr_validity *validity, const mr_step *step, mr_lock_state *lock,
                         mr_error *error)
{
    if (lock->depth && lock->owner == step->thread) {
        lock->depth--;
        return MR_OK;
    }
    if (lock->depth)
        return REFUSE(error, "releases a lock that %s holds (acquired on line %llu)",
                      quote_thread(validity, lock->owner).text, (line_number)lock->line);
    if (shares(validity, step))
        return REFUSE(error, "releases a lock that the thread holds shared; rrel releases it");
    return REFUSE(error, "releases a lock that no thread holds");
}

static mr_status acquire_shared(mr_validity *validity, const mr_step *step, mr_lock_state *lock,
                                mr_error *error)
{
    mr_status status = check_not_held(validity, step, lock, error);
    if (status)
        return status;
    size_t known = validity->shares.count;
    uint32_t share;
    void *depths = validity->share_depths;
    if (!mr_grow(&depths, &validity->share_capacity, known + 2, sizeof *validity->share_depths))
        return mr_error_memory(error, "checking the trace");
    validity->share_depths = depths;
    if (!mr_keys_add(&validity->shares, share_key(step), &share))
        return mr_error_memory(error, "checking the trace");
    if (share > known)
        validity->share_depths[share] = 0;
    if (validity->share_depths[share] == UINT32_MAX)
        return REFUSE(error, "acquires the lock shared for the 2^32nd time without a release");
    if (!validity->share_depths[share]++)
        lock->sharers++;
    return MR_OK;
}

static mr_status release_shared(mr_validity *validity, const mr_step *step, mr_lock_state *lock,
                                mr_error *error)
{
    if (shares(validity, step)) {
        uint32_t share = mr_keys_find(&validity->shares, share_key(step));
        MR_ASSERT(lock->sharers > 0);
        if (!--validity->share_depths[share])
            lock->sharers--;
        return MR_OK;
    }
    if (lock->depth && lock->owner == step->thread)
        return REFUSE(error,
                      "releases a shared lock that the thread holds exclusively; rel releases it");
    return REFUSE(error, "releases a shared lock that the thread does not hold");
}

static mr_status take_unit(mr_lock_state *semaphore, mr_error *error)
{
    if (!semaphore->units)
        return REFUSE(error, "takes a unit from a semaphore that has none left");
    semaphore->units--;
    return MR_OK;
}

static mr_status step_fork(mr_validity *validity, const mr_step *step, mr_error *error)
{
    mr_thread_state *child = &validity->threads[step->operand];
    if (step->operand == step->thread)
        return REFUSE(error, "forks its own thread");
    if (child->fork_line)
        return REFUSE(error, "forks a thread that was forked before (on line %llu)",
                      (line_number)child->fork_line);
    if (child->first_line)
        return REFUSE(error, "forks a thread that has events already (the first is on line %llu)",
                      (line_number)child->first_line);
    child->fork_line = step->line;
    return MR_OK;
}

static mr_status step_join(mr_validity *validity, const mr_step *step, mr_error *error)
{
    mr_thread_state *child = &validity->threads[step->operand];
    if (step->operand == step->thread)
        return REFUSE(error, "joins its own thread");
    if (!child->join_line)
        child->join_line = step->line;
    return MR_OK;
}

static mr_status call_begin(mr_validity *validity, const mr_step *step, mr_error *error)
{
    uint32_t call = validity->free_call;
    if (!call) {
        void *calls = validity->calls;
        if (validity->call_count >= UINT32_MAX ||
            !mr_grow(&calls, &validity->call_capacity, validity->call_count + 1,
                     sizeof *validity->calls))
            return mr_error_memory(error, "checking the trace");
        validity->calls = calls;
        call = (uint32_t)++validity->call_count;
    } else {
        validity->free_call = validity->calls[call - 1].outer;
    }
    mr_thread_state *thread = &validity->threads[step->thread];
    validity->calls[call - 1] =
        (mr_open_call){.line = step->line, .call = step->operand, .outer = thread->innermost_call};
    thread->innermost_call = call;
    return MR_OK;
}

static mr_status call_end(mr_validity *validity, const mr_step *step, mr_error *error)
{
    mr_thread_state *thread = &validity->threads[step->thread];
    uint32_t innermost = thread->innermost_call;
    if (!innermost)
        return REFUSE(error, "ends a call, but no call of the thread is open");
    MR_ASSERT(innermost <= validity->call_count);
    mr_open_call *open = &validity->calls[innermost - 1];
    if (open->call != step->operand)
        return REFUSE(error,
                      "ends a call that is not the innermost open one, %s (begun on line %llu)",
                      quote(&validity->trace->calls, open->call).text, (line_number)open->line);
    thread->innermost_call = open->outer;
    open->outer = validity->free_call;
    validity->free_call = innermost;
    return MR_OK;
}

static mr_status start_life(const mr_validity *validity, const mr_step *step, mr_object_life *life,
                            mr_error *error)
{
    const mr_names *variables = &validity->trace->variables;
    if (life->alloc_line)
        return REFUSE(error, "allocates an object that was allocated before (on line %llu)",
                      (line_number)life->alloc_line);
    if (life->free_line)
        return REFUSE(error, "allocates an object that was freed before (on line %llu)",
                      (line_number)life->free_line);
    if (life->accessed)
        return REFUSE(error, "allocates an object of which %s was accessed before",
                      quote(variables, life->accessed - 1).text);
    life->alloc_line = step->line;
    life->known_variables = variables->count;
    return MR_OK;
}

static mr_status end_life(const mr_step *step, mr_object_life *life, mr_error *error)
{
    if (life->free_line)
        return REFUSE(error, "frees an object that was freed before (on line %llu)",
                      (line_number)life->free_line);
    life->free_line = step->line;
    return MR_OK;
}

static mr_status step_life(mr_validity *validity, const mr_step *step, mr_error *error)
{
    if (!reach_life(validity, step->operand))
        return mr_error_memory(error, "checking the trace");
    mr_object_life *life = &validity->lives[step->operand];
    return mr_op_starts_life((uint8_t)step->op) ? start_life(validity, step, life, error)
                                                : end_life(step, life, error);
}

mr_status mr_validity_member(mr_validity *validity, uint32_t variable, uint32_t object, bool used,
                             mr_error *error)
{
    const mr_trace *trace = validity->trace;
    uint32_t other = mr_trace_object(trace, variable);
    if (other != MR_NONE && other != object)
        return REFUSE(error, "puts a variable into an object that is in another, %s",
                      quote(&trace->objects, other).text);
    if (!reach_life(validity, object))
        return mr_error_memory(error, "checking the trace");
    mr_object_life *life = &validity->lives[object];
    if (other == object || !used)
        return MR_OK;
    if (life->alloc_line && variable < life->known_variables)
        return REFUSE(error,
                      "puts a variable into an object that was accessed before the object was "
                      "allocated (on line %llu)",
                      (line_number)life->alloc_line);
    life->accessed = life->accessed ? life->accessed : variable + 1;
    return MR_OK;
}

/* The rules about the thread that does the step. */
static mr_status check_alive(const mr_thread_state *thread, const mr_step *step, mr_error *error)
{
    if (thread->end_line)
        return REFUSE(error, "event of a thread after its end (on line %llu)",
                      (line_number)thread->end_line);
    if (thread->join_line)
        return REFUSE(error, "event of a thread after a join of it (on line %llu)",
                      (line_number)thread->join_line);
    if (mr_op_begins((uint8_t)step->op) && thread->first_line)
        return REFUSE(error, "begin is not the first event of its thread (that is on line %llu)",
                      (line_number)thread->first_line);
    return MR_OK;
}

static mr_status step_operation(mr_validity *validity, const mr_step *step, mr_error *error)
{
    /* An operation without a lock does not read it. */
    uint32_t number = mr_op_operand_kind(step->op) == MR_OPERAND_LOCK ? step->operand : 0;
    if (!reach_lock(validity, number))
        return mr_error_memory(error, "checking the trace");
    mr_lock_state *lock = &validity->locks[number];
    switch ((mr_op)step->op) {
    case MR_OP_ACQUIRE:
        return acquire(validity, step, lock, error);
    case MR_OP_RELEASE:
        return release(validity, step, lock, error);
    case MR_OP_SHARED_ACQUIRE:
        return acquire_shared(validity, step, lock, error);
    case MR_OP_SHARED_RELEASE:
        return release_shared(validity, step, lock, error);
    case MR_OP_POST:
        lock->units++;
        break;
    case MR_OP_WAIT:
        return take_unit(lock, error);
    case MR_OP_FORK:
        return step_fork(validity, step, error);
    case MR_OP_JOIN:
        return step_join(validity, step, error);
    case MR_OP_CALL_BEGIN:
        return call_begin(validity, step, error);
    case MR_OP_CALL_END:
        return call_end(validity, step, error);
    case MR_OP_END:
        validity->threads[step->thread].end_line = step->line;
        break;
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
        mr_validity_note_access(validity, step->operand);
        break;
    case MR_OP_ALLOC:
    case MR_OP_FREE:
        return step_life(validity, step, error);
    case MR_OP_BEGIN:
    case MR_OP_BRANCH:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break;
    }
    return MR_OK;
}

mr_status mr_validity_step(mr_validity *validity, const mr_step *step, mr_error *error)
{
    bool names_thread = mr_op_operand_kind(step->op) == MR_OPERAND_THREAD;
    if (!reach_thread(validity, step->thread) ||
        (names_thread && !reach_thread(validity, step->operand)))
        return mr_error_memory(error, "checking the trace");
    mr_status status = check_alive(&validity->threads[step->thread], step, error);
    if (!status)
        status = step_operation(validity, step, error);
    if (status)
        return status;
    mr_thread_state *thread = &validity->threads[step->thread];
    if (!thread->first_line)
        thread->first_line = step->line;
    validity->running[step->thread] = !thread->end_line;
    if (mr_op_joins((uint8_t)step->op))
        validity->running[step->operand] = false;
    return MR_OK;
}
