/*
 * pace: will a search through layers (layers.h) come to its end within its effort? It says no early, so that the
 * effort is not spent in vain, and then the search gives up as if all of it were spent.
 *
 * What is left is estimated in two ways, each by the effort that a layer took so far:
 *   - by all layers that are done: no, when the whole would take more than twice the effort that there is;
 *   - by the last layers that took 1/32 of it, the *stretch*: no, when the layers that are left would take 16 times the
 *     effort that is left. Layers are cheap where one thread runs alone, such as before it starts the others, so the
 *     first estimate says no late. A stretch in which races were found says nothing.
 *
 * Both go by counts alone, so the same search gives up at the same layer everywhere. Of 15 searches that ended and took more
 * than 1/256 of their effort (hard traces of bench/hard.c, recordings) none had a second estimate above 3.3 times what
 * was left; those that it ends go up to thousands of times.
 */
#ifndef MR_SOLVER_PACE_H
#define MR_SOLVER_PACE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mr_pace {
    uint32_t layers;     /* of the search */
    uint64_t max_effort; /* which it may spend */
    /* Where the stretch begins. */
    uint32_t stretch_layer;
    uint64_t stretch_effort;
    bool has_found; /* a race was found in the stretch */
} mr_pace;

static inline mr_pace mr_pace_begin(uint32_t layers, uint64_t max_effort)
{
    return (mr_pace){.layers = layers, .max_effort = max_effort};
}

/* A race was found. */
static inline void mr_pace_find(mr_pace *pace)
{
    pace->has_found = true;
}

/* After each layer: so many layers are done, which took `effort` in all, not more than max_effort. */
bool mr_pace_is_vain(mr_pace *pace, uint32_t layers_done, uint64_t effort);

#endif
