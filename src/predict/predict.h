/*
 * predict: the main job: windows → candidates → decision → witness → checker → result.
 */
#ifndef MR_PREDICT_PREDICT_H
#define MR_PREDICT_PREDICT_H

#include "base/progress.h"
#include "config/config.h"
#include "report/result.h"
#include "solver/decide.h"

/*
 * Predicts the races of `trace` within the windows that `config` asks for. `result` is
 * zero-initialised by the caller and freed with mr_result_free; it is meaningful also when an error
 * is returned: what was found before the failure is in it. MR_ERR_CONFIG as mr_config_check,
 * MR_ERR_UNSUPPORTED (a trace of 2^31 events or more, for far races), MR_ERR_MEMORY.
 */
mr_status mr_predict(const mr_trace *trace, const mr_config *config, mr_result *result,
                     mr_error *error);

/* The same, telling `progress` (may be NULL) about "windows" and then "far races". */
mr_status mr_predict_telling(const mr_trace *trace, const mr_config *config,
                             const mr_progress *progress, mr_result *result, mr_error *error);

/* The limits of one decision, as `config` has them under solver. */
mr_decide_options mr_predict_limits(const mr_config *config);

#endif
