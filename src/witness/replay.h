/*
 * replay: the state in which a sequence of events leaves threads, locks, semaphores and variables;
 * internal to src/witness, for the checker.
 *
 * Events before `base` happened as observed, then those that mr_replay_do did; these can all be
 * taken back. Replay does not judge: its caller has tested that an event is possible, and replay
 * only asserts it. It uses the raw columns of the trace only.
 *
 *   mr_replay_init → (mr_replay_seek → mr_replay_do* → mr_replay_take_back)* → mr_replay_free
 *
 * Each event O(1); a seek to an earlier start begins again at event 0. Memory: 4 bytes an event,
 * once for all replays made by mr_replay_init_like.
 *
 * A replay by windows (mr_replay_init_by_window) knows the next events of threads within one window only: 4 bytes an event
 * of the window, and mr_replay_open after each seek.
 */
#ifndef MR_WITNESS_REPLAY_H
#define MR_WITNESS_REPLAY_H

#include "base/keys.h"
#include "trace/trace.h"

/* Who holds the lock; as a semaphore, its units. */
typedef struct mr_lock_now {
    uint32_t owner; /* thread, when depth > 0 */
    uint32_t depth;
    uint32_t sharers; /* threads that hold it shared */
    uint64_t units;
} mr_lock_now;

typedef struct mr_variable_now {
    uint32_t last_write; /* event, or MR_NONE */
    bool unknown;        /* its thread had diverged: nobody knows what it wrote */
} mr_variable_now;

typedef struct mr_replay {
    const mr_trace *trace;
    bool shares; /* what follows, down to `share_numbers`, is another replay's */
    /* event - `from`: the next event of its thread, or MR_NONE; in `memory`. By windows: in the window that is open, and
     * behind it its end */
    uint32_t *following;
    uint32_t from, end; /* of the window */
    bool by_window;
    size_t following_room;
    mr_spill memory;
    uint32_t *first_event; /* thread: its first event, or MR_NONE; not by windows */
    uint32_t *fork;        /* thread: the event that forks it, or MR_NONE */
    mr_keys share_numbers; /* (lock, thread) of each racq */

    uint32_t base;
    uint32_t *next;     /* thread: its next event, or MR_NONE */
    uint32_t *diverged; /* thread: the read at which it diverged (model branch), or MR_NONE */
    mr_lock_now *locks;
    mr_variable_now *variables;
    uint32_t *share_depths; /* by their number */
    uint32_t *done;         /* the events since `base` */
    size_t done_count, done_capacity;
    mr_variable_now *replaced; /* what the writes among them replaced */
    size_t replaced_count, replaced_capacity;
} mr_replay;

/* O(events). False: no memory; to be freed nevertheless. */
bool mr_replay_init(mr_replay *replay, const mr_trace *trace);
/* By windows. */
bool mr_replay_init_by_window(mr_replay *replay, const mr_trace *trace);
/* The same as mr_replay_init in O(names), with what `other` knows of the trace, which must outlive it. */
bool mr_replay_init_like(mr_replay *replay, const mr_replay *other);
void mr_replay_free(mr_replay *replay);

/* Brings the state to the start of a window, when nothing is to be taken back. */
void mr_replay_seek(mr_replay *replay, uint32_t window_start);

/* By windows: opens the window from where the last seek led, O(its events). False: no memory. */
bool mr_replay_open(mr_replay *replay, uint32_t window_end);

/* Does the next event of a thread; `diverges`: it reads something else than it did in the trace.
 * False: no memory, and nothing is done. */
bool mr_replay_do(mr_replay *replay, uint32_t event, bool diverges);
/* Back to the state at `base`. */
void mr_replay_take_back(mr_replay *replay);

/* Is the state that of the events before `event`, and nothing more? For assertions; O(threads). */
bool mr_replay_is_at(const mr_replay *replay, uint32_t event);

/* How often the thread of the event holds the event's lock shared. */
uint32_t mr_replay_share_depth(const mr_replay *replay, uint32_t event);

/* Does the thread hold the lock shared? */
bool mr_replay_shares(const mr_replay *replay, uint32_t lock, uint32_t thread);

static inline bool mr_replay_happened(const mr_replay *replay, uint32_t event)
{
    return event < replay->next[replay->trace->thread[event]];
}

#endif
