/*
 * lives: what the streaming orders keep of objects (docs/semantics.md 2, rule 7, and 6).
 *
 * An alloc is ordered before all accesses of the object's variables and its free: a hard edge
 * (edges.h) that counts for these events themselves. A free is a write of all variables of the
 * object that no read sees; so what is needed is their list.
 *
 *   mr_lives_grow, mr_lives_learn → mr_lives_alloc, mr_lives_follow, mr_lives_first …
 *
 * 36 bytes an object, 8 a variable of a trace with objects, and the clocks of the allocs, which
 * share them where nothing has happened in between. O(1) an access; O(threads) where an alloc is
 * news.
 */
#ifndef MR_ORDER_LIVES_H
#define MR_ORDER_LIVES_H

#include "trace/events.h"
#include "wcp.h"

/* Zero-initialise; mr_lives_free before the clocks' pool goes. */
typedef struct mr_lives {
    mr_stamp *stamps; /* by object: its alloc; time.local 0: none so far */
    uint32_t *first;  /* by object: its variable that became known last + 1, 0: none; or … */
    size_t object_capacity, first_capacity;
    struct mr_life_member {
        uint32_t object; /* + 1, 0: of none */
        uint32_t next;   /* the object's variable that became known before it + 1 */
    } * members;         /* by variable */
    size_t member_capacity;
    uint32_t variable_count; /* the members are below */
} mr_lives;

/* … its life is over. */
enum { MR_LIVES_OVER = -1 };

/* There are the objects and members of these events from now on. `*late`: a variable of an object
 * was told that has been freed. False: no memory, here and below. */
bool mr_lives_learn(mr_lives *lives, const mr_events *events, bool *late);
void mr_lives_free(mr_lives *lives, mr_wcp *wcp);

static inline void mr_lives_alloc(mr_lives *lives, mr_wcp *wcp, uint32_t thread, uint32_t object)
{
    MR_ASSERT(object < lives->object_capacity);
    mr_wcp_publish(wcp, thread, &lives->stamps[object]);
}

/* Before an event of the thread that is about the object. */
static inline bool mr_lives_follow(const mr_lives *lives, mr_wcp *wcp, uint32_t thread,
                                   uint32_t object)
{
    const mr_stamp *stamp = &lives->stamps[object];
    /* What a thread knows of TO, it knows of HB, too. */
    const mr_clock *known =
        wcp->threads ? wcp->threads[thread].hard : wcp->hb.threads[thread].clock;
    return !stamp->time.local || stamp->time.thread == thread ||
           mr_clock_get(known, stamp->time.thread) >= stamp->time.local ||
           mr_wcp_follow(wcp, thread, stamp);
}

/* Before an access. */
static inline bool mr_lives_access(const mr_lives *lives, mr_wcp *wcp, uint32_t thread,
                                   uint32_t variable)
{
    uint32_t object = variable < lives->member_capacity ? lives->members[variable].object : 0;
    return !object || mr_lives_follow(lives, wcp, thread, object - 1);
}

/* The variables of the object, + 1, 0: no more. */
static inline uint32_t mr_lives_first(const mr_lives *lives, uint32_t object)
{
    return lives->first[object];
}

static inline uint32_t mr_lives_next(const mr_lives *lives, uint32_t variable)
{
    return lives->members[variable - 1].next;
}

#endif
