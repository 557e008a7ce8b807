/*
 * debug: what a module decides, one line each, for those who look for a mistake (--debug TOPIC,…).
 *
 *   debug TOPIC: name=value name=value …
 *
 * A module that can speak has a `const mr_debug *` among its settings, and calls MR_DEBUG where a
 * decision is known. While nobody listens, MR_DEBUG costs one test of a pointer and evaluates none
 * of its arguments. What is written never changes a verdict.
 */
#ifndef MR_BASE_DEBUG_H
#define MR_BASE_DEBUG_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(enumerator, name, what its lines tell): the topics. A new topic is a row here. */
#define MR_DEBUG_MAP(X)                                                                            \
    X(WINDOWS, "windows", "each window: its bounds, what is in it, its candidates")                \
    X(CANDIDATES, "candidates", "each candidate: its accesses, strength and verdict")              \
    X(CONE, "cone", "the events that a candidate requires and that can help it")                   \
    X(STEPS, "steps", "what each step says of a candidate, and its effort")                        \
    X(FORMULA, "formula", "the size of each formula")                                              \
    X(SEARCH, "search", "saturation: conflicts, learned clauses, restarts")                        \
    X(FAR, "far", "far races: windows tried, effort, verdicts")                                    \
    X(DISPATCH, "dispatch", "units: who decides them, when they are merged")                       \
    X(CHECKPOINT, "checkpoint", "outcomes saved, found again, refused")                            \
    X(RECORDER, "recorder", "from a log to a trace: threads, variables, what is left out")

typedef enum mr_debug_topic {
#define MR_DEBUG_ENUM(name, text, tells) MR_DEBUG_##name,
    MR_DEBUG_MAP(MR_DEBUG_ENUM)
#undef MR_DEBUG_ENUM
        MR_DEBUG_COUNT
} mr_debug_topic;

/* Somebody who listens. */
typedef struct mr_debug {
    uint32_t topics; /* bit 1 << topic */
    /* Takes a line, without its end. Several threads may call it at the same time. */
    void (*write)(void *context, const char *line);
    void *context;
} mr_debug;

/* Does somebody listen to the topic? `debug` may be NULL. */
static inline bool mr_debug_on(const mr_debug *debug, mr_debug_topic topic)
{
    return debug && debug->topics >> topic & 1;
}

/* Writes a line; a line of more than 1,000 bytes is cut. Call it as MR_DEBUG. */
void mr_debug_write(const mr_debug *debug, mr_debug_topic topic, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* MR_DEBUG(debug, CONE, "required=%u cone=%u", …) */
#define MR_DEBUG(debug, topic, ...)                                                                \
    do {                                                                                           \
        if (__builtin_expect(mr_debug_on((debug), MR_DEBUG_##topic), 0))                           \
            mr_debug_write((debug), MR_DEBUG_##topic, __VA_ARGS__);                                \
    } while (0)

const char *mr_debug_topic_name(mr_debug_topic topic);
const char *mr_debug_topic_tells(mr_debug_topic topic);

/* Reads "windows,cone" or "all" into a set of topics. MR_ERR_USAGE names the word that is no topic,
 * and all topics. */
mr_status mr_debug_parse(const char *list, uint32_t *topics, mr_error *error);

#endif
