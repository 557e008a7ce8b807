#include "frontier.h"

#include "base/memory.h"
#include "engine/predict.h"
#include "most.h"
#include "witness/pack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NEAR = 24,          /* writes that are looked at before a read, and behind it */
    TASKS_OF_ONE = 6000 /* of one behaviour */
};

typedef struct frontier {
    mr_tasks *tasks;
    const mr_trace *trace;
    const mr_behaviour *behaviour;
    uint32_t number, depth;
    uint32_t *first_write, *writes; /* of variable v: writes[first_write[v] … first_write[v + 1]) */
    mr_map racy;                    /* pairs of places that race */
    uint32_t added;
} frontier;

uint64_t mr_frontier_pair(const mr_trace *trace, const mr_behaviour *behaviour, uint32_t one,
                          uint32_t two)
{
    uint64_t a = behaviour->place[trace->location[one]];
    uint64_t b = two == MR_NONE ? 7 : behaviour->place[trace->location[two]];
    return a < b ? mr_hash_join(a, b) : mr_hash_join(b, a);
}

bool mr_frontier_note(mr_tasks *tasks, const mr_trace *trace, const mr_behaviour *behaviour)
{
    mr_map here = {.count = 0}; /* a pair counts once a run */
    bool ok = true;
    for (uint32_t event = 0; ok && event < trace->event_count; event++) {
        if (!mr_op_reads(trace->op[event]))
            continue;
        uint64_t pair = mr_frontier_pair(trace, behaviour, event, trace->link[event]);
        uint32_t *seen = mr_map_at(&here, pair, 0);
        ok = seen && (*seen || mr_tasks_saw_pair(tasks, pair)) &&
             mr_tasks_saw_node(tasks, behaviour->with[event]);
        if (seen)
            *seen = 1;
    }
    mr_map_free(&here);
    return ok;
}

static bool find_writes(frontier *self)
{
    const mr_trace *trace = self->trace;
    self->first_write = mr_calloc(trace->variables.count + 2ull, sizeof *self->first_write);
    self->writes = mr_calloc(trace->event_count + 1ull, sizeof *self->writes);
    if (!self->first_write || !self->writes)
        return false;
    uint32_t *next = self->first_write + 1;
    for (uint32_t event = 0; event < trace->event_count; event++)
        if (mr_op_is_access(trace->op[event]) && mr_op_writes(trace->op[event]))
            next[trace->operand[event] + 1]++;
    for (uint32_t v = 0; v < trace->variables.count; v++)
        next[v + 1] += next[v];
    for (uint32_t event = 0; event < trace->event_count; event++)
        if (mr_op_is_access(trace->op[event]) && mr_op_writes(trace->op[event]))
            self->writes[next[trace->operand[event]]++] = event;
    return true;
}

/* ---- reads ---- */

static bool add_read(frontier *self, uint32_t read, uint32_t write)
{
    const mr_trace *trace = self->trace;
    const mr_behaviour *behaviour = self->behaviour;
    uint64_t node = mr_behaviour_seeing(behaviour, trace, read, write);
    if (node == behaviour->with[read] || self->added >= TASKS_OF_ONE)
        return true;
    uint64_t pair = mr_frontier_pair(trace, behaviour, read, write);
    mr_task task = {.kind = MR_TASK_SEES,
                    .parent = self->number,
                    .first = write,
                    .second = read,
                    .is_racy = mr_map_get(&self->racy, pair, 0) != 0,
                    .pair = pair,
                    .node = node,
                    .depth = self->depth};
    task.key = mr_hash_join(node, write == MR_NONE ? 5 : behaviour->with[write]) | 1;
    mr_task keeping = task;
    keeping.keeps = true;
    keeping.key = mr_hash_join(task.key, 19) | 1;
    self->added += 2;
    return mr_tasks_add(self->tasks, &task) && mr_tasks_add(self->tasks, &keeping);
}

/* The writes near the read, the nearest first, one of each thread and place on each side. */
static bool add_side(frontier *self, uint32_t read, uint32_t at, bool back)
{
    const mr_trace *trace = self->trace;
    uint32_t first = self->first_write[trace->operand[read]];
    uint32_t end = self->first_write[trace->operand[read] + 1];
    mr_map taken = {.count = 0};
    bool ok = true, own = false;
    for (int i = 0; ok && i < NEAR; i++) {
        if (back ? at == first : at == end)
            break;
        uint32_t write = self->writes[back ? --at : at++];
        if (trace->thread[write] == trace->thread[read]) {
            ok = !back || own || add_read(self, read, write);
            if (write != read && !back)
                break; /* what its own thread writes later it cannot see */
            own = own || write != read;
            continue;
        }
        uint32_t *known =
            mr_map_at(&taken, mr_map_key(trace->thread[write], trace->location[write]), 0);
        ok = known && (*known || add_read(self, read, write));
        if (known)
            *known = 1;
    }
    mr_map_free(&taken);
    return ok;
}

