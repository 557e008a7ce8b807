/*
 * twins: pieces (pieces.h) whose accesses say no more than those of a piece before them in memory.
 * Programs hand over buffers: one thread fills one, others read it from one end to the other. Each
 * byte is a variable then, and all of them tell the same.
 *
 * A run is a row of plain accesses of one thread, all reads or all writes, each of the piece behind
 * the one before. The thread has no other event in between. Neighbouring pieces are twins when
 *
 *   - each has one write, and its reads come after it in the trace;
 *   - the same runs access them, in the same order.
 *
 * The signature of a piece is the row of places that access it. Of a row of twins the first of each
 * signature is kept, and the others are left out.
 *
 * This changes no verdict about places. Let S be a row of twins. Each run goes through S in the
 * order of addresses, and has no event in between that is not of S.
 *
 * - Nothing is lost. Let rho be a reordering of all events, after which a and b, accesses of a twin
 *   y, are next (or one is, and the free of its object). Let x be the kept twin of its signature; it
 *   lies before y. Take out of rho what the two threads and all others do in S from x on. Those are
 *   last events: a thread that reads y needs the write of y, which is not in rho or is taken out, so
 *   it does not leave the run before. After the rest of rho the accesses of x in the same runs are
 *   next, at the same places.
 * - Nothing is added. Let rho be a reordering of the kept events. Put each access of a twin behind
 *   the access of the kept piece before it in the same run. Then each read of y sees the write of y,
 *   as the read of the kept piece before it sees that write, and no free comes between.
 *
 * A read that comes before the write, a second write, an atomic access, a read of what may be a
 * pointer (pointers.h), an access of a dead block and the use of a lock keep their piece. So does a piece of a life that is released in parts. With
 * BarrierPairs and with benign races there are no twins.
 *
 * Cost: a pass over the log that looks at kept accesses only; 144 bytes for each kept piece. The pass
 * also finds what is settled (settled.h), and what is simple (beginning.h).
 */
#ifndef MR_RECORD_TWINS_H
#define MR_RECORD_TWINS_H

#include "scan.h"

/* After the scan: leaves the twins out. Nothing is done where few pieces are
 * kept. MR_ERR_MEMORY. */
mr_status mr_twins_leave_out(mr_scan *scan, const mr_log *log, const struct mr_progress *progress,
                             mr_error *error);

#endif
