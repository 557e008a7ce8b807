#include "tasks.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { TASKS_MOST = 50000 };

const char *mr_task_kind_name(mr_task_kind kind)
{
    static const char *const names[MR_TASK_KINDS] = {"free", "finding", "swap", "near",
                                                     "sees", "turn",    "state"};
    return names[kind];
}

void mr_task_free(mr_task *task)
{
    free(task->events);
    task->events = NULL;
}

void mr_tasks_free(mr_tasks *tasks)
{
    for (size_t i = 0; i < tasks->count; i++)
        mr_task_free(&tasks->items[i]);
    free(tasks->items);
    mr_map_free(&tasks->counts);
    mr_map_free(&tasks->keys);
    mr_map_free(&tasks->nodes);
    mr_map_free(&tasks->candidates);
}

uint32_t mr_tasks_chance(mr_tasks *tasks, uint32_t bound)
{
    /* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
    uint64_t z = tasks->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(((z ^ z >> 31) >> 32) * bound >> 32);
}

enum { ADDED = 1, RAN_ELSEWHERE }; /* of a key */

bool mr_tasks_note_elsewhere(mr_tasks *tasks, uint64_t key)
{
    uint32_t *state = mr_map_at(&tasks->keys, key, 0);
    if (state)
        *state = RAN_ELSEWHERE;
    return state != NULL;
}

bool mr_tasks_ran_elsewhere(const mr_tasks *tasks, const mr_task *task)
{
    return mr_map_get(&tasks->keys, task->key, 0) == RAN_ELSEWHERE;
}

static bool count(mr_map *map, uint64_t key)
{
    uint32_t *place = mr_map_at(map, key, 0);
    if (place && *place < UINT32_MAX)
        ++*place;
    return place != NULL;
}

bool mr_tasks_saw_pair(mr_tasks *tasks, uint64_t pair)
{
    return count(&tasks->counts, pair);
}

bool mr_tasks_saw_node(mr_tasks *tasks, uint64_t node)
{
    return mr_map_at(&tasks->nodes, node, 1) != NULL;
}

enum { TRIED = 1, RACES }; /* of a candidate */

bool mr_tasks_saw_race(mr_tasks *tasks, uint64_t pair)
{
    uint32_t *state = mr_map_at(&tasks->candidates, pair, 0);
    if (!state)
        return false;
    if (*state == TRIED)
        tasks->idle = 0;
    *state = RACES;
    return true;
}

/* Without memory the candidate is not known to be tried: others are then put off for longer. */
static void note_near(mr_tasks *tasks, const mr_task *task)
{
    uint32_t *state = mr_map_at(&tasks->candidates, task->pair, 0);
    if (state && !*state)
        *state = TRIED;
    tasks->idle++;
}

/* The lower the better. */
static uint64_t score_of(const mr_tasks *tasks, const mr_task *task)
{
    static const uint32_t bases[MR_TASK_KINDS] = {[MR_TASK_FINDING] = 0,
                                                  [MR_TASK_SWAP] = 1,
                                                  [MR_TASK_NEAR] = 3,
                                                  [MR_TASK_SEES] = 4,
                                                  [MR_TASK_TURN] = 5};
    enum {
        RACY = 2,
        KEEPS = 2,
        SEEN_NODE = 12,
        AGAIN = 6,
        COUNTS_MOST = 1000,
        IDLE = 2,
        IDLE_MOST = 6
    };
    uint32_t counts = mr_map_get(&tasks->counts, task->pair, 0);
    uint64_t score = bases[task->kind];
    score -= task->is_racy ? RACY : 0;
    score += task->keeps ? KEEPS : 0;
    score += (uint64_t)AGAIN * (counts < COUNTS_MOST ? counts : COUNTS_MOST);
    if (task->kind == MR_TASK_NEAR)
        score += (uint64_t)IDLE * (tasks->idle < IDLE_MOST ? tasks->idle : IDLE_MOST);
    score += task->node && mr_map_get(&tasks->nodes, task->node, 0) ? SEEN_NODE : 0;
    return score << 32 | task->chance;
}

/* Half of the tasks go, the worst by what is known now. */
static void drop_worst(mr_tasks *tasks)
{
    size_t kept = 0;
    uint64_t sum = 0;
    for (size_t i = 0; i < tasks->count; i++)
        sum += score_of(tasks, &tasks->items[i]) >> 32;
    uint64_t mean = sum / (tasks->count + 1);
    for (size_t i = 0; i < tasks->count; i++) {
        if (score_of(tasks, &tasks->items[i]) >> 32 <= mean && kept < TASKS_MOST * 3 / 4)
            tasks->items[kept++] = tasks->items[i];
        else
            mr_task_free(&tasks->items[i]);
    }
    tasks->dropped += tasks->count - kept;
    tasks->count = kept;
}

bool mr_tasks_add(mr_tasks *tasks, mr_task *task)
{
    uint32_t *known = mr_map_at(&tasks->keys, task->key, 0);
    void *items = tasks->items;
    if (known && *known) {
        mr_task_free(task);
        return true;
    }
    if (tasks->count >= TASKS_MOST)
        drop_worst(tasks);
    if (!known || !mr_grow(&items, &tasks->capacity, tasks->count + 1, sizeof *tasks->items)) {
        mr_task_free(task);
        return false;
    }
    tasks->items = items;
    *known = ADDED;
    task->chance = mr_tasks_chance(tasks, UINT32_MAX);
    tasks->items[tasks->count++] = *task;
    return true;
}

/* The candidate of a task NEAR has turned out to be a race. */
static bool is_settled(const mr_tasks *tasks, const mr_task *task)
{
    return task->kind == MR_TASK_NEAR && mr_map_get(&tasks->candidates, task->pair, 0) == RACES;
}

static void drop_settled(mr_tasks *tasks)
{
    for (size_t i = 0; i < tasks->count;) {
        if (is_settled(tasks, &tasks->items[i])) {
            mr_task_free(&tasks->items[i]);
            tasks->items[i] = tasks->items[--tasks->count];
        } else {
            i++;
        }
    }
}

bool mr_tasks_take(mr_tasks *tasks, mr_task *task)
{
    size_t best = 0;
    uint64_t least = UINT64_MAX;
    drop_settled(tasks);
    for (size_t i = 0; i < tasks->count; i++) {
        uint64_t score = score_of(tasks, &tasks->items[i]);
        if (score < least) {
            least = score;
            best = i;
        }
    }
    if (!tasks->count)
        return false;
    *task = tasks->items[best];
    tasks->items[best] = tasks->items[--tasks->count];
    if (task->kind == MR_TASK_NEAR)
        note_near(tasks, task);
    return true;
}