static bool add_reads(frontier *self)
{
    const mr_trace *trace = self->trace;
    for (uint32_t read = 0; read < trace->event_count; read++) {
        if (!mr_op_reads(trace->op[read]))
            continue;
        uint32_t variable = trace->operand[read];
        uint32_t low = self->first_write[variable], high = self->first_write[variable + 1];
        while (low < high) { /* the first write behind the read */
            uint32_t middle = low + (high - low) / 2;
            if (self->writes[middle] < read)
                low = middle + 1;
            else
                high = middle;
        }
        if (!add_side(self, read, low, true) || !add_side(self, read, low, false) ||
            (trace->link[read] != MR_NONE && !add_read(self, read, MR_NONE)))
            return false;
    }
    return true;
}

/* ---- locks ---- */

static bool add_turns(frontier *self)
{
    const mr_trace *trace = self->trace;
    uint32_t *last = mr_malloc((trace->locks.count + 1ull) * sizeof *last, 0);
    bool ok = last != NULL;
    if (ok)
        memset(last, 0xFF, (trace->locks.count + 1ull) * sizeof *last);
    for (uint32_t event = 0; ok && event < trace->event_count; event++) {
        if (!mr_op_acquires(trace->op[event]) || trace->link[event] == MR_NESTED)
            continue;
        uint32_t *before = &last[trace->operand[event]];
        if (*before != MR_NONE && trace->thread[*before] != trace->thread[event] &&
            self->added < TASKS_OF_ONE) {
            mr_task task = {
                .kind = MR_TASK_TURN,
                .parent = self->number,
                .first = *before,
                .second = event,
                .pair = mr_hash_join(mr_frontier_pair(trace, self->behaviour, *before, event), 11),
                .depth = self->depth};
            task.key =
                mr_hash_join(self->behaviour->with[*before], self->behaviour->with[event]) | 1;
            self->added++;
            ok = mr_tasks_add(self->tasks, &task);
        }
        *before = event;
    }
    free(last);
    return ok;
}

/* ---- candidates ---- */

/* Counts of candidates are their own: a pair that reads-from has connected in a run is no less new. */
static uint64_t candidate_of(uint64_t pair)
{
    return mr_hash_join(pair, 13);
}

static bool add_near(frontier *self, uint32_t stays, uint32_t goes)
{
    const mr_behaviour *behaviour = self->behaviour;
    uint64_t pair = mr_frontier_pair(self->trace, behaviour, stays, goes);
    if (mr_map_get(&self->racy, pair, 0) || self->added >= TASKS_OF_ONE)
        return true;
    mr_task task = {.kind = MR_TASK_NEAR,
                    .parent = self->number,
                    .first = stays,
                    .second = goes,
                    .pair = candidate_of(pair),
                    .depth = self->depth};
    task.key = mr_hash_join(mr_hash_join(behaviour->with[stays], behaviour->with[goes]), 17) | 1;
    self->added++;
    return mr_tasks_add(self->tasks, &task);
}

static bool add_nears(frontier *self, const mr_near_pairs *candidates)
{
    for (size_t i = 0; i < candidates->count; i++) {
        const mr_near_pair *candidate = &candidates->items[i];
        if (!add_near(self, candidate->first, candidate->second) ||
            !add_near(self, candidate->second, candidate->first))
            return false;
    }
    return true;
}

/* ---- what the engine has found ---- */

static bool add_witness(frontier *self, const mr_witness *packed, mr_task_kind kind)
{
    mr_witness room;
    const mr_trace *trace = self->trace;
    const mr_behaviour *behaviour = self->behaviour;
    const mr_witness *witness = mr_witness_open(trace, packed, &room);
    if (!witness)
        return false;
    uint32_t count;
    const uint32_t *stops = mr_witness_stops(witness, &count);
    mr_task task = {.kind = kind,
                    .parent = self->number,
                    .first = witness->first,
                    .second = witness->second,
                    .depth = self->depth,
                    .event_count = witness->window_start + witness->event_count};
    task.events = mr_calloc(task.event_count + 1ull, sizeof *task.events);
    for (uint32_t i = 0; task.events && i < witness->window_start; i++)
        task.events[i] = i;
    if (task.events && witness->event_count)
        memcpy(task.events + witness->window_start, witness->events,
               witness->event_count * sizeof *task.events);
    task.key = (uint64_t)kind * 31 + witness->kind + 1;
    for (uint32_t i = 0; i < count && i < MR_PLAN_STOPS; i++) {
        task.stops[task.stop_count++] = stops[i];
        task.key = mr_hash_join(task.key, behaviour->place[trace->location[stops[i]]]);
    }
    /* Not that of the places: what reads-from has connected was not run the other way round. */
    task.pair = task.key;
    mr_witness_free(&room);
    return task.events && mr_tasks_add(self->tasks, &task);
}

