/*
 * writes: the writes of the variables that questions (goals/questions.h) are about, so that a window in
 * which no read can see what the question asks for is known before it is built.
 */
#ifndef MR_FINDINGS_WRITES_H
#define MR_FINDINGS_WRITES_H

#include "pose.h"

/* Zero-initialise. Both arrays are owned; NULL: no question is about a variable. */
typedef struct mr_asked_writes {
    uint32_t *first;  /* by variable: its writes are events[first[v] … first[v + 1]), ascending */
    uint32_t *events; /* of the asked trace */
} mr_asked_writes;

/* False: no memory. Two passes over the asked trace when a question is about a variable. */
bool mr_asked_writes_find(mr_asked_writes *writes, const mr_asked_trace *asked);
void mr_asked_writes_free(mr_asked_writes *writes);

/* Collects the writes that the question asks for into `fitting`, ascending; of a question without a
 * variable none. False: no memory. O(writes of the variable). */
bool mr_asked_writes_fit(const mr_asked_writes *writes, const mr_asked_trace *asked,
                         const mr_question *question, mr_u32s *fitting);

/* Can a read see in the window [start, end) what the question asks for: a fitting write of the window,
 * or what the variable has when the window starts? True of a question without a variable. Where it is
 * false, mr_pose says MR_POSED_IMPOSSIBLE. O(log). */
bool mr_asked_writes_may_be_in(const mr_asked_writes *writes, const mr_question *question,
                               const mr_u32s *fitting, uint32_t start, uint32_t end);

#endif
