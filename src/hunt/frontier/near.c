#include "near.h"

#include "base/memory.h"
#include "order/detect/detect.h"

#include <stdlib.h>

mr_status mr_near_find(mr_near_pairs *candidates, const mr_trace *trace, mr_error *error)
{
    mr_race_list list;
    const mr_detect_options options = {.most_examples = 1};
    *candidates = (mr_near_pairs){.items = NULL};
    mr_status status = mr_detect(MR_RELATION_HYBRID, trace, &options, &list, error);
    if (!status && list.race_count) {
        candidates->items = mr_calloc(list.race_count, sizeof *candidates->items);
        if (!candidates->items)
            status = mr_error_memory(error, "looking for candidates");
    }
    for (size_t i = 0; candidates->items && i < list.race_count; i++) {
        const mr_race_example *example = &list.examples[list.races[i].first_example];
        candidates->items[candidates->count++] =
            (mr_near_pair){example->first.event, example->second.event};
    }
    mr_race_list_free(&list);
    return status;
}

void mr_near_free(mr_near_pairs *candidates)
{
    free(candidates->items);
    *candidates = (mr_near_pairs){.items = NULL};
}

mr_way_answer mr_near_way(const mr_trace *trace, const mr_way_index *index, uint32_t stays,
                          uint32_t goes, uint32_t *at, mr_u32s *events)
{
    const uint32_t *own = index->events + index->first[trace->thread[goes]];
    mr_way_goal goal = {
        .stops = {stays}, .stop_count = 2, .last = MR_WAY_ANY, .barred = MR_NONE, .may_wait = true};
    uint32_t low = 0,
             high = index->number[goes] + 1; /* possible before own[low]; not before own[high] */
    goal.stops[1] = own[0];
    mr_way_answer answer = mr_way(trace, index, &goal, events);
    while (answer == MR_WAY_FOUND && high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        goal.stops[1] = own[middle];
        mr_way_answer there = mr_way(trace, index, &goal, events);
        if (there == MR_WAY_NO_MEMORY)
            answer = there;
        else if (there == MR_WAY_FOUND)
            low = middle;
        else
            high = middle;
    }
    *at = own[low];
    goal.stops[1] = own[low];
    return answer == MR_WAY_FOUND ? mr_way(trace, index, &goal, events) : answer;
}
