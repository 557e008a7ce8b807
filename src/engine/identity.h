/*
 * identity: the identity of a run (checkpoint/identity.h), from its trace and its settings.
 *
 * The digest of a trace is one of its columns and names, not of its file. Settings that only say
 * how a run goes (mr_config_is_run_only), how a result is reported, or what another command does
 * are not part of the identity.
 */
#ifndef MR_ENGINE_IDENTITY_H
#define MR_ENGINE_IDENTITY_H

#include "checkpoint/checkpoint.h"
#include "config/config.h"
#include "trace/trace.h"

/* To be freed with mr_identity_free. One pass over the columns of the trace, at the speed of
 * memory. MR_ERR_MEMORY. */
mr_status mr_identity_of(mr_identity *identity, const mr_trace *trace, const mr_config *config,
                         mr_error *error);

/* mr_checkpoint_open with the identity of the trace and the settings. */
mr_status mr_predict_open_checkpoint(const mr_checkpoint_request *request, const mr_trace *trace,
                                     const mr_config *config, mr_checkpoint **checkpoint,
                                     mr_error *error);

/* Sets the settings of `config` that decide the outcomes as they were for those in the file `path`.
 * Errors as of mr_checkpoint_identity; MR_ERR_CONFIG also for a file of another version. */
mr_status mr_predict_settings_of_checkpoint(const char *path, mr_config *config, mr_error *error);

#endif
