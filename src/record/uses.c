#include "uses.h"

#include "base/memory.h"

#include <stdlib.h>

void mr_uses_free(mr_uses *uses)
{
    mr_pairs_free(&uses->table);
    free(uses->states);
    *uses = (mr_uses){.capacity = 0};
}

/* Semaphores, and those that stand for condition variables and barriers (log.h). */
static mr_use use_of_units(unsigned role)
{
    switch ((mr_log_role)role) {
    case MR_LOG_ROLE_SEMAPHORE:
    case MR_LOG_ROLE_ASLEEP:
    case MR_LOG_ROLE_BARRIER_IN:
        return MR_USE_BEFORE;
    case MR_LOG_ROLE_BARRIER_OUT:
        return MR_USE_AFTER;
    case MR_LOG_ROLE_WAKE: /* who was woken does not look at it again: it may be destroyed */
    case MR_LOG_ROLE_NONE:
    case MR_LOG_ROLE_MUTEX:
    case MR_LOG_ROLE_SPIN:
    case MR_LOG_ROLE_RWLOCK:
    case MR_LOG_ROLE_CHANNEL:
    case MR_LOG_ROLE_SIGNAL:
    case MR_LOG_ROLE_DESCRIPTOR:
    case MR_LOG_ROLE_OWN:
    case MR_LOG_ROLE_NUMBER:
    case MR_LOG_ROLE_WRONG:
    case MR_LOG_ROLE_CANCEL:
    case MR_LOG_ROLE_WATCH:
    case MR_LOG_ROLE_READY:
    case MR_LOG_ROLE_ENDED:
    case MR_LOG_ROLE_UNITS:
    case MR_LOG_ROLE_TASK:
    case MR_LOG_ROLE_TASK_END:
        break;
    }
    return MR_USE_NONE;
}

static mr_use use_of_retired(unsigned how)
{
    switch ((mr_log_retired)how) {
    case MR_LOG_RETIRED_INITIALISED:
    case MR_LOG_RETIRED_DESTROYED:
        return MR_USE_WRITE;
    case MR_LOG_RETIRED_REFUSED:
        return MR_USE_BEFORE;
    case MR_LOG_RETIRED_KNOWN:
        break;
    }
    return MR_USE_NONE;
}

mr_use mr_use_of(const uint64_t *record)
{
    unsigned role = mr_log_detail(record[0]);
    if (role == MR_LOG_ROLE_WAKE && mr_log_kind_of(record[0]) == MR_LOG_POST)
        return MR_USE_AFTER; /* who is woken may run before the call that wakes has returned */
    if (role == MR_LOG_ROLE_OWN || role == MR_LOG_ROLE_WRONG || role == MR_LOG_ROLE_UNITS)
        return MR_USE_NONE;
    switch (mr_log_kind_of(record[0])) {
    case MR_LOG_ACQUIRE:
    case MR_LOG_RELEASE:
    case MR_LOG_SHARED_ACQUIRE:
    case MR_LOG_SHARED_RELEASE:
    case MR_LOG_USED:
        return MR_USE_BEFORE;
    case MR_LOG_POST:
    case MR_LOG_WAIT:
        return use_of_units(role);
    case MR_LOG_RETIRED:
        return use_of_retired(mr_log_count(record[1]));
    default:
        return MR_USE_NONE;
    }
}

bool mr_use_is_access(const uint64_t *record)
{
    return mr_use_of(record) != MR_USE_NONE &&
           (mr_log_detail(record[0]) == MR_LOG_ROLE_DESCRIPTOR || !mr_log_is_foreign(record[1]));
}

static mr_user_state *state_of(mr_uses *uses, mr_log_pass *pass, uint64_t address)
{
    uint32_t life = mr_lifetimes_find(&pass->lives, address)->number, known = uses->table.count;
    uint32_t number = mr_pairs_add(&uses->table, (mr_pair){address, life});
    if (number == MR_PAIRS_NONE)
        return NULL;
    if (number == known) {
        void *states = uses->states;
        if (!mr_grow(&states, &uses->capacity, number + 1ull, sizeof *uses->states))
            return NULL;
        uses->states = states;
        uses->states[number] = (mr_user_state){.depth = 0};
    }
    return &uses->states[number];
}

/* May the object have been initialised anew by code that is not recorded? A mutex that was
 * destroyed says so itself; of a stack nobody knows. */
