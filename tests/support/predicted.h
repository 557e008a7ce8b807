/*
 * predicted: a prediction in a test: its settings, its result with what must hold of every result,
 * and its report. What fails ends the test.
 */
#ifndef MR_TESTS_SUPPORT_PREDICTED_H
#define MR_TESTS_SUPPORT_PREDICTED_H

#include "engine/predict.h"

void mr_settings_set(mr_config *config, const char *key, const char *value);
/* The defaults but for these keys and values in turn, ended by NULL; owned by the caller. */
mr_config *mr_settings_of(const char *const *settings);

/* A prediction without an error; mr_result_free. */
mr_result mr_predicted(const mr_trace *trace, const mr_config *config);
/* Every race is one, by the checker, and they stand in their order. */
void mr_predicted_check(const mr_trace *trace, const mr_result *result);
/* Both; no witness may have been refused. */
mr_result mr_predicted_right(const mr_trace *trace, const char *const *settings);

/* The report as JSON; owned by the caller. */
char *mr_predicted_report(const mr_trace *trace, const mr_config *config, const mr_result *result);

#endif
