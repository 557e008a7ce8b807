/*
 * spill: growing arrays that move to files when together they are too large for memory.
 *
 * Half of the memory of the process is theirs. While they fit, they are memory like any other. From
 * the first growth on that does not fit, each array of a mebibyte or more that grows becomes a file
 * without a name, mapped where the array is. Who uses it sees no difference; the system reads and
 * writes pages as they are needed, and a thread (pager.h) keeps the mapped part small. An .mrt file
 * itself cannot serve: its columns come in blocks, of which not all are whole pages, and an array must be in one piece.
 *
 *   mr_spill_limit → mr_spill_reserve* → mr_spill_fit* → (use) → mr_spill_free
 *
 * The space in the file is taken (posix_fallocate) before it is mapped: a disk that is full is an
 * error at that place, never a signal later. The files go away with the process, however it ends. A
 * folder that is itself in memory (tmpfs) is refused: there would be nothing gained. A disk
 * that fails later, when pages are read or written, ends the process with SIGBUS.
 */
#ifndef MR_TRACE_SPILL_H
#define MR_TRACE_SPILL_H

#include "base/error.h"

#include <stdbool.h>

struct mr_pager;

enum { MR_SPILL_ARRAYS = 11 };

typedef struct mr_spill_array {
    void *at;
    size_t count, element_bytes; /* of elements, how many there is room for */
    bool is_mapped;
    int file; /* of a mapped array that may grow, or -1 */
} mr_spill_array;

/* Zero-initialised: no limit, no arrays. Owns all of it. */
typedef struct mr_spill {
    uint64_t limit_bytes; /* of the process; 0: none */
    char *dir;
    mr_spill_array arrays[MR_SPILL_ARRAYS];
    struct mr_pager *pager; /* NULL: nothing was moved out so far */
} mr_spill;

/* Before anything is reserved. `dir` is for the files; NULL or "": TMPDIR, or /var/tmp. False: no
 * memory. */
bool mr_spill_limit(mr_spill *spill, uint64_t limit_bytes, const char *dir);

/*
 * Makes room for `need` elements in array `slot`; what is in it stays, the rest is not initialised.
 * The room at least doubles in memory and grows by an eighth in a file, so that growth is O(1)
 * amortised; an array that was empty gets what is needed. The array, and no other one, may have
 * moved afterwards: use arrays[slot].at. MR_ERR_MEMORY, or MR_ERR_IO with the folder and what to
 * do; what was in the array is still there then, unless the disk failed.
 */
mr_status mr_spill_reserve(mr_spill *spill, size_t slot, size_t need, size_t element_bytes,
                           mr_error *error);

/* An array of `count` zeros in place of an empty one, which takes memory only where it is written. It neither grows nor
 * goes into a file. False: no memory. */
bool mr_spill_sparse(mr_spill *spill, size_t slot, size_t count, size_t element_bytes);
/* The same for one that will be filled, on large pages. */
bool mr_spill_dense(mr_spill *spill, size_t slot, size_t count, size_t element_bytes);

/* Says how many bytes the arrays will have together, at least: when they will not fit, none goes
 * into memory first. MR_ERR_MEMORY. */
mr_status mr_spill_expect(mr_spill *spill, uint64_t bytes, mr_error *error);

/* Gives back what is behind the first `count` elements; the array does not grow any more. When
 * others are in files, this one goes there, too: what it takes is of more use to the analysis.
 * MR_ERR_MEMORY, MR_ERR_IO. */
mr_status mr_spill_fit(mr_spill *spill, size_t slot, size_t count, mr_error *error);

/* For those who go through the arrays: after each mebibyte or so, see pager.h. About 10 µs when
 * something is mapped. */
void mr_spill_look(const mr_spill *spill);

void mr_spill_free(mr_spill *spill);

#endif
