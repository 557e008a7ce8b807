#include "strand_pairs.h"

#include "base/assert.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Kinds of operations that a strand has. One with plain writes, or with a free, conflicts with
 * every other strand, so that nothing else of it matters. */
enum { READS = 1, WRITES_ATOMICALLY = 2, WRITES = 4 };

/* How a strand holds a main lock. */
enum { EXCLUSIVELY = 1, SHARED = 2, BITS_A_LOCK = 2 };

/* A variable with fewer strands has no main locks: all pairs are few. A lock that a smaller part of
 * the strands holds saves little. */
enum { MR_MANY_STRANDS = 16, MR_MAIN_PART = 16 };

bool mr_strand_pairs_init(mr_strand_pairs *pairs, const mr_window *w, mr_arena *arena)
{
    uint32_t end = 0; /* of the numbers of locks, value locks included */
    for (uint32_t s = 0; s < w->lockset_count; s++) {
        const mr_lockset *set = &w->locksets[s];
        if (set->count && set->locks[set->count - 1] / 2 >= end)
            end = set->locks[set->count - 1] / 2 + 1;
    }
    *pairs = (mr_strand_pairs){.window = w};
    pairs->holders = mr_arena_zalloc(arena, end, sizeof *pairs->holders);
    pairs->exclusively = mr_arena_zalloc(arena, end, sizeof *pairs->exclusively);
    return pairs->holders && pairs->exclusively;
}

void mr_strand_pairs_free(mr_strand_pairs *pairs)
{
    free(pairs->profile);
    free(pairs->keys);
    free(pairs->next);
}

static uint8_t kind_of(const mr_access_strand *strand)
{
    const uint32_t *all = strand->before[strand->count];
    if (all[mr_access_class(MR_OP_WRITE)] || all[mr_access_class(MR_OP_FREE)])
        return WRITES;
    return (uint8_t)((all[mr_access_class(MR_OP_READ)] ? READS : 0) |
                     (all[mr_access_class(MR_OP_ATOMIC_WRITE)] ? WRITES_ATOMICALLY : 0));
}

static bool kinds_conflict(uint8_t one, uint8_t other)
{
    if ((one | other) & WRITES)
        return true;
    return (one & READS && other & WRITES_ATOMICALLY) || (one & WRITES_ATOMICALLY && other & READS);
}

static bool may_pair(const mr_strand_profile *one, const mr_strand_profile *other)
{
    if (!kinds_conflict(one->kind, other->kind))
        return false;
    for (uint32_t bits = one->locks, others = other->locks; bits && others;
         bits >>= BITS_A_LOCK, others >>= BITS_A_LOCK) {
        uint32_t own = bits & (EXCLUSIVELY | SHARED), their = others & (EXCLUSIVELY | SHARED);
        if (own && their && ((own | their) & EXCLUSIVELY))
            return false;
    }
    return true;
}

/* ---- main locks ---- */

static const mr_lockset *locks_of(const mr_strand_pairs *pairs, uint32_t strand)
{
    return &pairs->window->locksets[pairs->strands[strand].lockset];
}

/* Puts a lock among the main locks, where no MR_MAIN_LOCKS others have more holders. */
static void offer_lock(mr_strand_pairs *pairs, uint32_t lock)
{
    uint32_t *main_locks = pairs->main_locks, at = pairs->main_lock_count;
    while (at > 0 && pairs->holders[main_locks[at - 1]] < pairs->holders[lock])
        at--;
    if (at == MR_MAIN_LOCKS)
        return;
    if (pairs->main_lock_count < MR_MAIN_LOCKS)
        pairs->main_lock_count++;
    memmove(main_locks + at + 1, main_locks + at,
            (pairs->main_lock_count - at - 1) * sizeof *main_locks);
    main_locks[at] = lock;
}

/* The locks that most strands hold, the most held first. */
static void find_main_locks(mr_strand_pairs *pairs)
{
    for (uint32_t s = 0; s < pairs->count; s++) {
        const mr_lockset *set = locks_of(pairs, s);
        for (uint32_t i = 0; i < set->count; i++) {
            pairs->holders[set->locks[i] / 2]++;
            pairs->exclusively[set->locks[i] / 2] |= !(set->locks[i] & 1);
        }
    }
    for (uint32_t s = 0; s < pairs->count; s++) {
        const mr_lockset *set = locks_of(pairs, s);
        for (uint32_t i = 0; i < set->count; i++) {
            uint32_t lock = set->locks[i] / 2;
            if (pairs->exclusively[lock] && pairs->holders[lock] > pairs->count / MR_MAIN_PART)
                offer_lock(pairs, lock);
            pairs->exclusively[lock] = 0; /* offered, or not to be */
        }
    }
}

