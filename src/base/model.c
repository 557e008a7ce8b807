#include "model.h"

const char *mr_model_name(mr_model model)
{
    static const char *const names[] = {"rf", "value", "branch"};
    return names[model];
}

const char *mr_strength_name(mr_strength strength)
{
    static const char *const names[] = {"hb", "wcp", "beyond-wcp", "c17"};
    return names[strength];
}

const char *mr_step_name(mr_step step)
{
    static const char *const names[MR_STEP_COUNT] = {"filter", "cone",     "linearise", "eliminate",
                                                     "greedy", "saturate", "explore",   "lazy",
                                                     "z3",     "far"};
    return names[step];
}

const char *mr_unknown_reason_name(mr_unknown_reason reason)
{
    static const char *const names[MR_UNKNOWN_COUNT] = {"time",   "memory", "size",    "budget",
                                                        "solver", "steps",  "rejected"};
    return names[reason];
}
