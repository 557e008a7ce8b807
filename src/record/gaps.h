/*
 * gaps: what lies between the other records of a log, so that a later pass need not read it. Most records
 * are those of a run (log_reader.h): plain accesses, and entries and ends of functions. Where a run
 * accesses no kept piece (visits.h), a pass needs of it only how many accesses it has, what it does
 * to the calls of its thread, and the code address where it ends. So the pass jumps over the run. Where
 * a later run needs the tables, the pass learns what the run tells of addresses and values, and no more.
 *
 *   first pass:    (mr_gaps_mark | (mr_gaps_enter | mr_gaps_leave)* mr_gaps_note)*
 *   later passes:  (mr_jumper_pass → another record | mr_jumper_settle → records)*
 *
 * A jump leaves the tables of the reader (log_short.h) as they were before. They are stale then: short
 * records and entries cannot be read. The first pass marks where a part begins, with the tables as they
 * are there. mr_jumper_settle takes those of the last mark and reads on from it to where the reader is.
 * So that this is done once between two marks, the pass then jumps no more up to the next one.
 *
 * Memory: 32 bytes a gap, 32 for each call that a gap leaves open, 300 KB a mark, of which there are at
 * most MR_GAPS_MARKS. Gaps and calls may take 8 MB, or an eighth of the log when that is more. When they would
 * take more, nothing is kept, and no pass jumps. Nor does one in the first 16 MB of a log, which have no mark.
 */
#ifndef MR_RECORD_GAPS_H
#define MR_RECORD_GAPS_H

#include "log_reader.h"
#include "visits.h"

enum { MR_GAPS_MARKS = 64, MR_GAPS_LEAST_PART = 1 << 18, MR_GAPS_LEAST_BYTES = 1 << 23 };

/* A run. Of the calls that are open where it begins, it ends the last `left`; then it makes others, and
 * those in `calls`, up to those of the next gap, are open where it ends. */
typedef struct mr_gap {
    uint64_t start;        /* unit */
    uint64_t code;         /* where the thread is at its end; 0: the calls say it */
    uint32_t units, count; /* `count`: of accesses */
    uint32_t calls;        /* number of the first one */
    uint32_t left;         /* all that there are, when it is UINT32_MAX */
} mr_gap;

/* A call: the payload of its record, as mr_log_expand_enter makes it, and what follows. */
typedef struct mr_gap_call {
    uint64_t caller, code, stack, frame;
} mr_gap_call;

typedef struct mr_gap_mark {
    uint64_t unit;
    mr_log_model *model; /* owned */
} mr_gap_mark;

/* Zero-initialise, then set `least_part`. */
typedef struct mr_gaps {
    uint64_t least_part; /* units; a shorter part is read */
    mr_gap *items;       /* owned */
    size_t count, capacity;
    mr_gap_call *calls; /* owned */
    size_t call_count, call_capacity;
    size_t entered; /* calls behind those, of the gap that is not complete */
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
/* How many calls the gap leaves open. */
static inline uint32_t mr_gaps_entered(const mr_gaps *gaps, const mr_gap *gap)
{
    bool is_last = gap + 1 == gaps->items + gaps->count;
    return (is_last ? (uint32_t)gaps->call_count : gap[1].calls) - gap->calls;
}

/* The gap that is noted next enters a function: the record is as mr_log_expand_enter makes it. False: no
 * memory. */
bool mr_gaps_enter(mr_gaps *gaps, mr_gap *gap, const uint64_t *record);
/* It leaves `count` functions. */
void mr_gaps_leave(mr_gaps *gaps, mr_gap *gap, uint64_t count);
/* The gap is complete. False: no memory. */
bool mr_gaps_note(mr_gaps *gaps, mr_gap gap);

/* Of one later pass. Zero-initialise, then set `gaps` and `visits`. */
typedef struct mr_jumper {
    const mr_gaps *gaps;
    const mr_visits *visits;
    size_t next;      /* gap */
    size_t ahead;     /* the next one with kept accesses, plus 1; 0: not looked for */
    uint64_t stop;    /* the mark from which on the tables are needed for it */
    uint64_t settled; /* up to here the pass jumps no more */
    bool stale;
} mr_jumper;

/* Goes over the gap that begins where the reader stands, when its accesses need not be looked at: none in
 * this part need be (`skips_part`), or none in the gap (visits.h). NULL: it stays where it is. */
const mr_gap *mr_jumper_pass(mr_jumper *jumper, mr_log_pass *reader, bool skips_part);

/* Before records are read: when the next one is one of a run, the tables become those of the place where
 * the reader is. */
void mr_jumper_settle(mr_jumper *jumper, mr_log_pass *reader);

#endif
