/*
 * mrt_check: is what an .mrt file says a trace? Right checksums only say that a file is as it was
 * written. Every number is compared with its bound, the sequence of events goes through validity.h,
 * and the outlook that came with the file must not be contradicted: whoever relies on it would
 * otherwise lose races.
 *
 *   mr_mrt_check_init → (mr_mrt_check_events)* → mr_mrt_check_end → mr_mrt_check_free
 *
 * A plain access costs a few comparisons: of its numbers, of one byte of its thread (has it begun,
 * and not ended?) and, with an outlook, of one number of its variable (who else accessed it?). So does an acquire of a lock that
 * nobody has, and a release.
 * What atomic operations contradict, only the end of the trace shows. Memory O(threads + variables
 * + locks + uses).
 */
#ifndef MR_FORMATS_MRT_CHECK_H
#define MR_FORMATS_MRT_CHECK_H

#include "trace/outlook.h"
#include "trace/validity.h"

typedef struct mr_mrt_check {
    mr_validity validity;
    const mr_trace *dictionary; /* borrowed: names and lines so far, op_counts */
    size_t line;                /* number of the line step in force */
    uint8_t *open;              /* by thread: may it do a plain access now? */
    size_t thread_capacity;
    uint32_t operand_bounds[MR_OP_COUNT];

    const mr_outlook *outlook; /* borrowed; NULL: there is none */
    uint16_t *users;           /* by variable, see mrt_check.c */
    uint16_t *atomic_users;    /* likewise, of atomic operations; NULL: there was none */
    uint32_t *lock_user; /* by lock: its user + 1; of several: the last use in the outlook, + 1 */
    uint32_t *lock_uses; /* by lock: number of its first use in the outlook; one more at the end */
    uint32_t *sections;  /* by use: how many are still to come */
    uint32_t *freer;     /* by object: the thread that frees it + 1 */
    size_t freer_capacity;
} mr_mrt_check;

/* `outlook` may be NULL; its numbers must be consistent (mrt_index.h). False: no memory; free in
 * either case. */
bool mr_mrt_check_init(mr_mrt_check *check, const mr_trace *dictionary, const mr_outlook *outlook);
void mr_mrt_check_free(mr_mrt_check *check);

/*
 * How many of the events, from the first on, are right; `op_counts` of them are added up in
 * `op_counts`. When there are fewer than events->count, `error` says what is wrong with the next
 * one (MR_ERR_TRACE, a text without place; MR_ERR_MEMORY), and the check is over.
 */
uint32_t mr_mrt_check_events(mr_mrt_check *check, const mr_events *events, uint64_t *op_counts,
                             mr_error *error);

/* After the last event: has everything that the outlook promised been there? */
bool mr_mrt_check_end(const mr_mrt_check *check);

#endif
