/*
 * openmp_dependences: which tasks of OpenMP come after which others, by `depend` of gcc (gomp.h) and of clang (kmpc.h): who writes comes after
 * the last who wrote the same address and after all who have read it since, who reads after the last who wrote. Tasks of one parent alone
 * depend on each other. Called with the baton.
 *
 *   mr_dependences_add of each address → the task is done when it waits for none, after mr_dependent_comes_after → `has_ended` → mr_dependent_ready
 */
#ifndef MR_RUNTIME_OPENMP_DEPENDENCES_H
#define MR_RUNTIME_OPENMP_DEPENDENCES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mr_dependence_link mr_dependence_link;

/* What a task has of it: its first member. */
typedef struct mr_dependent {
    const void *end; /* its end in the log; known when others may depend on it */
    uint64_t users;  /* who keeps the task: itself until it has ended, its children, dependences */
    uint64_t waits_for;            /* tasks that it depends on and that have not ended */
    unsigned after_count;          /* tasks that it depends on … */
    mr_dependence_link *after;     /* … and their ends, until they are in the log */
    mr_dependence_link *followers; /* tasks that wait for it */
    bool has_ended;                /* nobody is to wait for it any more */
    bool is_depended_on;           /* others may depend on it, now or later */
} mr_dependent;

/* What the children of a task depend on. NULL: nothing yet. */
typedef struct mr_dependences mr_dependences;

/* One user less. */
typedef void (*mr_dependent_let_go)(mr_dependent *task);

/* The task depends on the address. `stays`: tasks after it may depend on it, else it only waits. */
void mr_dependences_add(mr_dependences **all, mr_dependent *task, const void *address, bool writes,
                        bool stays, mr_dependent_let_go let_go);
/* Later children depend on none of these. */
void mr_dependences_drop(mr_dependences **all, mr_dependent_let_go let_go);

/* The calling thread comes after all that the task depends on: in the log, if it `logs`. They are forgotten. */
void mr_dependent_comes_after(mr_dependent *task, bool logs, uintptr_t code);

/* Of a task that has ended: the next one that waits for no other any more. NULL: that was all. */
mr_dependent *mr_dependent_ready(mr_dependent *ended);

#endif
