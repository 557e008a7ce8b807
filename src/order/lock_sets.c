#include "lock_sets.h"

#include "base/assert.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { SHARED = 1, EXCLUSIVE = 2, MODES = SHARED | EXCLUSIVE, MODE_BITS = 2 };

static uint64_t lock_of(mr_held_lock held)
{
    return held >> MODE_BITS;
}

static bool add_set(mr_lock_sets *sets, const mr_held_lock *locks, uint32_t count)
{
    void *grown = sets->members, *rows = sets->sets;
    if (!mr_grow(&grown, &sets->member_capacity, sets->member_count + count + 1,
                 sizeof *sets->members))
        return false;
    sets->members = grown;
    if (!mr_grow(&rows, &sets->set_capacity, sets->set_count + 1, sizeof *sets->sets))
        return false;
    sets->sets = rows;
    mr_lock_set set = {.first = sets->member_count, .count = count};
    for (uint32_t i = 0; i < count; i++) {
        sets->members[sets->member_count++] = locks[i];
        set.bits |= UINT64_C(1) << (mr_table_hash_u64(lock_of(locks[i])) & 63);
    }
    sets->sets[sets->set_count++] = set;
    return true;
}

bool mr_lock_sets_grow(mr_lock_sets *sets, uint32_t thread_count)
{
    void *holders = sets->holders;
    if (!mr_grow(&holders, &sets->holder_capacity, thread_count, sizeof *sets->holders))
        return false;
    sets->holders = holders;
    for (; sets->holder_count < thread_count; sets->holder_count++)
        sets->holders[sets->holder_count] = (mr_lock_holder){0};
    return sets->set_count || add_set(sets, NULL, 0);
}

void mr_lock_sets_free(mr_lock_sets *sets)
{
    for (size_t thread = 0; thread < sets->holder_count; thread++)
        free(sets->holders[thread].held);
    free(sets->holders);
    free(sets->members);
    free(sets->sets);
    mr_table_free(&sets->table);
    *sets = (mr_lock_sets){0};
}

/* The place of the lock among those that are held, or where it belongs. */
static size_t find_lock(const mr_lock_holder *holder, uint32_t lock)
{
    size_t at = holder->count;
    while (at > 0 && lock_of(holder->held[at - 1]) >= lock)
        at--;
    return at;
}

static bool take(mr_lock_holder *holder, uint32_t lock, unsigned mode)
{
    size_t at = find_lock(holder, lock);
    if (at < holder->count && lock_of(holder->held[at]) == lock) {
        holder->held[at] |= mode;
        return true;
    }
    void *held = holder->held;
    if (!mr_grow(&held, &holder->capacity, holder->count + 1, sizeof *holder->held))
        return false;
    holder->held = held;
    memmove(holder->held + at + 1, holder->held + at, (holder->count - at) * sizeof *holder->held);
    holder->held[at] = (mr_held_lock)lock << MODE_BITS | mode;
    holder->count++;
    return true;
}

static void let_go(mr_lock_holder *holder, uint32_t lock, unsigned mode)
{
    size_t at = find_lock(holder, lock);
    MR_ASSERT(at < holder->count && lock_of(holder->held[at]) == lock);
    holder->held[at] &= ~(mr_held_lock)mode;
    if (holder->held[at] & MODES)
        return;
    holder->count--;
    memmove(holder->held + at, holder->held + at + 1, (holder->count - at) * sizeof *holder->held);
}

bool mr_lock_sets_change(mr_lock_sets *sets, mr_op op, uint32_t thread, uint32_t lock)
{
    MR_REQUIRE(thread < sets->holder_count);
    mr_lock_holder *holder = &sets->holders[thread];
    unsigned mode = mr_op_is_shared((uint8_t)op) ? SHARED : EXCLUSIVE;
    holder->stale = true;
    if (mr_op_acquires((uint8_t)op))
        return take(holder, lock, mode);
    let_go(holder, lock, mode);
    return true;
}

/* ---- numbers ---- */

static uint32_t hash_locks(const mr_held_lock *locks, size_t count)
{
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++)
        hash = hash * UINT64_C(0x9e3779b97f4a7c15) + mr_table_hash_u64(locks[i]);
    return mr_table_hash_u64(hash);
}

/* Items of the table are the sets behind the empty one. */
static uint32_t hash_set(const void *items, uint32_t number)
{
    const mr_lock_sets *sets = items;
    const mr_lock_set *set = &sets->sets[number + 1];
    return hash_locks(sets->members + set->first, set->count);
}

static bool is_set(const void *items, uint32_t number, const void *key)
{
    const mr_lock_sets *sets = items;
    const mr_lock_holder *holder = key;
    const mr_lock_set *set = &sets->sets[number + 1];
    return set->count == holder->count && memcmp(sets->members + set->first, holder->held,
                                                 holder->count * sizeof *holder->held) == 0;
}

static bool intern(mr_lock_sets *sets, const mr_lock_holder *holder, uint32_t *number)
{
    uint32_t count = (uint32_t)sets->set_count;
    if (!mr_table_reserve(&sets->table, count, hash_set, sets, count - 1))
        return false;
    uint32_t *slot =
        mr_table_slot(&sets->table, hash_locks(holder->held, holder->count), is_set, sets, holder);
    if (!*slot) {
        if (!add_set(sets, holder->held, (uint32_t)holder->count))
            return false;
        *slot = count; /* the number of item count - 1, + 1 */
    }
    *number = *slot;
    return true;
}

bool mr_lock_sets_now(mr_lock_sets *sets, uint32_t thread, uint32_t *set)
{
    MR_ASSERT_COSTLY(thread < sets->holder_count);
    mr_lock_holder *holder = &sets->holders[thread];
    if (holder->stale) {
        holder->set = 0;
        if (holder->count && !intern(sets, holder, &holder->set))
            return false;
        holder->stale = false;
    }
    *set = holder->set;
    return true;
}

bool mr_lock_sets_exclude(const mr_lock_sets *sets, uint32_t one, uint32_t other)
{
    const mr_lock_set *a = &sets->sets[one], *b = &sets->sets[other];
    if (!(a->bits & b->bits))
        return false;
    const mr_held_lock *x = sets->members + a->first, *x_end = x + a->count;
    const mr_held_lock *y = sets->members + b->first, *y_end = y + b->count;
    while (x < x_end && y < y_end) {
        if (lock_of(*x) == lock_of(*y) && ((*x | *y) & EXCLUSIVE))
            return true;
        lock_of(*x) <= lock_of(*y) ? x++ : y++;
    }
    return false;
}
