/* left_out: compares the trace of a log with the trace of everything in it: what has no event (record/pieces.h)
 * must change no pair of places, by model or by order. What fails ends the test. */
#ifndef MR_TESTS_SUPPORT_LEFT_OUT_H
#define MR_TESTS_SUPPORT_LEFT_OUT_H

#include "log_build.h"
#include "order/detect/detect.h"
#include "record/pairs.h"

/* What finds the races: a model, or BY_ORDERS plus the mr_relation. */
enum mr_left_out_by { MR_BY_RF, MR_BY_VALUE, MR_BY_BRANCH, MR_BY_ORDERS };

typedef struct mr_left_out_counts {
    uint64_t races; /* pairs of places, of each comparison */
    uint64_t kept;  /* events */
    uint64_t left_out;
    uint64_t plain_left_out; /* reads and writes */
} mr_left_out_counts;

/* The pairs of places of races and of uses after free, by the model. */
void mr_left_out_predicted(const mr_trace *trace, enum mr_left_out_by model, mr_pairs *pairs);

/* Compares by the model, and by the orders whose bits, 1 << mr_relation, are set. Adds to `counts`. A
 * failure tells the seed. */
void mr_left_out_compare(const mr_log_build *log, enum mr_left_out_by model, uint32_t orders,
                         uint64_t seed, mr_left_out_counts *counts);

#endif
