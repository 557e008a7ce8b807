/*
 * fits: could an outcome that comes from a file be that of its unit? What is asked here can be told
 * by the plan of the phase alone: a record that is about something else, or says that it took more
 * work than it can have, would be counted in place of what the unit has found.
 *
 * The outcome has passed saved_check.h. What it says of pairs that are no races, or have no
 * verdict, can only be believed.
 */
#ifndef MR_PREDICT_FITS_H
#define MR_PREDICT_FITS_H

#include "outcome.h"

/* Of a window of the trace. */
bool mr_fits_window(const mr_outcome *outcome, uint32_t start, uint32_t end);

/* Of the search for sync-preserving races: are these pairs of conflicting accesses, in its order?
 * Whether they race is seen when they are confirmed (far.h). */
bool mr_fits_search(const mr_trace *trace, const mr_outcome *outcome);

/* What is asked about far races, of two locations. */
typedef struct mr_far_question {
    uint32_t key_1, key_2;
    bool one_pair;                    /* about these accesses, else about any of the locations: */
    uint32_t first, second;           /* events of the trace */
    bool asked;                       /* by formulas */
    uint64_t least_steps, most_steps; /* mr_record.steps: work of far races (window.far_work) */
    uint32_t window_end;              /* of a witness */
} mr_far_question;

/* Is the record about these locations and this pair? */
bool mr_far_question_is_of(const mr_far_question *question, const mr_record *record);
/* Could it be the answer? */
bool mr_fits_question(const mr_record *record, const mr_far_question *question);

#endif
