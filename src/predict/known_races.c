#include "known_races.h"

#include "ledger.h"

#include <pthread.h>
#include <stdlib.h>

struct mr_known_races {
    pthread_rwlock_t lock;
    mr_ledger pairs; /* with the lowest window of each, + 1: MR_BEFORE_WINDOWS is 0 */
    mr_ledger foreseen;
};

mr_known_races *mr_known_races_new(void)
{
    mr_known_races *known = mr_calloc(1, sizeof *known);
    if (known)
        pthread_rwlock_init(&known->lock, NULL);
    return known;
}

void mr_known_races_free(mr_known_races *known)
{
    if (!known)
        return;
    pthread_rwlock_destroy(&known->lock);
    mr_ledger_free(&known->pairs);
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
