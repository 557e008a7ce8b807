/*
 * prover: is a pair of accesses a race, and the witness that the checker accepted. Asks one pair on
 * one window after the other.
 *
 *   mr_prover_init → mr_prover_ask* → mr_prover_free
 *
 * Cheap when the windows come in the order of their starts: what is before a window is played once.
 */
#ifndef MR_SWEEP_PROVER_H
#define MR_SWEEP_PROVER_H

#include "config/config.h"
#include "order/syncp/syncp.h"
#include "order_result.h"
#include "solver/decide.h"
#include "witness/checker.h"

typedef struct mr_prover {
    const mr_trace *trace;
    mr_order_stats *stats; /* refused witnesses are counted */
    mr_decide_options decide;
    bool minimise;
    mr_arena arena;
    mr_carried carried;
    mr_barrier_edges opaque; /* of the whole trace */
    mr_session *session;
    mr_checker *checker;
    mr_syncp_index *syncp; /* while races of syncp are proven, owned by who does it; else NULL */
} mr_prover;

typedef struct mr_question {
    uint32_t first, second; /* events of the trace, first < second */
    uint32_t start, end;    /* the window: start <= first, second < end */
    mr_model model;
    bool trace_order; /* ask for a witness in trace order only; no-race is then unknown */
} mr_question;

/* MR_ERR_MEMORY; mr_prover_free is fine also then. */
mr_status mr_prover_init(mr_prover *prover, const mr_trace *trace, const mr_config *config,
                         mr_order_stats *stats, mr_error *error);
void mr_prover_free(mr_prover *prover);

/*
 * Answers: `known` gets a standing of race with its witness (owned by it) and `proof`, no-race, or
 * unknown. A witness that the checker refuses makes it unknown (rejected) and is counted; it is a
 * bug. MR_ERR_MEMORY; `known` is then as it was.
 */
mr_status mr_prover_ask(mr_prover *prover, const mr_question *question, mr_proof proof,
                        mr_order_race *known, mr_error *error);

/* Checks a witness that somebody else has found, and takes its events over. As mr_prover_ask. */
mr_status mr_prover_accept(mr_prover *prover, mr_witness *witness, mr_proof proof,
                           mr_order_race *known, mr_error *error);

/* A witness that a theorem promises was not found: the same as a refused one. */
void mr_prover_reject(mr_prover *prover, const mr_question *question, mr_order_race *known);

#endif
