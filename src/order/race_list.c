#include "race_list.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t none = UINT32_MAX;

void mr_race_list_init(mr_race_list *list, uint32_t most_examples, bool keep_events)
{
    *list = (mr_race_list){.most_examples = most_examples ? most_examples : 1,
                           .keep_events = keep_events};
}

static void free_marks(mr_race_list *list)
{
    free(list->location_racy);
    free(list->variable_racy);
    list->location_racy = list->variable_racy = NULL;
    list->location_capacity = list->variable_capacity = 0;
}

void mr_race_list_free(mr_race_list *list)
{
    free(list->races);
    free(list->examples);
    mr_u32s_free(&list->events);
    mr_map_free(&list->numbers);
    free_marks(list);
    *list = (mr_race_list){0};
}

/* Sets the mark of `number` and counts it when it is new. */
static bool mark(uint8_t **marks, size_t *capacity, uint32_t number, uint32_t *count)
{
    if (number >= *capacity) {
        size_t old = *capacity;
        void *items = *marks;
        if (!mr_grow(&items, capacity, (size_t)number + 1, 1))
            return false;
        *marks = items;
        memset(*marks + old, 0, *capacity - old);
    }
    *count += !(*marks)[number];
    (*marks)[number] = 1;
    return true;
}

bool mr_race_list_racy(mr_race_list *list, uint64_t event, uint32_t location, uint32_t variable)
{
    bool is_new = !list->racy_event_count || list->last_racy != event;
    MR_ASSERT(!list->racy_event_count || list->last_racy <= event);
    list->racy_event_count += is_new;
    list->last_racy = event;
    return mark(&list->location_racy, &list->location_capacity, location,
                &list->racy_location_count) &&
           mark(&list->variable_racy, &list->variable_capacity, variable,
                &list->racy_variable_count) &&
           (!list->keep_events || !is_new || mr_u32s_push(&list->events, (uint32_t)event));
}

uint32_t mr_race_list_find(const mr_race_list *list, uint32_t location, uint32_t other)
{
    return mr_map_get(&list->numbers, mr_map_key_of_two(location, other), none);
}

bool mr_race_list_settled(const mr_race_list *list, uint32_t location, uint32_t other,
                          uint64_t event)
{
    if (!mr_wanted_pair(list->wanted, location, other))
        return true;
    uint32_t number = mr_race_list_find(list, location, other);
    if (number == none)
        return false;
    const mr_static_race *race = &list->races[number];
    return race->example_count == list->most_examples &&
           list->examples[race->last_example].second.event < event;
}

/* The static race of the pair, made when it is new. NULL: no memory. */
static mr_static_race *get_race(mr_race_list *list, const mr_race_example *pair)
{
    uint32_t a = pair->first.location, b = pair->second.location;
    uint32_t *number = mr_map_at(&list->numbers, mr_map_key_of_two(a, b), none);
    if (!number)
        return NULL;
    if (*number == none) {
        void *items = list->races;
        if (!mr_grow(&items, &list->race_capacity, list->race_count + 1, sizeof *list->races))
            return NULL;
        list->races = items;
        *number = (uint32_t)list->race_count;
        list->races[list->race_count++] = (mr_static_race){
            .low = a < b ? a : b,
            .high = a < b ? b : a,
            .first_example = none,
            .last_example = none,
        };
    }
    return &list->races[*number];
}

/* Adds a copy of the pair behind the last example. */
static bool append(mr_race_list *list, mr_static_race *race, const mr_race_example *pair)
{
    void *items = list->examples;
    if (!mr_grow(&items, &list->example_capacity, list->example_count + 1, sizeof *list->examples))
        return false;
    MR_ASSERT(race->example_count < list->most_examples);
    list->examples = items;
    uint32_t number = (uint32_t)list->example_count++, last = race->last_example;
    list->examples[number] = *pair;
    list->examples[number].next = none;
    *(last == none ? &race->first_example : &list->examples[last].next) = number;
    race->last_example = number;
    race->example_count++;
    return true;
}

/* Two pairs have the same second event: keeps the one with the later first event. */
static void improve(mr_race_example *example, const mr_race_example *pair)
{
    if (pair->first.event <= example->first.event)
        return;
    example->variable = pair->variable;
    example->first = pair->first;
}

bool mr_race_list_add(mr_race_list *list, const mr_race_example *pair)
{
    MR_REQUIRE(pair->first.event < pair->second.event);
    mr_static_race *race = get_race(list, pair);
    if (!race)
        return false;
    if (race->last_example != none) {
        mr_race_example *last = &list->examples[race->last_example];
        MR_REQUIRE(last->second.event <= pair->second.event);
        if (last->second.event == pair->second.event) {
            improve(last, pair);
            return true;
        }
    }
    return race->example_count == list->most_examples || append(list, race, pair);
}

/* A static race with what it is sorted by. */
typedef struct sort_item {
    uint64_t second, first;
    mr_static_race race;
} sort_item;

static int compare_items(const void *one, const void *two)
{
    const sort_item *x = one, *y = two;
    if (x->second != y->second)
        return x->second < y->second ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Puts the races in the order of `items`, and their examples one behind the other. */
static bool rearrange(mr_race_list *list, const sort_item *items)
{
    mr_race_example *examples = mr_realloc(NULL, list->example_count, sizeof *examples);
    if (!examples)
        return false;
    uint32_t count = 0;
    for (size_t i = 0; i < list->race_count; i++) {
        mr_static_race race = items[i].race;
        uint32_t at = race.first_example;
        uint32_t *number = mr_map_at(&list->numbers, mr_map_key_of_two(race.low, race.high), none);
        if (!number) {
            free(examples);
            return false;
        }
        *number = (uint32_t)i;
        race.first_example = count;
        for (; at != none; at = list->examples[at].next) {
            examples[count] = list->examples[at];
            examples[count].next = count + 1;
            count++;
        }
        MR_ASSERT(count - race.first_example == race.example_count && race.example_count > 0);
        race.last_example = count - 1;
        examples[count - 1].next = none;
        list->races[i] = race;
    }
    free(list->examples);
    list->examples = examples;
    list->example_count = list->example_capacity = count;
    return true;
}

bool mr_race_list_finish(mr_race_list *list)
{
    free_marks(list);
    if (!list->race_count)
        return true;
    sort_item *items = mr_realloc(NULL, list->race_count, sizeof *items);
    if (!items)
        return false;
    for (size_t i = 0; i < list->race_count; i++) {
        const mr_race_example *first = &list->examples[list->races[i].first_example];
        items[i] = (sort_item){first->second.event, first->first.event, list->races[i]};
    }
    qsort(items, list->race_count, sizeof *items, compare_items);
    bool done = rearrange(list, items);
    free(items);
    return done;
}
