/*
 * room: the memory of the process, shared out among the workers that run at the same time
 * (memory.limit_mb).
 *
 *   left      = limit - max(announced, measured)
 *   announced = what the process held when the room was made
 *             + what is held without asking (mr_room_hold: an event store, results)
 *             + what the shares of workers were granted
 *   measured  = the anonymous memory of the process (Z3, vector clocks, the rest of the heap)
 *             + its code
 *             + what the event store holds
 *             + what the shares were granted and have not used so far
 *
 * A share is what one worker may use. It is opened with the least that the worker needs, and may
 * grow:
 *
 *   mr_room_share_open → (mr_room_share_must | mr_room_share_try | mr_room_share_give)*
 *     → mr_room_share_rest → mr_room_share_renew → … → mr_room_share_close
 *
 *   mr_room_share_try   for a question: refused when too little is left; the candidate becomes
 *                       unknown (memory)
 *   mr_room_share_must  for a window: waits until there is room
 *
 * No share waits forever. Shares stand in a line, in the order in which they were opened or
 * renewed. The first share that does not rest never waits; if need be, it goes over the limit by
 * what its one window takes. A worker lets its share rest or closes it when its window is done, so
 * each share comes to be the first. A share that is being opened also waits for those before it
 * that are being opened, so small shares do not pass a large one.
 *
 * A share whose worker has no window rests. The worker may get no window for a long time, or never
 * again: the last units of a phase may be fewer than the workers. Nobody must wait for it.
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

/* What the memory is for. */
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
    bool rests;   /* its worker has no window */
    struct mr_room_share *next, *previous;
} mr_room_share;

/* NULL: no memory. All shares must be closed before it is freed; NULL is fine. */
mr_room *mr_room_new(const mr_room_options *options);
void mr_room_free(mr_room *room);

/* Count bytes that are held without asking, and take them off again. */
void mr_room_hold(mr_room *room, mr_room_holder holder, uint64_t bytes);
void mr_room_give(mr_room *room, mr_room_holder holder, uint64_t bytes);

/* What is held for one purpose, shares included; what is left (no room: UINT64_MAX). */
uint64_t mr_room_held(mr_room *room, mr_room_holder holder);
uint64_t mr_room_left(mr_room *room);

/* Opens a share of `bytes`, waiting for room unless it is the first in line. `share` must stay
 * where it is until it is closed. */
void mr_room_share_open(mr_room_share *share, mr_room *room, mr_room_holder holder, uint64_t bytes);
void mr_room_share_close(mr_room_share *share);
/* After a window: nobody waits for the share, which keeps what it holds. It may only be renewed or
 * closed, or give. */
void mr_room_share_rest(mr_room_share *share);
/* Before a window: the share goes to the end of the line and keeps what it holds. Does not wait. */
void mr_room_share_renew(mr_room_share *share);

bool mr_room_share_try(mr_room_share *share, uint64_t bytes);
void mr_room_share_must(mr_room_share *share, uint64_t bytes);
void mr_room_share_give(mr_room_share *share, uint64_t bytes);

/*
 * Work whose memory cannot be announced (a query of Z3) is watched instead:
 *
 *   mr_room_watch → mr_room_is_over* → mr_room_unwatch
 *
 * mr_room_is_over: does the process hold more than the limit, and was this work the last one to be
 * watched? Then it has to stop. When that is not enough, the work watched before it is the last one.
 */
typedef struct mr_watched {
    mr_room *room;
    struct mr_watched *older;
} mr_watched;

void mr_room_watch(mr_room *room, mr_watched *watched);
bool mr_room_is_over(mr_watched *watched);
void mr_room_unwatch(mr_watched *watched);

#endif
