#include "shared_pointers.h"

#include "trace/stacks.h"

#include <string.h>

/* Innermost frames that may be those of the operation and of the functions that it is in. */
enum { FRAMES = 4 };

static bool is_of_library(const mr_frame *frame)
{
    static const char class_name[] = "std::_Sp_atomic<";
    return frame->function_length >= sizeof class_name - 1 &&
           memcmp(frame->function, class_name, sizeof class_name - 1) == 0;
}

bool mr_shared_pointers_unlocks(const mr_trace *trace, const mr_emitted *event)
{
    if (event->op != MR_OP_ATOMIC_UPDATE || !event->has_value || (event->value & 1) == 0 ||
        event->written_value != event->value - 1)
        return false;
    uint32_t stack = event->stack;
    for (int i = 0; stack && i < FRAMES; i++, stack = trace->stacks[stack].caller) {
        mr_frame frame = mr_frame_of(&trace->frames.items[trace->stacks[stack].frame]);
        if (is_of_library(&frame))
            return true;
    }
    return false;
}
