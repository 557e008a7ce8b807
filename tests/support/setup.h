/*
 * setup: a trace written in a test, and its windows with their precedences, for tests of what works
 * on a window. Knows nothing of the solver. Every function ends the test when it fails.
 *
 *   mr_setup_open → (mr_setup_window → …)* → mr_setup_close
 */
#ifndef MR_TESTS_SUPPORT_SETUP_H
#define MR_TESTS_SUPPORT_SETUP_H

#include "encoder/goal.h"
#include "windows/precedence.h"

typedef struct mr_setup {
    mr_trace *trace;
    mr_carried carried;
    mr_barrier_edges opaque; /* MR_OPAQUE_PAIR */
    mr_arena arena;          /* everything of the current window */
    mr_window *window;
    mr_precedence hard, forced, source;
} mr_setup;

void mr_setup_open(mr_setup *setup, const char *text);
/* The same for a trace that stays the caller's. */
void mr_setup_take(mr_setup *setup, mr_trace *trace);
void mr_setup_give_back(mr_setup *setup);
/* Builds the window [start, end); the one before is gone. */
void mr_setup_window(mr_setup *setup, uint32_t start, uint32_t end, mr_model model);
void mr_setup_close(mr_setup *setup);

/* The goal of a race of two window events, for the block that it stands in. */
#define MR_RACE_OF(a, b)                                                                           \
    (&(mr_goal){.stops = (mr_stops[]){{(uint32_t[]){a}, 1}, {(uint32_t[]){b}, 1}}, .stop_count = 2})

#endif
