#include "halt.h"

const char *mr_halt_reason_name(mr_halt_reason reason)
{
    switch (reason) {
    case MR_HALT_SIGNAL:
        return "signal";
    case MR_HALT_TIME:
        return "time_limit";
    case MR_HALT_MEMORY:
        return "memory.limit_mb";
    case MR_HALT_NONE:
        break;
    }
    return "failure";
}

mr_status mr_halt_fail(const mr_halt *halt, const char *place, const char *what, mr_error *error)
{
    mr_halt_reason reason = mr_halt_asked(halt);
    if (reason == MR_HALT_MEMORY)
        return mr_error_set(error, MR_ERR_MEMORY, place, 0,
                            "memory.limit_mb is used up while %s; raise it, or take a machine with "
                            "more memory",
                            what);
    return mr_error_set(error, MR_ERR_HALTED, place, 0, "%s ended the run while %s",
                        reason == MR_HALT_TIME ? "time_limit" : "a signal", what);
}
