/*
 * room: the memory of the process, shared out among those who work at the same time
 * (memory.limit_mb).
 *
 * Two things are counted. What was announced: bytes that are held without asking (mr_room_hold: an
 * event store, results), and the shares of workers. And what is measured: the anonymous memory of
 * the process, in which Z3, vector clocks and the rest of the heap are, plus the code. What is
 * left is the limit without the larger of the two, and without what shares were granted and have
 * not used so far.
 *
 * A share is what one worker may use. It is opened with what the worker needs at least, and may
 * grow:
 *
 *   mr_room_share_open → (mr_room_share_must | mr_room_share_try | mr_room_share_give)* →
 * mr_room_share_renew → … → mr_room_share_close
 *
 *   mr_room_share_try   for a question: refused when nothing is left; it becomes unknown (memory)
 *   mr_room_share_must  for a window: waits until there is room
 *
 * Nobody waits forever: shares stand in line in the order in which they were opened or renewed, and
 * the first never waits; it goes over the limit, when need be, by what its one window takes. It is
 * renewed or closed when it is done with the window, and so every share comes to be the first. A
 * share that is being opened waits for those before it, so a large one is not passed by small ones.
 *
 * Who waits for another worker in any other way (results in order, a barrier) must have renewed or
 * closed its share before: else the first in line may be one that waits for those behind it.
 *
 * All functions may be called by any thread, those of one share by one thread at a time. `room` may
 * be NULL, as may a share's: no limit, nothing is counted. O(1), and a look at
 * /proc/self/statm (10 µs) where a share grows beyond what it was granted.
 */
#ifndef MR_BASE_ROOM_H
#define MR_BASE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mr_room mr_room;

/* Who holds memory. */
typedef enum mr_room_holder {
    MR_ROOM_STORE,     /* what of a spilled event store may be in memory (trace/columns.h) */
    MR_ROOM_WINDOWS,   /* windows of the trace and their questions */
    MR_ROOM_FAR,       /* the reduced trace and far windows */
    MR_ROOM_WITNESSES, /* results that wait for the report */
    MR_ROOM_HOLDERS
} mr_room_holder;

typedef struct mr_room_options {
    uint64_t limit_bytes; /* > 0 */
    /* Bytes that the process holds; NULL: the real ones. For tests. */
    uint64_t (*measure)(void *context);
    void *context;
} mr_room_options;

/* What a worker may use; fields are private, zero-initialise. */
typedef struct mr_room_share {
    mr_room *room;
    mr_room_holder holder;
    uint64_t least_bytes, granted_bytes, used_bytes;
    bool is_open; /* granted; while it is being opened it stands in line only */
    struct mr_room_share *next, *previous;
} mr_room_share;

/* NULL: no memory. All shares must be closed before it is freed; NULL is fine. */
mr_room *mr_room_new(const mr_room_options *options);
void mr_room_free(mr_room *room);

/* Counts what is held without asking, and no longer. */
void mr_room_hold(mr_room *room, mr_room_holder holder, uint64_t bytes);
void mr_room_give(mr_room *room, mr_room_holder holder, uint64_t bytes);

/* What one holder holds, shares included; what is left for anybody (no room: UINT64_MAX). */
uint64_t mr_room_held(mr_room *room, mr_room_holder holder);
uint64_t mr_room_left(mr_room *room);

/* Opens a share of `bytes`, waiting for room unless it is the first in line. `share` must stay
 * where it is until it is closed. */
void mr_room_share_open(mr_room_share *share, mr_room *room, mr_room_holder holder, uint64_t bytes);
void mr_room_share_close(mr_room_share *share);
/* Between two windows: to the end of the line. What it holds, it keeps. Does not wait. */
void mr_room_share_renew(mr_room_share *share);

bool mr_room_share_try(mr_room_share *share, uint64_t bytes);
void mr_room_share_must(mr_room_share *share, uint64_t bytes);
void mr_room_share_give(mr_room_share *share, uint64_t bytes);

/*
 * Work whose memory nobody announces (a query of Z3) is watched instead:
 *
 *   mr_room_watch → mr_room_is_over* → mr_room_unwatch
 *
 * mr_room_is_over: does the process hold more than the limit, and is this the youngest of the works
 * that are watched? The youngest has to stop; when that is not enough, the next one is the
 * youngest.
 */
typedef struct mr_watched {
    mr_room *room;
    struct mr_watched *older;
} mr_watched;

void mr_room_watch(mr_room *room, mr_watched *watched);
bool mr_room_is_over(mr_watched *watched);
void mr_room_unwatch(mr_watched *watched);

#endif
