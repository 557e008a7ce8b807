/*
 * early: finds the close races of a crowded trace (predict/crowded.h) before the windows.
 *
 * What is found depends on the trace and the settings alone, and takes little time. So each rank
 * and each shard finds it by itself, and a checkpoint does not have it.
 */
#ifndef MR_ENGINE_EARLY_H
#define MR_ENGINE_EARLY_H

#include "far/far.h"

/* Adds the races to the result, and to merge->known as before all windows; a shard has no result.
 * When the trace is not crowded, nothing is done. `*walked`: walks with leads have gone through the trace. MR_ERR_MEMORY. */
mr_status mr_early_find(const mr_far_context *context, bool *walked, mr_error *error);

#endif
