#include "presence.h"

enum { STARTED, JOINED };

void mr_presence_free(mr_presence *presence)
{
    mr_pairs_free(&presence->threads);
    *presence = (mr_presence){.forks = 0};
}

/* Adds the thread to those that were started, or joined; `*is_new`: it was not among them. */
static bool add(mr_presence *presence, uint64_t state, uint64_t thread, bool *is_new)
{
    uint32_t known = presence->threads.count;
    uint32_t number = mr_pairs_add(&presence->threads, (mr_pair){state, thread});
    *is_new = number == known;
    return number != MR_PAIRS_NONE;
}

static bool is_started(const mr_presence *presence, uint64_t thread)
{
    return mr_pairs_find(&presence->threads, (mr_pair){STARTED, thread}) != MR_PAIRS_NONE;
}

bool mr_presence_note(mr_presence *presence, const mr_log_pass *pass, const uint64_t *record)
{
    bool ok = true, is_new = false;
    if (mr_log_kind_of(record[0]) == MR_LOG_FORK) {
        ok = add(presence, STARTED, record[2], &is_new);
        presence->forks += is_new;
    } else if (mr_log_kind_of(record[0]) == MR_LOG_JOIN) {
        ok = !is_started(presence, record[2]) || add(presence, JOINED, record[2], &is_new);
        presence->joins += is_new;
    } else if (!presence->threads.count) {
        ok = add(presence, STARTED, pass->thread, &is_new);
    } else if (!presence->has_stranger) {
        presence->has_stranger = !is_started(presence, pass->thread);
    }
    return ok;
}
