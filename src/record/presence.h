/* presence: is no other thread there? Known from the records of threads, while a pass reads the log. */
#ifndef MR_RECORD_PRESENCE_H
#define MR_RECORD_PRESENCE_H

#include "log_reader.h"
#include "pairs.h"

/* Zero-initialise. */
typedef struct mr_presence {
    mr_pairs threads; /* those that were started, the first one, and those that were joined */
    uint32_t forks, joins;
    /* A thread ran that no recorded thread started: it may always have been there. */
    bool has_stranger;
} mr_presence;

void mr_presence_free(mr_presence *presence);

/* Takes a SWITCH, FORK or JOIN record. False: no memory. */
bool mr_presence_note(mr_presence *presence, const mr_log_pass *pass, const uint64_t *record);

/* Was no thread started that has not been joined? */
static inline bool mr_presence_is_alone(const mr_presence *presence)
{
    return presence->forks == presence->joins && !presence->has_stranger;
}

#endif
