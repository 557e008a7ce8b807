/* api: functions that the files of the public interface (maxrace.h) share: they turn errors of the
 * library into an mr_failure, and look up names. */
#ifndef MR_API_API_H
#define MR_API_API_H

#include "base/error.h"
#include "maxrace.h"
#include "trace/names.h"

struct mr_failure {
    mr_failure_kind kind;
    char message[1152];
};

/* Fills `failure` (may be NULL) with the result of a call. `error` is read only when `status` is
 * not MR_OK. Returns whether the status is MR_OK. */
bool mr_failure_set(mr_failure *failure, mr_status status, const mr_error *error);

/* Fills `failure` with the result `ok` of writing to a stream, where errno is from the writing and
 * `what` names it in the message. Returns `ok`. */
bool mr_api_written(bool ok, const char *what, mr_failure *failure);

/* The name with this number, as in the file and for people. */
static inline void mr_api_name(const mr_names *names, uint32_t number, const char **name,
                               const char **text)
{
    *name = names->items[number].text;
    *text = mr_names_display(names, number);
}

#endif
