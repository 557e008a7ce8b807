/*
 * pose: a question (goals/questions.h) as a goal of a window (encoder/goal.h), and a witness of it.
 *
 * The events before the window happen as observed, so the window may settle a part of a question: a
 * write before it, an object that is freed before it, an initial value.
 */
#ifndef MR_FINDINGS_POSE_H
#define MR_FINDINGS_POSE_H

#include "goals/questions.h"
#include "solver/decide.h"

/* The trace of the windows: the full one, or a reduced one with the events of all questions. */
typedef struct mr_asked_trace {
    const mr_trace *trace;
    const mr_trace *full;
    const uint32_t *events; /* by event: that of the full trace; NULL: the trace is the full one */
    const uint32_t *listed; /* by place in questions->events: the event in the trace */
    const mr_questions *questions;
} mr_asked_trace;

/* The event of a full trace's event, which the trace has. O(log). */
uint32_t mr_asked_event(const mr_asked_trace *asked, uint32_t event);

typedef enum mr_posed {
    MR_POSED,
    MR_POSED_IMPOSSIBLE, /* no reordering of the window ends in the goal */
    MR_POSED_NO_MEMORY,
} mr_posed;

/* Fills the goal, in memory of `arena`; the lists may point into `asked`. O(events of the lists in the
 * window, unless it begins with the trace, + writes of the variable in the window + objects · log). */
mr_posed mr_pose(const mr_asked_trace *asked, const mr_question *question, const mr_window *window,
                 mr_goal *goal, mr_arena *arena);

/* Can one of the question's objects be freed at the end of a reordering of [start, end), and none live
 * on? True of a question without objects. Where it is false, mr_pose says MR_POSED_IMPOSSIBLE.
 * O(objects · log). */
bool mr_pose_lives_fit(const mr_asked_trace *asked, const mr_question *question, uint32_t start,
                       uint32_t end);

/* The witness of a decision MR_VERDICT_RACE about the goal, in events of the asked trace; owned by the
 * caller. False: no memory. O(events + objects). */
bool mr_pose_witness(const mr_asked_trace *asked, const mr_question *question,
                     const mr_window *window, const mr_decision *decision, mr_witness *witness);

/* The closest events of the question, one of each list, with the required one: first <= last. */
void mr_question_span(const mr_asked_trace *asked, const mr_question *question, uint32_t *first,
                      uint32_t *last);

#endif