static bool stays_destroyed(mr_log_pass *pass, const uint64_t *record)
{
    const mr_life *life = mr_lifetimes_find(&pass->lives, mr_log_payload(record[0]));
    return mr_log_detail(record[0]) != MR_LOG_ROLE_MUTEX &&
           !(life->number && life->kind == MR_LOG_MEMORY_STACK);
}

static mr_misuse_kind judge_release(const mr_user_state *state, uint32_t thread, bool shared)
{
    if (shared ? state->readers != 0 : state->holder == thread + 1)
        return MR_MISUSE_NONE;
    if (state->holder)
        return MR_MISUSE_UNLOCK_BY_OTHER;
    return state->was_held && !state->readers ? MR_MISUSE_UNLOCK_FREE : MR_MISUSE_NONE;
}

/* A recursive mutex, or a robust one, knows its owner: who is refused does not hold it. */
static mr_misuse_kind judge_not_held(const mr_user_state *state, uint32_t thread)
{
    if (state->holder == thread + 1)
        return MR_MISUSE_NONE;
    return state->holder ? MR_MISUSE_UNLOCK_BY_OTHER : MR_MISUSE_UNLOCK_FREE;
}

bool mr_uses_judge(mr_uses *uses, mr_log_pass *pass, const uint64_t *record, mr_user_state **found,
                   mr_misuse_kind *misuse)
{
    mr_user_state *state = state_of(uses, pass, mr_log_payload(record[0]));
    unsigned kind = mr_log_kind_of(record[0]), count = mr_log_count(record[1]);
    *misuse = MR_MISUSE_NONE;
    *found = state;
    if (!state)
        return false;
    if (mr_log_detail(record[0]) == MR_LOG_ROLE_DESCRIPTOR)
        return true; /* the number may be another one's by now */
    bool held = state->holder || state->readers;
    if (kind == MR_LOG_RETIRED) {
        if (count != MR_LOG_RETIRED_INITIALISED && held)
            *misuse = MR_MISUSE_DESTROY_HELD;
    } else if (kind == MR_LOG_USED && count == MR_LOG_USED_REFUSED) {
        *misuse = state->destroyed ? MR_MISUSE_USE_AFTER_DESTROY : MR_MISUSE_NOT_INITIALISED;
    } else if (kind == MR_LOG_USED && count == MR_LOG_USED_NOT_HELD) {
        *misuse = judge_not_held(state, pass->thread);
    } else if (state->destroyed && stays_destroyed(pass, record)) {
        *misuse = MR_MISUSE_USE_AFTER_DESTROY;
    } else if (kind == MR_LOG_RELEASE || kind == MR_LOG_SHARED_RELEASE) {
        *misuse = judge_release(state, pass->thread, kind == MR_LOG_SHARED_RELEASE);
    }
    return true;
}

static void acquire(mr_user_state *state, uint32_t thread)
{
    state->was_held = true;
    state->depth = state->holder == thread + 1 ? state->depth + 1 : 1;
    state->holder = thread + 1;
}

static void release(mr_user_state *state, uint32_t thread)
{
    /* After a release by another thread, that of the holder is no news. */
    state->was_held = state->holder == thread + 1;
    if (state->holder != thread + 1 || !--state->depth)
        state->holder = 0;
}

void mr_uses_apply(mr_user_state *state, uint32_t thread, const uint64_t *record)
{
    unsigned how = mr_log_count(record[1]);
    switch (mr_log_kind_of(record[0])) {
    case MR_LOG_ACQUIRE:
        acquire(state, thread);
        break;
    case MR_LOG_RELEASE:
        release(state, thread);
        break;
    case MR_LOG_SHARED_ACQUIRE:
        state->was_held = true;
        state->readers++;
        break;
    case MR_LOG_SHARED_RELEASE:
        if (state->readers)
            state->readers--;
        else
            release(state, thread);
        break;
    case MR_LOG_RETIRED:
        if (how == MR_LOG_RETIRED_INITIALISED || how == MR_LOG_RETIRED_DESTROYED)
            *state = (mr_user_state){.destroyed = how == MR_LOG_RETIRED_DESTROYED &&
                                                  !mr_log_is_foreign(record[1]),
                                     .destroyed_at = state->destroyed_at,
                                     .destroyed_value = state->destroyed_value};
        return;
    default:
        return;
    }
    state->destroyed = false; /* it works: a mutex that was initialised by assignment */
}
