/*
 * shorten: the witnesses that were left long (witness/late.h) are shortened, when all races are found.
 */
#ifndef MR_ENGINE_SHORTEN_H
#define MR_ENGINE_SHORTEN_H

#include "predict/result.h"
#include "predict/settings.h"

/* By as many threads as `jobs`. When the run is halted, the rest stays long. Counts shorter
 * witnesses that the checker refuses in stats.rejected_witnesses. MR_ERR_MEMORY. */
mr_status mr_shorten_races(mr_result *result, const mr_predict_settings *settings, unsigned jobs,
                           mr_error *error);

#endif
