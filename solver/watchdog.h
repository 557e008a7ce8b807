/*
 * watchdog: a thread that interrupts a Z3 query when its time or memory is used up.
 *
 * Z3's own timeout is not reliable on big formulas, so the deadline, the memory that Z3 holds and,
 * with a room, the memory that the process holds are watched from outside, every few milliseconds,
 * and the query is interrupted (Z3_interrupt is safe from another thread). Z3 counts for all
 * sessions of the process together, so of several queries all are interrupted at its own limit; at
 * the limit of the room it is the one that was begun last.
 *
 *   mr_watchdog_start → (mr_watchdog_arm → query → mr_watchdog_disarm)* → mr_watchdog_stop
 */
#ifndef MR_SOLVER_WATCHDOG_H
#define MR_SOLVER_WATCHDOG_H

#include "base/halt.h"
#include "base/room.h"

#include <stdbool.h>
#include <stdint.h>
#include <z3.h>

typedef enum mr_alarm {
    MR_ALARM_NONE,
    MR_ALARM_TIME,
    MR_ALARM_MEMORY,
    MR_ALARM_HALT, /* the run was asked to end */
} mr_alarm;

typedef struct mr_watchdog mr_watchdog;

/* NULL: no memory or no thread to be had. */
mr_watchdog *mr_watchdog_start(void);
void mr_watchdog_stop(mr_watchdog *watchdog);

/* Watches the query that starts now. A limit of 0 is none; `room` and `halt` may be NULL. */
void mr_watchdog_arm(mr_watchdog *watchdog, Z3_context context, uint32_t timeout_ms,
                     uint64_t memory_bytes, mr_room *room, const mr_halt *halt);

/* Which limit of the armed query was passed so far; for work between calls of Z3, which cannot be
 * interrupted. */
mr_alarm mr_watchdog_alarm(mr_watchdog *watchdog);

/* Ends the watch; after it returns the context is not interrupted any more. Which limit was passed.
 */
mr_alarm mr_watchdog_disarm(mr_watchdog *watchdog);

#endif
