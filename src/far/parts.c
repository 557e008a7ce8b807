#include "parts.h"

#include "base/assert.h"
#include "base/keys.h"

#include <stdlib.h>

/* The accesses of a variable at a place. */
typedef struct place {
    uint32_t variable, location;
    uint32_t first, last; /* events */
    uint32_t thread;      /* of the first */
    bool several;         /* several threads have such accesses */
    bool writes, plain;   /* some access writes; some access is not atomic */
} place;

typedef struct counter {
    const mr_trace *trace;
    const mr_window_plan *plan;
    const mr_ledger *races;
    mr_ledger counted;
    place *places;
    size_t capacity;
    uint32_t count;
} counter;

/* Adds an access, or a free: a plain write of each variable of its object. */
static void note(place *it, const mr_trace *trace, uint32_t event)
{
    bool ends = mr_op_ends_life(trace->op[event]);
    it->last = event;
    it->several |= it->thread != trace->thread[event];
    it->writes |= ends || mr_op_writes(trace->op[event]);
    it->plain |= !mr_op_is_atomic(trace->op[event]);
}

static bool add(counter *c, mr_keys *numbers, uint32_t variable, uint32_t event)
{
    const mr_trace *trace = c->trace;
    uint32_t number, location = trace->location[event];
    if (!mr_keys_add(numbers, (uint64_t)variable << 32 | location, &number) ||
        !mr_grow((void **)&c->places, &c->capacity, numbers->count, sizeof *c->places))
        return false;
    place *it = &c->places[number - 1];
    if (number > c->count) {
        c->count = number;
        *it = (place){.variable = variable,
                      .location = location,
                      .first = event,
                      .thread = trace->thread[event]};
    }
    note(it, trace, event);
    return true;
}

static bool add_free(counter *c, mr_keys *numbers, uint32_t event)
{
    const mr_trace *trace = c->trace;
    const mr_object_info *info = &trace->object_info[trace->operand[event]];
    for (uint32_t i = 0; i < info->variable_count; i++)
        if (!add(c, numbers, trace->object_variables[info->first_variable + i], event))
            return false;
    return true;
}

static bool find_places(counter *c, mr_keys *numbers)
{
    const mr_trace *trace = c->trace;
    for (uint32_t event = 0; event < trace->event_count; event++) {
        uint8_t op = trace->op[event];
        if ((mr_op_is_access(op) && !add(c, numbers, trace->operand[event], event)) ||
            (mr_op_ends_life(op) && !add_free(c, numbers, event)))
            return false;
    }
    return true;
}

static int compare_variables(const void *one, const void *two)
{
    const place *x = one, *y = two;
    return (x->variable > y->variable) - (x->variable < y->variable);
}

/* Can an access of the one conflict with one of the other? */
static bool may_conflict(const place *x, const place *y)
{
    bool threads = x->several || y->several || x->thread != y->thread;
    return threads && (x->writes || y->writes) && (x->plain || y->plain);
}

/* Do all accesses of both places lie in one window of the plan? The window that starts last before
 * the first access reaches farthest. */
static bool in_one_window(const counter *c, const place *x, const place *y)
{
    uint32_t first = x->first < y->first ? x->first : y->first;
    uint32_t last = x->last > y->last ? x->last : y->last;
    MR_ASSERT(first <= last && last < c->plan->event_count);
    return mr_window_plan_joins(c->plan, first, last);
}

static bool count_pair(counter *c, const place *x, const place *y)
{
    if (!may_conflict(x, y) || in_one_window(c, x, y))
        return true;
    bool ordered = x->location < y->location;
    uint32_t one = ordered ? x->location : y->location, two = ordered ? y->location : x->location;
    const mr_ledger_entry *entry = mr_ledger_find(c->races, one, two);
    return (entry && entry->race) || mr_ledger_get(&c->counted, one, two) != NULL;
}

static bool count_pairs(counter *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        for (uint32_t k = i; k < c->count && c->places[k].variable == c->places[i].variable; k++)
            if (!count_pair(c, &c->places[i], &c->places[k]))
                return false;
    return true;
}

bool mr_far_parts_count(const mr_trace *trace, const mr_window_plan *plan, const mr_ledger *ledger,
                        uint64_t *count)
{
    MR_REQUIRE(plan->size > plan->overlap);
    counter c = {.trace = trace, .plan = plan, .races = ledger};
    mr_keys numbers = {0};
    bool complete = find_places(&c, &numbers);
    mr_keys_free(&numbers);
    if (complete && c.count)
        qsort(c.places, c.count, sizeof *c.places, compare_variables);
    complete = complete && count_pairs(&c);
    *count = c.counted.count;
    mr_ledger_free(&c.counted);
    free(c.places);
    return complete;
}
