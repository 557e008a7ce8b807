/*
 * fork_join: docs/semantics.md 2.3.
 *
 *     before(fork(t), first(t))      each thread t with events in C whose fork lies in the window
 *     before(last(t), j)             each join j in C of a thread t with events in the window
 *
 * first(t) and last(t) are t's first and last event of the window. A join is in C only if all of
 * its thread is (C is closed under precedence). So first(t) and last(t) of a thread that is joined
 * in C are nodes, and order is passed on through a thread that no other constraint names.
 */
#ifndef MR_ENCODER_FORK_JOIN_H
#define MR_ENCODER_FORK_JOIN_H

#include "encoding.h"

void mr_encode_fork_join(mr_encoding *encoding);

#endif
