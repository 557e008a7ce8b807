/*
 * atomic_sections: sections of a window that may be taken in one step, as far as nothing from outside their lock comes in between.
 *
 * A section that only accesses variables is run at once when each access of another thread that conflicts with one of
 * its own holds the same lock: no other event reads or changes what it does, so what others do meanwhile may come before it
 * (Lipton, CACM 1975: reduction). The same holds where others may come before or after one access of it only: then the rest is run where this
 * one is. An edge of BarrierPairs would keep a part of the section where it is, so there is none at its events.
 *
 * Each variable has one lock whose sections may be atomic. The accesses without that lock are its *outsiders*. They are
 * known here; whether one of them and a section come to the same time is found out by the search that asks
 * (together.h).
 */
#ifndef MR_SOLVER_ATOMIC_SECTIONS_H
#define MR_SOLVER_ATOMIC_SECTIONS_H

#include "windows/window.h"

typedef struct mr_atomic_sections {
    uint32_t *lock;      /* one a variable; MR_NONE: none of its sections is atomic */
    uint32_t *first;     /* one a variable, and the end */
    uint32_t *outsiders; /* events; those of a variable side by side */
    bool *
        has_edge; /* one an event: an edge of BarrierPairs begins or ends there; NULL: there are none */
} mr_atomic_sections;

/* False: no memory. O(window). */
bool mr_atomic_sections_find(mr_atomic_sections *atomic, const mr_window *window, mr_arena *arena);

/* May this section be taken in one step as far as no outsider comes in between? */
bool mr_atomic_sections_has(const mr_atomic_sections *atomic, const mr_window *window,
                            const mr_section *section);

#endif
