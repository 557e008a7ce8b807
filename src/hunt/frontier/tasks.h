/*
 * tasks: what a hunt may try next, the most promising first.
 *
 * A task is a question about a behaviour (a run that was new): can it go on in another way? Tasks are
 * ordered by
 *
 *   what it is   findings and swaps of races first, then reads of racing pairs, then candidates that
 *                are no races yet, then other reads and turns at locks. Of the two tasks of a read
 *                and a write, the one with the short way comes first. Runs for candidates give way:
 *                each that has not made a race of its candidate puts off the others
 *   novelty      how often the pair of places was seen in runs or tried: what is rare comes first; and
 *                whether a run had the history that the thread would have
 *
 * and among equals by chance, from the seed of the hunt. A task with a key that was added before is
 * dropped.
 */
#ifndef MR_HUNT_TASKS_H
#define MR_HUNT_TASKS_H

#include "base/map.h"
#include "replay/plan.h"

typedef enum mr_task_kind {
    MR_TASK_FREE,    /* a run by a strategy and a seed */
    MR_TASK_FINDING, /* a finding beside races: its threads at their stops, then they go on */
    MR_TASK_SWAP,    /* a race: both threads at their accesses, then the second one first */
    MR_TASK_NEAR, /* a candidate (near.h): one thread before its access, the other near to its own */
    MR_TASK_SEES,  /* a read sees another write, or the initial value */
    MR_TASK_TURN,  /* a lock is acquired in the other order */
    MR_TASK_STATE, /* a thread sees what its local state was not seen with (hunt/guide) */
    MR_TASK_KINDS
} mr_task_kind;

const char *mr_task_kind_name(mr_task_kind kind); /* "free" … */

typedef struct mr_task {
    mr_task_kind kind;
    uint32_t parent; /* behaviour whose trace the events are of */
    /* SEES: second is the read, first the write or MR_NONE for the initial value. TURN: second is the
     * acquire that is to be first, first the other one. SWAP: the accesses. NEAR: the thread of first
     * stays before it, that of second goes. */
    uint32_t first, second;
    uint32_t stops[MR_PLAN_STOPS], stop_count; /* FINDING, SWAP */
    uint32_t *events;                          /* FINDING, SWAP: those before; owned */
    uint32_t event_count;
    bool keeps; /* SEES: all of the trace that can come before does (most.h), not the short way */
    bool was_asked; /* SEES: the engine was asked for the way */
    bool is_racy;   /* SEES: the pair of places races */
    uint64_t key;   /* what makes it one; never 0 */
    uint64_t pair;  /* of places */
    uint64_t node;  /* the history that the thread would have; 0: not known */
    uint32_t depth; /* tasks that led to it */
    uint32_t chance;
} mr_task;

void mr_task_free(mr_task *task);

/* Zero-initialise; free with mr_tasks_free. */
typedef struct mr_tasks {
    mr_task *items;
    size_t count, capacity;
    size_t dropped;    /* because there were too many */
    mr_map counts;     /* by pair: how often it was seen or tried */
    mr_map keys;       /* that were added */
    mr_map nodes;      /* histories that runs had */
    mr_map candidates; /* by pair: it was tried by NEAR, or races in some trace */
    uint32_t idle;     /* tasks NEAR since the candidate of one turned out to be a race */
    uint64_t random;
} mr_tasks;

void mr_tasks_free(mr_tasks *tasks);

/* The functions below return false when there is no memory. */

/* Takes the task over, or drops it: its key is known. */
bool mr_tasks_add(mr_tasks *tasks, mr_task *task);
/* Another session has run the task with this key. False: no memory. */
bool mr_tasks_note_elsewhere(mr_tasks *tasks, uint64_t key);
bool mr_tasks_ran_elsewhere(const mr_tasks *tasks, const mr_task *task);
bool mr_tasks_saw_pair(mr_tasks *tasks, uint64_t pair);
bool mr_tasks_saw_node(mr_tasks *tasks, uint64_t node);
/* The pair races: it needs no tasks NEAR any more. */
bool mr_tasks_saw_race(mr_tasks *tasks, uint64_t pair);

/* Takes the best task; false: there is none. O(tasks). */
bool mr_tasks_take(mr_tasks *tasks, mr_task *task);

/* Even in [0, bound). */
uint32_t mr_tasks_chance(mr_tasks *tasks, uint32_t bound);

#endif
