/*
 * fork_join: docs/semantics.md 2.3.
 *
 *   for each thread t with events in C:
 *     before(fork(t), first(t))     its fork, when that lies in the window
 *     before(last(t), j)            each join j of t in C; last(t) is t's last event of the window
 *
 * A join is in C only if all of its thread is (C is closed under precedence). Threads forked or
 * joined inside the cone have their first and last events as nodes, so that order is passed on
 * through a thread that no other constraint names.
 */
#ifndef MR_ENCODER_FORK_JOIN_H
#define MR_ENCODER_FORK_JOIN_H

#include "encoding.h"

void mr_encode_fork_join(mr_encoding *encoding);

#endif