/* Notes for each strand how it holds the main locks, and clears `holders`. */
static void note_main_locks(mr_strand_pairs *pairs)
{
    for (uint32_t s = 0; s < pairs->count; s++)
        for (uint32_t i = 0; i < locks_of(pairs, s)->count; i++)
            pairs->holders[locks_of(pairs, s)->locks[i] / 2] = 0;
    for (uint32_t m = 0; m < pairs->main_lock_count; m++)
        pairs->holders[pairs->main_locks[m]] = m + 1;
    for (uint32_t s = 0; s < pairs->count; s++) {
        const mr_lockset *set = locks_of(pairs, s);
        for (uint32_t i = 0; i < set->count; i++) {
            uint32_t main_lock = pairs->holders[set->locks[i] / 2];
            uint32_t how = set->locks[i] & 1 ? SHARED : EXCLUSIVELY;
            if (main_lock)
                pairs->keys[s].locks |= how << BITS_A_LOCK * (main_lock - 1);
        }
    }
    for (uint32_t m = 0; m < pairs->main_lock_count; m++)
        pairs->holders[pairs->main_locks[m]] = 0;
}

/* ---- profiles ---- */

/* Makes the profiles with the first main locks only. False: there would be too many. */
static bool make_profiles(mr_strand_pairs *pairs, uint32_t main_lock_count)
{
    uint32_t mask = (1u << BITS_A_LOCK * main_lock_count) - 1;
    pairs->profile_count = 0;
    for (uint32_t s = 0; s < pairs->count; s++) {
        uint32_t locks = pairs->keys[s].locks & mask, p = 0;
        uint8_t kind = pairs->keys[s].kind;
        while (p < pairs->profile_count &&
               (pairs->profiles[p].kind != kind || pairs->profiles[p].locks != locks))
            p++;
        if (p == MR_STRAND_PROFILES)
            return false;
        if (p == pairs->profile_count)
            pairs->profiles[pairs->profile_count++] =
                (mr_strand_profile){.kind = kind, .locks = locks};
        pairs->profile[s] = (uint8_t)p;
    }
    return true;
}

static void list_next(mr_strand_pairs *pairs)
{
    for (uint32_t p = 0; p < pairs->profile_count; p++) {
        bool pairs_with[MR_STRAND_PROFILES] = {false};
        uint32_t *next = pairs->next + (size_t)p * (pairs->count + 1);
        for (uint32_t q = 0; q < pairs->profile_count; q++)
            pairs_with[q] = may_pair(&pairs->profiles[p], &pairs->profiles[q]);
        next[pairs->count] = pairs->count;
        for (uint32_t k = pairs->count; k-- > 0;)
            next[k] = pairs_with[pairs->profile[k]] ? k : next[k + 1];
    }
}

static bool make_room(mr_strand_pairs *pairs)
{
    void *profile = pairs->profile, *keys = pairs->keys;
    bool grown = mr_grow(&profile, &pairs->profile_capacity, pairs->count, sizeof *pairs->profile);
    pairs->profile = profile;
    grown = grown && mr_grow(&keys, &pairs->key_capacity, pairs->count, sizeof *pairs->keys);
    pairs->keys = keys;
    return grown;
}

bool mr_strand_pairs_begin(mr_strand_pairs *pairs, const mr_access_strand *strands, uint32_t count,
                           bool by_locks)
{
    pairs->strands = strands;
    pairs->count = count;
    pairs->main_lock_count = 0;
    if (!make_room(pairs))
        return false;
    for (uint32_t s = 0; s < count; s++)
        pairs->keys[s] = (mr_strand_profile){.kind = kind_of(&strands[s])};
    if (by_locks && count >= MR_MANY_STRANDS) {
        find_main_locks(pairs);
        note_main_locks(pairs);
    }
    while (!make_profiles(pairs, pairs->main_lock_count))
        pairs->main_lock_count--; /* without main locks there are at most five */
    void *next = pairs->next;
    if (!mr_grow(&next, &pairs->next_capacity, pairs->profile_count * ((size_t)count + 1),
                 sizeof *pairs->next))
        return false;
    pairs->next = next;
    list_next(pairs);
    return true;
}
