/*
 * checker: is a witness right? The judge of every race and every other finding that is reported.
 *
 * It replays the witness on the trace as read and tests rules 1 to 6 of docs/semantics.md 2 and the
 * definition of a race (docs/semantics.md 3) or of the goal (section 7) directly, for every operation
 * and all three models. It
 * uses only the raw columns of the trace (op, thread, operand, value, with their values, updates
 * and reach sets): not `link`, not `variable_info`, and no code of opaque/barrier_pairs.c, windows,
 * encoder or solver. So a mistake there cannot hide here.
 *
 * Of a memory-order race it finds what the first access happens before by marks (after.h), with no
 * code of src/order.
 *
 *   mr_checker_new → mr_checker_check* → mr_checker_free
 *
 * The first call and each call with a smaller window_start than the one before replay the trace
 * from its start, O(events); otherwise a check costs O(listed events + events since the last
 * start). Opaque calls add the cost that barrier_check.h states. Memory: 8 bytes an event, 12 in
 * traces with opaque calls, once for all checkers made by mr_checker_like.
 */
#ifndef MR_WITNESS_CHECKER_H
#define MR_WITNESS_CHECKER_H

#include "base/model.h"
#include "witness.h"

typedef struct mr_checker mr_checker;

/* `opaque` says which calls keep their order (rule 5). NULL: no memory. The trace must outlive the
 * checker. O(events). */
mr_checker *mr_checker_new(const mr_trace *trace, mr_opaque opaque);
/* One for races in model rf alone, in a trace without calls. It takes 8 bytes an event of a window instead of the trace, and
 * a check also costs O(events of its window). */
mr_checker *mr_checker_new_by_window(const mr_trace *trace);
/* Another one of mr_checker_new in O(names), for another thread, with what `other` has derived from the trace;
 * `other` must outlive it. NULL: no memory. */
mr_checker *mr_checker_like(const mr_checker *other);
void mr_checker_free(mr_checker *checker);

/*
 * MR_OK when the witness is accepted, MR_ERR_MEMORY, or MR_ERR_INTERNAL with the first rule that it
 * breaks, naming the event: "event 12 (T1|r(x=3), line 13): reads 4, saw 3". Bad numbers (out of
 * range, twice, outside the window) are rejected in the same way. `error->line` is the line of the
 * offending event in the trace when there is one.
 */
mr_status mr_checker_check(mr_checker *checker, const mr_witness *witness, mr_error *error);

#endif
