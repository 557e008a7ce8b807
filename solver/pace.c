#include "pace.h"

#include "base/assert.h"

/* A search that has spent one of so many parts of its effort looks whether it will end. */
enum { SOON = 128 };

/* A stretch has one of so many parts of the effort, or a layer more. */
enum { STRETCH = 32 };

/* By all layers that are done. */
static bool is_dear(const mr_pace *pace, uint32_t layers_done, uint64_t effort)
{
    enum { TIMES = 2 };
    return effort > pace->max_effort / SOON &&
           (double)effort * pace->layers > (double)pace->max_effort * layers_done * TIMES;
}

/* By the layers of the stretch, which took `spent`. */
static bool is_getting_dear(const mr_pace *pace, uint32_t layers_done, uint64_t effort,
                            uint64_t spent)
{
    enum { TIMES = 16 };
    double a_layer = (double)spent / (layers_done - pace->stretch_layer);
    return a_layer * (pace->layers - layers_done) >
           ((double)pace->max_effort - (double)effort) * TIMES;
}

bool mr_pace_is_vain(mr_pace *pace, uint32_t layers_done, uint64_t effort)
{
    uint64_t spent = effort - pace->stretch_effort;
    MR_ASSERT(layers_done > pace->stretch_layer && layers_done <= pace->layers);
    if (is_dear(pace, layers_done, effort))
        return true;
    if (spent < pace->max_effort / STRETCH)
        return false;
    bool is_vain = !pace->has_found && is_getting_dear(pace, layers_done, effort, spent);
    pace->stretch_layer = layers_done;
    pace->stretch_effort = effort;
    pace->has_found = false;
    return is_vain;
}
