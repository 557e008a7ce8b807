/*
 * partial: the state of a reordering while it is built event by event, and what docs/semantics.md 2
 * allows next.
 *
 * For the steps that look for a witness by running events: greedy, explore, walks and surveys. It knows the
 * rules, not the question: its user chooses the events, each the next one of its thread.
 *
 *   mr_partial_init → mr_partial_reset → (mr_partial_allows, mr_partial_run, mr_partial_undo)*
 *
 * All memory is of the arena.
 */
#ifndef MR_SOLVER_PARTIAL_H
#define MR_SOLVER_PARTIAL_H

#include "windows/window.h"

/* What a read of a variable would see. */
typedef struct mr_partial_memory {
    uint32_t value; /* index; 0: unknown */
    uint32_t write; /* window event; MR_NONE: none of the window, or of a thread that diverged */
    bool unknown;   /* a diverged thread wrote it */
} mr_partial_memory;

typedef struct mr_partial_lock {
    uint32_t owner; /* thread; MR_NONE: nobody holds it exclusively */
    uint32_t sharers;
} mr_partial_lock;

typedef struct mr_partial {
    const mr_window *window;
    uint32_t *next;  /* one a thread: position of its next event */
    uint32_t *bound; /* one a thread: reads before this position must be consistent; 0 at first */
    bool *diverged;  /* one a thread */
    mr_partial_memory *memory; /* one a variable */
    mr_partial_lock *locks;    /* one a lock */
    uint32_t *units;           /* one a lock */
    uint32_t *open;            /* one a section: 1 while its thread is in it */
} mr_partial;

/* False: no memory of `arena`. It is to be reset. */
bool mr_partial_init(mr_partial *partial, const mr_window *window, mr_arena *arena);

/* Nothing of the window has run; `bound` is 0. O(threads + variables + sections). */
void mr_partial_reset(mr_partial *partial);

static inline bool mr_partial_happened(const mr_partial *partial, uint32_t event)
{
    return partial->window->position[event] < partial->next[partial->window->thread[event]];
}

/* Have the fork of its thread and what edges of BarrierPairs put before the event happened? */
bool mr_partial_edges_hold(const mr_partial *partial, uint32_t event);

/* Can the thread stop before the event in a race, as far as rules 3, 5 and 7 of docs/semantics.md 2 go? Needs `window`
 * and `next` alone, as the functions above and below. */
bool mr_partial_may_stop(const mr_partial *partial, uint32_t event);

/* Do rules 3, 5 and 7 allow the event, which is the next of its thread? */
bool mr_partial_order_allows(const mr_partial *partial, uint32_t event);

/* What a read of the variable would see, as one number: the event of the write plus one where reads go by source, else
 * the index of the value. 0: no write of the window, or a value that is not known. */
static inline uint32_t mr_partial_sees(const mr_partial *partial, uint32_t variable)
{
    const mr_partial_memory *now = &partial->memory[variable];
    return partial->window->variables[variable].by_source ? now->write + 1 : now->value;
}

/* Is that what the read of a shared variable has to see? */
static inline bool mr_partial_is_right(const mr_window *window, uint32_t read, uint32_t seen)
{
    return window->variables[window->object[read]].by_source
               ? seen == window->source[read] + 1
               : seen && seen == mr_window_read_value(window, read);
}

/* Would a read see now what it has to see? */
bool mr_partial_is_consistent(const mr_partial *partial, uint32_t read);

/* Does docs/semantics.md 2 allow the event, which is the next of its thread? `*diverges`: it is a
 * read that sees something else. */
bool mr_partial_allows(const mr_partial *partial, uint32_t event, bool *diverges);

void mr_partial_run(mr_partial *partial, uint32_t event, bool diverges);

/* Takes back the event that its thread has run last, which did not diverge. `seen`: the memory of its
 * variable before, when it writes. */
void mr_partial_undo(mr_partial *partial, uint32_t event, const mr_partial_memory *seen);

#endif