static bool add_found(frontier *self, const mr_result *result)
{
    for (size_t i = 0; i < result->race_count; i++) {
        const mr_witness *witness = &result->races[i].witness;
        uint64_t pair =
            mr_frontier_pair(self->trace, self->behaviour, witness->first, witness->second);
        if (!mr_map_at(&self->racy, pair, 1) || !mr_tasks_saw_race(self->tasks, candidate_of(pair)))
            return false;
        if (witness->kind == MR_WITNESS_RACE && !add_witness(self, witness, MR_TASK_SWAP))
            return false;
    }
    for (size_t i = 0; i < result->finding_count; i++)
        if (!add_witness(self, &result->findings[i].witness, MR_TASK_FINDING))
            return false;
    return true;
}

bool mr_frontier_add(mr_tasks *tasks, uint32_t number, uint32_t depth, const mr_trace *trace,
                     const mr_behaviour *behaviour, const mr_result *result,
                     const mr_near_pairs *candidates)
{
    frontier self = {
        .tasks = tasks, .trace = trace, .behaviour = behaviour, .number = number, .depth = depth};
    bool ok = find_writes(&self) && add_found(&self, result) && add_nears(&self, candidates) &&
              add_reads(&self) && add_turns(&self);
    free(self.first_write);
    free(self.writes);
    mr_map_free(&self.racy);
    return ok;
}

/* ---- how it gets there ---- */

static mr_status take_events(mr_task *task, const uint32_t *events, uint32_t before, uint32_t count,
                             mr_error *error)
{
    task->event_count = before + count;
    task->events = mr_calloc(task->event_count + 1ull, sizeof *task->events);
    if (!task->events)
        return mr_error_memory(error, "looking for a schedule");
    for (uint32_t i = 0; i < before; i++)
        task->events[i] = i;
    if (count)
        memcpy(task->events + before, events, count * sizeof *events);
    return MR_OK;
}

/* The engine: is there any reordering after which the read sees the write? */
static mr_status ask(mr_task *task, const mr_trace *trace, const mr_config *config, bool *found,
                     mr_error *error)
{
    char text[64];
    mr_result result = {0};
    mr_witness room = {.events = NULL};
    mr_config *own = mr_config_clone(config);
    task->was_asked = true;
    if (!own)
        return mr_error_memory(error, "looking for a schedule");
    snprintf(text, sizeof text, "%" PRIu32 " %" PRIu32, task->second, task->first);
    mr_status status = mr_config_set(own, "sees", text, NULL, 0, error);
    if (!status)
        status = mr_predict(trace, own, NULL, &result, error);
    if (!status && result.finding_count) {
        const mr_witness *witness = mr_witness_open(trace, &result.findings[0].witness, &room);
        status = witness ? take_events(task, witness->events, witness->window_start,
                                       witness->event_count, error)
                         : mr_error_memory(error, "looking for a schedule");
        *found = !status;
        mr_witness_free(&room);
    }
    mr_result_free(&result);
    mr_config_free(own);
    return status;
}

/* The way that keeps most. MR_WAY_NONE also when it has no more events than the short one (`answer`, `events`): that is another task. */
static mr_way_answer find_keeping(const mr_task *task, const mr_trace *trace, mr_way_answer answer,
                                  mr_u32s *events)
{
    size_t count = events->count;
    if (answer == MR_WAY_NO_MEMORY)
        return answer;
    mr_way_answer kept = mr_most_way(trace, task->second, task->first, events);
    bool is_same = answer == MR_WAY_FOUND && events->count == count;
    return kept == MR_WAY_FOUND && is_same ? MR_WAY_NONE : kept;
}

mr_status mr_frontier_decide(mr_task *task, const mr_trace *trace, const mr_way_index *index,
                             const mr_config *config, bool *found, mr_error *error)
{
    mr_u32s events = {.count = 0};
    *found = true;
    if (task->kind == MR_TASK_SWAP || task->kind == MR_TASK_FINDING)
        return MR_OK;
    bool sees = task->kind == MR_TASK_SEES;
    const mr_way_goal goal = {.stops = {task->second},
                              .stop_count = 1,
                              .last = !sees                    ? MR_WAY_ANY
                                      : task->first == MR_NONE ? MR_WAY_INITIAL
                                                               : MR_WAY_WRITE,
                              .write = task->first,
                              .barred = sees ? MR_NONE : task->first};
    task->stops[0] = task->second;
    mr_way_answer answer =
        task->kind == MR_TASK_NEAR
            ? mr_near_way(trace, index, task->first, task->second, &task->stops[0], &events)
            : mr_way(trace, index, &goal, &events);
    if (task->keeps)
        answer = find_keeping(task, trace, answer, &events);
    task->stop_count = 1;
    *found = answer == MR_WAY_FOUND;
    mr_status status = MR_OK;
    if (answer == MR_WAY_NO_MEMORY)
        status = mr_error_memory(error, "looking for a schedule");
    else if (*found)
        status = take_events(task, events.items, 0, (uint32_t)events.count, error);
    else if (sees && task->first != MR_NONE && !task->keeps)
        status = ask(task, trace, config, found, error);
    mr_u32s_free(&events);
    return status;
}
