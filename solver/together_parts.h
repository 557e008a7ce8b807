/*
 * together_parts: what a search for states that may be together (together.h) is made of, and its start: the parts of a window, their
 * states, and the steps between them.
 */
#ifndef MR_SOLVER_TOGETHER_PARTS_H
#define MR_SOLVER_TOGETHER_PARTS_H

#include "atomic_sections.h"
#include "state_set.h"
#include "together.h"

/* A step of a thread: acquires from event `first` of the thread on, then `main`, then events that only give. */
typedef struct mr_together_step {
    uint32_t first, main; /* positions in the thread */
    uint32_t event;       /* of `main` */
    uint32_t part;        /* of the variable that `main` accesses; MR_NONE: none */
    uint32_t write;       /* the state of that part after it; MR_NONE: it does not write */
    uint32_t killer;      /* the part that made the event impossible the last time */
    bool is_whole;        /* it begins a part of an atomic section, which is taken in one step */
    bool looks_back; /* something must be before it that need not be before the step before it */
    bool acquires;   /* its first event is a contended acquire */
    bool due, reached;
} mr_together_step;

/* A variable of a part of an atomic section. */
typedef struct mr_together_touch {
    uint32_t part, access; /* the first one */
    uint32_t write;        /* the state of the part after the section; MR_NONE: it does not write */
    uint32_t killer;
} mr_together_touch;

/* A section that is taken in one step (atomic_sections.h), from the step of its acquire on. */
typedef struct mr_together_whole {
    uint32_t end;  /* the state of its thread after it */
    uint32_t last; /* `event` of its last step */
    bool looks_back;
    uint32_t first_touch, end_touch; /* what it reads comes first */
} mr_together_whole;

/* The states of part j that may be with one state of part i. */
typedef mr_state_set mr_together_row;

/* The last writes of so many variables that an atomic section reads are looked at together. */
enum { MR_TOGETHER_READS = 3 };

/* The rows of one state while its step is taken: those of part j are `first[j]` and so on, with `at[j + 1] - at[j]` words from
 * `at[j]` on. */
typedef struct mr_together_frame {
    uint32_t *first, *at;  /* one a part, and the end */
    uint64_t *own;         /* what may be beside the step, but for its variable */
    uint64_t *found, *all; /* with one last write, and with any */
    uint64_t *
        with[MR_TOGETHER_READS]; /* `found` with last writes of the first variables that are read */
} mr_together_frame;

typedef struct mr_together_part {
    uint32_t first_state, state_count;
} mr_together_part;

struct mr_together {
    const mr_window *window;
    const mr_precedence *hard, *forced;
    uint32_t part_count, thread_count, state_count;
    mr_together_part *parts; /* threads, then variables */
    uint32_t *part_of;       /* one a variable; MR_NONE: not shared */
    uint32_t *state_of;      /* one an event: of its thread when it is the next */
    uint32_t *write_state;   /* one an event: of its variable after it, when it writes */
    /* one a state; after the last of a thread there is none, and those of variables have a part alone */
    mr_together_step *steps;
    uint32_t *step_of_event; /* one an event: the step whose `main` it is; MR_NONE */
    mr_atomic_sections atomic;
    mr_together_whole *wholes;  /* one a step: when it is whole */
    mr_together_touch *touches; /* one a step: of the part of a section that begins there, and on */
    uint32_t *grown;            /* states of variables whose rows have new pairs */
    uint32_t grown_count;
    mr_together_row **rows; /* one a state: see mr_together_rows_of */
    /* One a lock and thread: states outside exclusive sections, and outside shared ones; NULL: all. */
    uint64_t **out_of_exclusive, **out_of_shared;
    mr_state_pool pool;
    mr_together_frame frame; /* scratch */
    uint64_t pairs, first_pairs, reached, effort, max_effort;
    uint32_t least_due,
        taken; /* since the last time through: the least `event` of a step that became due */
    bool gave_up, out_of_memory;
    mr_arena *arena;
};

/* The rows of a state, one a part. NULL: nothing is beside it so far. */
static inline mr_together_row *mr_together_rows_of(const mr_together *t, uint32_t i, uint32_t state)
{
    return t->rows[t->parts[i].first_state + state];
}

/* The states of thread `thread` when `count` of its events have happened. */
static inline uint32_t mr_together_state_after(const mr_together *t, uint32_t thread,
                                               uint32_t count)
{
    const mr_window *w = t->window;
    return count < mr_window_length(w, thread) ? t->state_of[mr_window_at(w, thread, count)]
                                               : t->parts[thread].state_count - 1;
}

/* Makes one step of those of an atomic section between two states of its thread, more than one. O(square of their number). */
void mr_together_make_whole(mr_together *together, uint32_t thread, uint32_t state, uint32_t end);

/* The parts, steps and rows of a search that has its window and limits; no pair is there yet. False: gave up, or no memory. */
bool mr_together_start(mr_together *together);

#endif
