#include "known_races.h"

#include "base/assert.h"
#include "base/map.h"
#include "base/memory.h"
#include "ledger.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* A window that is being decided. */
typedef struct under_way {
    struct under_way *next;
    uint64_t window;
    uint64_t number; /* in the order in which windows began, from 1 on */
    uint64_t
        search_from; /* the number of the last window that had begun when its long search did; 0: not yet */
    mr_map pairs; /* IS_OPEN or SETTLED */
} under_way;

enum { SETTLED, IS_OPEN };

struct mr_known_races {
    pthread_rwlock_t lock;
    mr_ledger pairs; /* with the lowest window of each, + 1: MR_BEFORE_WINDOWS is 0 */
    mr_ledger foreseen;
    /* With a lock of their own: */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    under_way *windows;
    uint64_t begun;
    mr_ledger
        promised; /* with the lowest window of each, and the questions of all without an answer */
    uint64_t paid, vain; /* waits */
};

mr_known_races *mr_known_races_new(void)
{
    pthread_condattr_t attributes;
    mr_known_races *known = mr_calloc(1, sizeof *known);
    if (!known)
        return NULL;
    pthread_rwlock_init(&known->lock, NULL);
    pthread_mutex_init(&known->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&known->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return known;
}

void mr_known_races_free(mr_known_races *known)
{
    if (!known)
        return;
    MR_ASSERT(!known->windows);
    pthread_rwlock_destroy(&known->lock);
    pthread_mutex_destroy(&known->mutex);
    pthread_cond_destroy(&known->changed);
    mr_ledger_free(&known->pairs);
    mr_ledger_free(&known->promised);
    mr_ledger_free(&known->foreseen);
    free(known);
}

bool mr_known_races_add(mr_known_races *known, uint32_t key_1, uint32_t key_2, uint64_t window)
{
    pthread_rwlock_wrlock(&known->lock);
    mr_ledger_entry *entry = mr_ledger_get(&known->pairs, key_1, key_2);
    if (entry && (!entry->race || window + 1 < entry->window)) {
        entry->race = true;
        entry->window = window + 1;
    }
    pthread_rwlock_unlock(&known->lock);
    return entry != NULL;
}

bool mr_known_races_below(mr_known_races *known, uint32_t key_1, uint32_t key_2, uint64_t window)
{
    pthread_rwlock_rdlock(&known->lock);
    const mr_ledger_entry *entry = mr_ledger_find(&known->pairs, key_1, key_2);
    bool below = entry && entry->window <= window;
    pthread_rwlock_unlock(&known->lock);
    return below;
}

bool mr_known_races_foresee(mr_known_races *known, uint32_t key_1, uint32_t key_2)
{
    pthread_rwlock_wrlock(&known->lock);
    bool noted = mr_ledger_get(&known->foreseen, key_1, key_2);
    pthread_rwlock_unlock(&known->lock);
    return noted;
}

bool mr_known_races_is_foreseen(mr_known_races *known, uint32_t key_1, uint32_t key_2)
{
    pthread_rwlock_rdlock(&known->lock);
    bool foreseen = mr_ledger_find(&known->foreseen, key_1, key_2);
    pthread_rwlock_unlock(&known->lock);
    return foreseen;
}

/* ---- windows under way ---- */

static under_way *find_window(const mr_known_races *known, uint64_t window)
{
    under_way *found = known->windows;
    while (found && found->window != window)
        found = found->next;
    return found;
}

void mr_known_races_begin(mr_known_races *known, uint64_t window)
{
    under_way *own = known ? mr_calloc(1, sizeof *own) : NULL;
    if (!own)
        return;
    pthread_mutex_lock(&known->mutex);
    own->window = window;
    own->number = ++known->begun;
    own->next = known->windows;
    known->windows = own;
    pthread_mutex_unlock(&known->mutex);
}

void mr_known_races_end(mr_known_races *known, uint64_t window)
{
    if (!known)
        return;
    pthread_mutex_lock(&known->mutex);
    under_way **at = &known->windows;
    while (*at && (*at)->window != window)
        at = &(*at)->next;
    under_way *own = *at;
    if (own)
        *at = own->next;
    pthread_cond_broadcast(&known->changed);
    pthread_mutex_unlock(&known->mutex);
    if (own)
        mr_map_free(&own->pairs);
    free(own);
}

void mr_known_races_list(mr_known_races *known, uint64_t window, uint32_t key_1, uint32_t key_2)
{
    if (!known)
        return;
    pthread_mutex_lock(&known->mutex);
    under_way *own = find_window(known, window);
    if (own)
        mr_map_at(&own->pairs, mr_map_key(key_1, key_2), IS_OPEN);
    pthread_mutex_unlock(&known->mutex);
}

void mr_known_races_search(mr_known_races *known, uint64_t window)
{
    if (!known)
        return;
    pthread_mutex_lock(&known->mutex);
    under_way *own = find_window(known, window);
    if (own)
        own->search_from = known->begun;
    pthread_mutex_unlock(&known->mutex);
}

static void promise(mr_known_races *known, uint64_t window, uint32_t key_1, uint32_t key_2)
{
    mr_ledger_entry *entry = mr_ledger_get(&known->promised, key_1, key_2);
    if (entry && (!entry->race || window < entry->window)) {
        entry->race = true;
        entry->window = window;
    }
}

void mr_known_races_settle(mr_known_races *known, uint64_t window, uint32_t key_1, uint32_t key_2,
                           bool race)
{
    if (!known)
        return;
    pthread_mutex_lock(&known->mutex);
    under_way *own = find_window(known, window);
    uint32_t *state = own ? mr_map_at(&own->pairs, mr_map_key(key_1, key_2), SETTLED) : NULL;
    if (state)
        *state = SETTLED;
    if (race)
        promise(known, window, key_1, key_2);
    pthread_cond_broadcast(&known->changed);
    pthread_mutex_unlock(&known->mutex);
}

void mr_known_races_settle_all(mr_known_races *known, uint64_t window)
{
    if (!known)
        return;
    pthread_mutex_lock(&known->mutex);
    under_way *own = find_window(known, window);
    if (own) {
        mr_map_free(&own->pairs);
        own->pairs = (mr_map){0};
    }
    pthread_cond_broadcast(&known->changed);
    pthread_mutex_unlock(&known->mutex);
}

void mr_known_races_leave(mr_known_races *known, uint32_t key_1, uint32_t key_2,
                          uint64_t unanswered)
{
    if (!known || !unanswered)
        return;
    pthread_mutex_lock(&known->mutex);
    mr_ledger_entry *entry = mr_ledger_get(&known->promised, key_1, key_2);
    if (entry)
        entry->unanswered += unanswered;
    pthread_mutex_unlock(&known->mutex);
}

mr_said_below mr_known_races_below_says(mr_known_races *known, uint32_t key_1, uint32_t key_2,
                                        uint64_t window, uint64_t max_unanswered)
{
    mr_said_below says = MR_BELOW_NOTHING;
    if (!known)
        return says;
    if (mr_known_races_below(known, key_1, key_2, window))
        return MR_BELOW_PROMISED;
    pthread_mutex_lock(&known->mutex);
    const mr_ledger_entry *entry = mr_ledger_find(&known->promised, key_1, key_2);
    const under_way *own = find_window(known, window);
    bool kept = !max_unanswered || !entry || entry->unanswered < max_unanswered;
    for (const under_way *other = known->windows; other && own && kept && says == MR_BELOW_NOTHING;
         other = other->next)
        if (other->window < window && other->search_from && other->search_from < own->number &&
            mr_map_get(&other->pairs, mr_map_key(key_1, key_2), SETTLED) == IS_OPEN)
            says = MR_BELOW_OPEN;
    if (entry && entry->race && entry->window < window && kept)
        says = MR_BELOW_PROMISED;
    pthread_mutex_unlock(&known->mutex);
    return says;
}

void mr_known_races_wait(mr_known_races *known)
{
    enum { WAIT_MS = 20, MS_NS = 1000000, SECOND_NS = 1000000000 };
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)WAIT_MS * MS_NS;
    until.tv_sec += until.tv_nsec / SECOND_NS;
    until.tv_nsec %= SECOND_NS;
    pthread_mutex_lock(&known->mutex);
    pthread_cond_timedwait(&known->changed, &known->mutex, &until);
    pthread_mutex_unlock(&known->mutex);
}

bool mr_known_races_may_wait(mr_known_races *known)
{
    pthread_mutex_lock(&known->mutex);
    bool may = known->vain <= known->paid;
    pthread_mutex_unlock(&known->mutex);
    return may;
}

void mr_known_races_has_waited(mr_known_races *known, bool paid)
{
    pthread_mutex_lock(&known->mutex);
    known->paid += paid;
    known->vain += !paid;
    pthread_mutex_unlock(&known->mutex);
}
