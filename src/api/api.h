/* api: what the files of the public interface (maxrace.h) share: from the library's own errors to
 * mr_failure, and names. */
#ifndef MR_API_API_H
#define MR_API_API_H

#include "base/error.h"
#include "maxrace.h"
#include "trace/names.h"

struct mr_failure {
    mr_failure_kind kind;
    char message[1152];
};

/* Says in `failure` (may be NULL) how a call ended; `error` is read only when `status` is none of
 * success. Returns whether it was success. */
bool mr_failure_set(mr_failure *failure, mr_status status, const mr_error *error);

/* What became of writing `what` to a stream, with errno from there, in `failure`; returns `ok`. */
bool mr_api_written(bool ok, const char *what, mr_failure *failure);

/* The name with this number, as in the file and for people. */
static inline void mr_api_name(const mr_names *names, uint32_t number, const char **name,
                               const char **text)
{
    *name = names->items[number].text;
    *text = mr_names_display(names, number);
}

#endif
