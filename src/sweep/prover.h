/*
 * prover: answers questions about single pairs: is the pair a race in a window? A race comes with a
 * witness that the checker accepted.
 *
 *   mr_prover_init → mr_prover_ask* → mr_prover_free
 *
 * When the windows come in the order of their starts, the events before a window are replayed only
 * once. What the answers do not need is not made: the checker looks no farther than the questions
 * reach (`reach`), and the state before windows is there when the decision procedure is asked.
 */
#ifndef MR_SWEEP_PROVER_H
#define MR_SWEEP_PROVER_H

#include "between.h"
#include "config/config.h"
#include "order/syncp/syncp.h"
#include "order_result.h"
#include "solver/decide.h"
#include "witness/checker.h"

typedef struct mr_prover {
    const mr_trace *trace;
    mr_order_stats *stats; /* rejected witnesses are counted here */
    mr_decide_options decide;
    bool minimise;
    mr_arena arena;
    mr_barrier_edges opaque; /* of the whole trace */
    mr_between between;
    mr_carried carried;
    mr_session *session;   /* NULL: neither this nor `carried` was needed so far */
    uint64_t reach;        /* the caller may set it: no question ends after this event; … */
    bool few;              /* … and their windows have fewer events together */
    mr_trace seen;         /* the first events of the trace: what the checker sees; on loan */
    mr_checker *checker;   /* NULL: none was needed so far */
    bool by_window;        /* it is one by windows */
    mr_opaque calls;       /* the mode for the checker */
    mr_syncp_index *syncp; /* while races of syncp are proven: on loan from prove.c; else NULL */
} mr_prover;

typedef struct mr_question {
    uint32_t first, second; /* events of the trace, first < second */
    uint32_t start, end;    /* the window: start <= first, second < end */
    mr_model model;
    bool trace_order; /* look for a witness in trace order only */
} mr_question;

/* MR_ERR_MEMORY. The caller calls mr_prover_free in every case. */
mr_status mr_prover_init(mr_prover *prover, const mr_trace *trace, const mr_config *config,
                         mr_order_stats *stats, const mr_halt *halt, mr_error *error);
void mr_prover_free(mr_prover *prover);

/*
 * Sets the standing of `known`: race, with the witness (which `known` then owns) and `proof`;
 * no-race; or unknown. When the checker rejects a witness, the standing is unknown (rejected), and
 * the witness is counted; that is a bug of maxrace. MR_ERR_MEMORY; `known` then does not change.
 */
mr_status mr_prover_ask(mr_prover *prover, const mr_question *question, mr_proof proof,
                        mr_order_race *known, mr_error *error);

/* The same for a question in trace order whose window begins with the first access and ends with the
 * second one: without a window, where that can be (between.h). */
mr_status mr_prover_ask_between(mr_prover *prover, const mr_question *question, mr_proof proof,
                                mr_order_race *known, mr_error *error);

/* A witness of the question with these events of the trace, which it takes over. */
mr_witness mr_question_witness(const mr_question *question, uint32_t *events, size_t count);

/* Asks the checker about a witness that the caller has made, and takes its events over. The result
 * is as for mr_prover_ask. */
mr_status mr_prover_accept(mr_prover *prover, mr_witness *witness, mr_proof proof,
                           mr_order_race *known, mr_error *error);

/* A witness that a theorem promises was not found. The result is as for a rejected one. */
void mr_prover_reject(mr_prover *prover, const mr_question *question, mr_order_race *known);

#endif
