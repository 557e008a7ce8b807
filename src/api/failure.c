#include "api.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of the public header never change; those of mr_status must be the same. */
#define SAME(public_name, status) _Static_assert((int)(public_name) == (int)(status), #public_name)
SAME(MR_FAILURE_NONE, MR_OK);
SAME(MR_FAILURE_USAGE, MR_ERR_USAGE);
SAME(MR_FAILURE_CONFIG, MR_ERR_CONFIG);
SAME(MR_FAILURE_TRACE, MR_ERR_TRACE);
SAME(MR_FAILURE_UNSUPPORTED, MR_ERR_UNSUPPORTED);
SAME(MR_FAILURE_IO, MR_ERR_IO);
SAME(MR_FAILURE_MEMORY, MR_ERR_MEMORY);
SAME(MR_FAILURE_INTERNAL, MR_ERR_INTERNAL);
SAME(MR_FAILURE_HALTED, MR_ERR_HALTED);

const char *mr_version(void)
{
    return MR_VERSION;
}

mr_failure *mr_failure_create(void)
{
    return mr_calloc(1, sizeof(mr_failure));
}

void mr_failure_destroy(mr_failure *failure)
{
    free(failure);
}

mr_failure_kind mr_failure_get_kind(const mr_failure *failure)
{
    return failure->kind;
}

const char *mr_failure_message(const mr_failure *failure)
{
    return failure->message;
}

bool mr_failure_set(mr_failure *failure, mr_status status, const mr_error *error)
{
    if (failure != NULL) {
        failure->kind = (mr_failure_kind)status;
        failure->message[0] = '\0';
        if (status != MR_OK)
            mr_error_line(error, failure->message, sizeof failure->message);
    }
    return status == MR_OK;
}

bool mr_api_written(bool ok, const char *what, mr_failure *failure)
{
    mr_error error = {0};
    mr_status status = MR_OK;
    if (!ok && errno == ENOMEM)
        status = mr_error_memory(&error, what);
    else if (!ok)
        status = mr_error_set(&error, MR_ERR_IO, NULL, 0, "%s: %s", what,
                              strerror(errno != 0 ? errno : EIO));
    return mr_failure_set(failure, status, &error);
}
