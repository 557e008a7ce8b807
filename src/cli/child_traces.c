#include "child_traces.h"

#include "cli.h"
#include "record/child_logs.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

typedef struct visitor {
    mr_child_visit *visit;
    void *context;
} visitor;

static mr_status visit_below(const visitor *self, const char *log, const char *number,
                             mr_error *error)
{
    char child_log[MR_CHILD_LOG_BYTES], child_number[MR_CHILD_LOG_BYTES];
    mr_status first = MR_OK;
    for (uint32_t i = 1, count = mr_child_log_count(log); i <= count; i++) {
        mr_error other = {0};
        if (!mr_child_log(log, i, child_log))
            continue;
        snprintf(child_number, sizeof child_number, "%s%s%" PRIu32, number, *number ? "." : "", i);
        mr_status status = self->visit(self->context, child_log, child_number, &other);
        if (!status)
            status = visit_below(self, child_log, child_number, &other);
        if (!status)
            mr_child_log_remove(child_log);
        if (status && first)
            mr_cli_complain(&other);
        if (status && !first)
            *error = other;
        first = first ? first : status;
    }
    return first;
}

mr_status mr_child_traces_visit(const char *log, mr_child_visit *visit, void *context,
                                mr_error *error)
{
    const visitor self = {visit, context};
    return visit_below(&self, log, "", error);
}
