/*
 * model_log: learns a run of a program from its log (runtime/log.h), recorded with MAXRACE_EXPLORE
 * (runtime/explore.h), into a model (model.h).
 *
 * A record that is no operation of the model (memory is allocated, a thread begins) counts to the next
 * operation of its thread. What decides and is not in the log is named: signals, clocks, descriptors
 * that several threads use, and the like. Reads of a file or of standard input by one thread are a
 * function of its history and of the input, so they are none of these.
 */
#ifndef MR_HUNT_MODEL_LOG_H
#define MR_HUNT_MODEL_LOG_H

#include "model.h"

typedef enum mr_model_log_end {
    MR_MODEL_LOG_EXITED,
    MR_MODEL_LOG_DIED, /* the process ended in the middle of a thread: signal, abort, _exit */
    MR_MODEL_LOG_DEADLOCK,
    MR_MODEL_LOG_CUT, /* it was killed, or the log has a limit: nobody did it */
} mr_model_log_end;

/* `died`: a signal ended the process, and it was not ours. Learns into `run`, which is fresh;
 * `run->problem` says what did not fit. `unseen` has room for 160 characters. MR_ERR_MEMORY, and as
 * mr_log_open. */
mr_status mr_model_log_learn(const char *path, bool died, mr_pmodel *model, mr_pmodel_run *run,
                             mr_model_log_end *end, char *unseen, mr_error *error);

#endif
