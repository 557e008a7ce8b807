/* api: what the files of the public interface (maxrace.h) share: from the library's own errors to
 * mr_failure. */
#ifndef MR_API_API_H
#define MR_API_API_H

#include "base/error.h"
#include "maxrace.h"

struct mr_failure {
    mr_failure_kind kind;
    char message[1152];
};

/* Says in `failure` (may be NULL) how a call ended; `error` is read only when `status` is none of
 * success. Returns whether it was success. */
bool mr_failure_set(mr_failure *failure, mr_status status, const mr_error *error);

#endif
