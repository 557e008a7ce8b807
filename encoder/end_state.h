/*
 * end_state: what a goal asks of the end of the reordering (goal.h), beside stops and events.
 *
 * Last write. Let W(x) be the writes of x in C, and S those of them with the value that is asked for.
 * There is one free boolean c(s) for each s in S, and c(carried) when no write will do, too:
 *
 *     c(carried)      or  OR over s in S of c(s)
 *     not c(s)        or  before(s, CUT)
 *     not c(s)        or  clean(s)
 *     not c(s)        or  before(CUT, w)  or  before(w, s)               w in W(x), not in S
 *     not c(s)        or  before(CUT, w)  or  before(w, s)  or clean(w)  w in S, w != s
 *     not c(carried)  or  before(CUT, w)                                 w in W(x), not in S
 *     not c(carried)  or  before(CUT, w)  or  clean(w)                   w in S
 *
 * As in reads.h, writes of the value need not be kept away when they are clean: the last write is s
 * or one of them. When the write itself is asked for, it is required, and
 *
 *     before(CUT, w)  or  before(w, s)                                   w in W(x), w != s
 *
 * Lives. For each object of the list
 *
 *     before(CUT, alloc)  or  before(free, CUT)
 *
 * and, when one must be freed, OR over the objects of before(free, CUT).
 */
#ifndef MR_ENCODER_END_STATE_H
#define MR_ENCODER_END_STATE_H

#include "encoding.h"

/* Also lazily: at once. Nothing when the goal is stops and events. O(|S| · |W(x)| + lives). */
void mr_encode_end_state(mr_encoding *encoding);

#endif
