#include "history.h"

#include <stdlib.h>
#include <string.h>

enum { KIND_READ, KIND_WRITE };

bool mr_history_init(mr_history *history, const mr_trace *trace)
{
    uint32_t variables = trace->variables.count;
    *history = (mr_history){.trace = trace};
    history->first_accessor = mr_calloc(variables, sizeof(uint32_t));
    history->run_thread = mr_calloc(variables, sizeof(uint32_t));
    history->run_start = mr_calloc(variables, sizeof(uint32_t));
    if (!history->first_accessor || !history->run_thread || !history->run_start)
        return false;
    memset(history->first_accessor, 0xff, variables * sizeof(uint32_t));
    memset(history->run_thread, 0xff, variables * sizeof(uint32_t));
    return true;
}

void mr_history_free(mr_history *history)
{
    free(history->accessors);
    free(history->accesses);
    mr_map_free(&history->accessor_numbers);
    mr_map_free(&history->access_numbers);
    free(history->first_accessor);
    free(history->run_thread);
    free(history->run_start);
    *history = (mr_history){0};
}

static bool find_accessor(mr_history *history, uint32_t variable, uint32_t thread,
                          uint32_t *accessor)
{
    uint32_t *number = mr_map_at(&history->accessor_numbers, mr_map_key(variable, thread), MR_NONE);
    if (!number)
        return false;
    if (*number == MR_NONE) {
        void *items = history->accessors;
        if (!mr_grow(&items, &history->accessor_capacity, history->accessor_count + 1,
                     sizeof(mr_accessor)))
            return false;
        history->accessors = items;
        *number = (uint32_t)history->accessor_count++;
        history->accessors[*number] = (mr_accessor){
            .thread = thread,
            .next = history->first_accessor[variable],
            .last = {MR_NONE, MR_NONE},
        };
        history->first_accessor[variable] = *number;
    }
    *accessor = *number;
    return true;
}

/* The entry of the thread for this location and kind; a new one has event MR_NONE and is in no
 * list. */
static bool find_access(mr_history *history, uint32_t accessor, int kind, uint32_t location,
                        uint32_t *access)
{
    uint32_t *number = mr_map_at(&history->access_numbers,
                                 mr_map_key(accessor * 2 + (uint32_t)kind, location), MR_NONE);
    if (!number)
        return false;
    if (*number == MR_NONE) {
        void *items = history->accesses;
        if (!mr_grow(&items, &history->access_capacity, history->access_count + 1,
                     sizeof(mr_past_access)))
            return false;
        history->accesses = items;
        *number = (uint32_t)history->access_count++;
        history->accesses[*number] = (mr_past_access){
            .event = MR_NONE, .location = location, .newer = MR_NONE, .older = MR_NONE};
    }
    *access = *number;
    return true;
}

/* Makes the entry the latest of its list. */
static void move_to_front(mr_history *history, uint32_t accessor, int kind, uint32_t access)
{
    uint32_t *front = &history->accessors[accessor].last[kind];
    mr_past_access *items = history->accesses, *item = &items[access];
    if (*front == access)
        return;
    if (item->newer != MR_NONE)
        items[item->newer].older = item->older;
    if (item->older != MR_NONE)
        items[item->older].newer = item->newer;
    item->newer = MR_NONE;
    item->older = *front;
    if (*front != MR_NONE)
        items[*front].newer = access;
    *front = access;
}

/* Visits the entries of a list that are unordered with `event` and at or after event `news`. */
static bool visit_list(const mr_history *history, const mr_accessor *accessor, int kind,
                       uint32_t known, uint32_t news, uint32_t event, mr_history_visit *visit,
                       void *context)
{
    for (uint32_t access = accessor->last[kind]; access != MR_NONE;) {
        const mr_past_access *item = &history->accesses[access];
        if (item->local <= known || item->event < news)
            break;
        if (!visit(context, item->event, event))
            return false;
        access = item->older;
    }
    return true;
}

static bool visit_others(const mr_history *history, uint32_t event, const mr_clock *clock,
                         uint32_t news, mr_history_visit *visit, void *context)
{
    uint32_t thread = history->trace->thread[event];
    bool is_write = history->trace->op[event] == MR_OP_WRITE;
    for (uint32_t number = history->first_accessor[history->trace->operand[event]];
         number != MR_NONE;) {
        const mr_accessor *accessor = &history->accessors[number];
        uint32_t known = mr_clock_get(clock, accessor->thread);
        if (accessor->thread != thread &&
            (!visit_list(history, accessor, KIND_WRITE, known, news, event, visit, context) ||
             (is_write &&
              !visit_list(history, accessor, KIND_READ, known, news, event, visit, context))))
            return false;
        number = accessor->next;
    }
    return true;
}

bool mr_history_add(mr_history *history, uint32_t event, const mr_clock *clock, uint32_t local,
                    mr_history_visit *visit, void *context)
{
    const mr_trace *trace = history->trace;
    uint32_t variable = trace->operand[event], thread = trace->thread[event];
    int kind = trace->op[event] == MR_OP_WRITE ? KIND_WRITE : KIND_READ;
    uint32_t accessor, access;
    if (!find_accessor(history, variable, thread, &accessor) ||
        !find_access(history, accessor, kind, trace->location[event], &access))
        return false;
    if (history->run_thread[variable] != thread) {
        history->run_thread[variable] = thread;
        history->run_start[variable] = event;
    }
    uint32_t last = history->accesses[access].event;
    if (last == MR_NONE || last < history->run_start[variable]) {
        uint32_t news = last == MR_NONE ? 0 : last;
        if (!visit_others(history, event, clock, news, visit, context))
            return false;
    }
    history->accesses[access].event = event;
    history->accesses[access].local = local;
    move_to_front(history, accessor, kind, access);
    return true;
}
