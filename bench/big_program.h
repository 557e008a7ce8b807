/*
 * big_program: the made-up program that big_trace runs: methods, which are short lists of accesses,
 * each at a location of its own and to a field of its own. The text of an access is made here once,
 * so that a line of the trace is a handful of short copies.
 *
 * An access works on a container: an object (fields of one number), an array, a configuration
 * table, what a lock guards, or a counter that no lock guards. Its line is
 *
 *   thread | head container index tail     T3| r(V63. 330    =1954)|1696
 *                                          T3| r(V    551[ 12]=1954)|1696
 *
 * The same seed gives the same program.
 */
#ifndef MR_BENCH_BIG_PROGRAM_H
#define MR_BENCH_BIG_PROGRAM_H

#include "tests/support/random.h"

enum {
    MR_BIG_CLASSES = 24,        /* of objects; each with methods of its own */
    MR_BIG_FIELDS = 8,          /* fields of an object, variables of a lock */
    MR_BIG_METHODS = 16,        /* of a class, and of each other kind of container */
    MR_BIG_ACCESSES = 10,       /* of a method, at most */
    MR_BIG_ARRAY_CELLS = 96,    /* of an array */
    MR_BIG_TABLE_CELLS = 256,   /* of a configuration table, at most */
    MR_BIG_GUARD_KINDS = 16,    /* locks with the same remainder guard the same kind of data */
    MR_BIG_GUARD_METHODS = 4,   /* of a kind of guarded data */
    MR_BIG_COUNTERS = 8,        /* without a lock */
    MR_BIG_COUNTER_METHODS = 2, /* of a counter */
    MR_BIG_TABLES = 4,
    MR_BIG_SLOTS = 3,        /* containers that a method works on, at most */
    MR_BIG_VALUES = 1024,    /* different ones … */
    MR_BIG_VALUE_STEP = 977, /* … that are multiples of this, so that they have a few digits */
    MR_BIG_FIRST_LOCATION = 1000,
    MR_BIG_PIECE_BYTES = 16,
};

/* A piece of a line; all bytes may be copied, `length` of them count. */
typedef struct mr_big_piece {
    char bytes[MR_BIG_PIECE_BYTES];
    uint32_t length;
} mr_big_piece;

typedef struct mr_big_access {
    mr_big_piece head, tail; /* "r(V63." or "w(V"; ")|1696\n" */
    uint16_t slot;           /* which container */
    uint16_t cell;           /* field, or distance from the loop's index */
    uint16_t step;           /* a write adds it to the value; 0: writes the same again */
    bool write;
} mr_big_access;

typedef struct mr_big_method {
    mr_big_access accesses[MR_BIG_ACCESSES];
    uint32_t count;
    mr_big_piece sync_tail; /* ")|1696\n" of the acquire and release around it */
} mr_big_method;

typedef struct mr_big_program {
    mr_big_method object[MR_BIG_CLASSES][MR_BIG_METHODS];
    mr_big_method array[MR_BIG_METHODS]; /* on three arrays of the thread */
    mr_big_method table[MR_BIG_METHODS]; /* reads */
    mr_big_method table_setup;           /* one write */
    mr_big_method guarded[MR_BIG_GUARD_KINDS][MR_BIG_GUARD_METHODS];
    mr_big_method queue; /* reads and writes field 0: takes and leaves an object */
    mr_big_method counter[MR_BIG_COUNTERS][MR_BIG_COUNTER_METHODS];
    mr_big_piece values[MR_BIG_VALUES];       /* "=1954"; empty when the trace has no values */
    mr_big_piece indexes[MR_BIG_TABLE_CELLS]; /* "12]" */
    mr_big_piece plain_tail;                  /* ")|1\n", of forks, joins … */
    uint32_t location_count;                  /* from MR_BIG_FIRST_LOCATION on */
} mr_big_program;

void mr_big_program_make(mr_big_program *program, uint64_t seed, bool values);

/* The piece `before`, the number, `after`; all short enough. */
mr_big_piece mr_big_piece_make(const char *before, uint64_t number, const char *after);

#endif
