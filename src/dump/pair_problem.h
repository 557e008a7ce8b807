/*
 * pair_problem: one pair of accesses in a window of its own, ready for questions.
 *
 *   mr_pair_problem_init → mr_pair_problem_ask* → mr_pair_problem_free
 */
#ifndef MR_DUMP_PAIR_PROBLEM_H
#define MR_DUMP_PAIR_PROBLEM_H

#include "config/config.h"
#include "opaque/barrier_pairs.h"
#include "solver/decide.h"

typedef struct mr_pair_problem {
    const mr_trace *trace;
    uint32_t first, second; /* events of the trace, first < second */
    uint32_t start, end;    /* the window */
    bool planned;           /* it is a window of the plan */
    mr_barrier_edges edges;
    mr_carried carried;
    mr_arena arena;
    mr_session *session;
    mr_problem problem; /* in the arena */
} mr_pair_problem;

/*
 * Builds the window with the model of `config` around two events, first < second. It is the whole
 * trace when that has at most `whole_events`. Else it is the first window of the plan that has both
 * events; where there is none, it reaches from the first event of the window of the earlier access
 * to the later access. `self` is to be freed also after an error. MR_ERR_MEMORY.
 */
mr_status mr_pair_problem_init(mr_pair_problem *self, const mr_trace *trace,
                               const mr_config *config, uint32_t first, uint32_t second,
                               uint32_t whole_events, mr_error *error);
void mr_pair_problem_free(mr_pair_problem *self);

/* Decides the pair with these steps (MR_STEP_BIT). `decision` lies in the arena until the next
 * question. MR_ERR_MEMORY. */
mr_status mr_pair_problem_ask(mr_pair_problem *self, const mr_config *config, unsigned steps,
                              mr_decision *decision, mr_error *error);

#endif
