#include "shb_races.h"

#include "order/detect/detect.h"

#include <stdlib.h>

mr_status mr_shb_find(const mr_trace *trace, mr_shb_races *races, mr_error *error)
{
    mr_race_list list;
    mr_status status = mr_detect(MR_RELATION_SHB, trace, &(mr_detect_options){0}, &list, error);
    void *items = races->items;
    if (status == MR_OK && !mr_grow(&items, &races->capacity, list.race_count, sizeof(mr_shb_race)))
        status = mr_error_memory(error, "looking for SHB races");
    races->items = items;
    for (size_t i = 0; status == MR_OK && i < list.race_count; i++) {
        const mr_race_example *example = &list.examples[list.races[i].first_example];
        races->items[races->count++] = (mr_shb_race){example->first.event, example->second.event};
    }
    mr_race_list_free(&list);
    return status;
}

void mr_shb_races_free(mr_shb_races *races)
{
    free(races->items);
    *races = (mr_shb_races){0};
}
