/*
 * gaps: what lies between the long records of a log, so that a later pass need not read it. Between two
 * long records stand short ones of plain accesses (log_reader.h). Where a part of the log accesses no
 * kept piece (pieces.h), a pass needs of them only how many they are and the code of the last one. So it
 * jumps from one long record to the next.
 *
 *   first pass:    (mr_gaps_mark | mr_gaps_note)*
 *   later passes:  (mr_jumper_jump → the long record | mr_jumper_settle → short and long records)*
 *
 * A jump leaves the tables of the reader (log_short.h) as they were before. They are stale then: short
 * records cannot be read. The first pass marks where a part begins, with the tables as they are there.
 * mr_jumper_settle takes those of the last mark and reads on from it to where the reader is.
 *
 * Memory: 24 bytes a gap, 300 KB a mark, of which there are at most MR_GAPS_MARKS. When gaps are so
 * short that they would take more than an eighth of the log, nothing is kept, and no pass jumps. Nor does
 * one in the first 16 MB of a log, which have no mark.
 */
#ifndef MR_RECORD_GAPS_H
#define MR_RECORD_GAPS_H

#include "log_reader.h"

enum { MR_GAPS_MARKS = 64, MR_GAPS_LEAST_PART = 1 << 18, MR_GAPS_LEAST_BYTES = 1 << 18 };

/* Short records that follow each other. */
typedef struct mr_gap {
    uint64_t start; /* unit */
    uint64_t code;  /* of the last access */
    uint32_t units, count;
} mr_gap;

typedef struct mr_gap_mark {
    uint64_t unit;
    mr_log_model *model; /* owned */
} mr_gap_mark;

/* Zero-initialise, then set `least_part`. */
typedef struct mr_gaps {
    uint64_t least_part; /* units; a shorter part is read */
    mr_gap *items;       /* owned */
    size_t count, capacity;
    mr_gap_mark marks[MR_GAPS_MARKS];
    uint32_t mark_count;
    bool given_up;
} mr_gaps;

void mr_gaps_free(mr_gaps *gaps);

/* The pass is where a part of `part_units` begins. False: no memory. */
bool mr_gaps_mark(mr_gaps *gaps, const mr_log_pass *pass, uint64_t part_units);
/* Does anybody want to know of gaps? */
static inline bool mr_gaps_wanted(const mr_gaps *gaps)
{
    return gaps->mark_count > 0;
}
/* A gap begins at the unit. False: no memory. */
bool mr_gaps_note(mr_gaps *gaps, mr_gap gap);

/* Of one later pass. Zero-initialise, then set `gaps`. */
typedef struct mr_jumper {
    const mr_gaps *gaps;
    size_t next;      /* gap */
    uint64_t settled; /* up to here the pass jumps no more */
    bool stale;
} mr_jumper;

/* The reader stands in a part without kept pieces. Jumps over the gap that begins there; NULL: none
 * does, or the pass should read this part. */
const mr_gap *mr_jumper_jump(mr_jumper *jumper, mr_log_pass *reader);

/* Before records are read up to `part_end`: when the next one is short, the tables become those of the
 * place where the reader is. */
void mr_jumper_settle(mr_jumper *jumper, mr_log_pass *reader, uint64_t part_end);

#endif
