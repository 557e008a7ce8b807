#include "pairs.h"

#include "base/keys.h"

#include <stdlib.h>

/* The last access of its kind: by one thread, at one place, of one variable, with one operation. */
typedef struct kind {
    uint32_t event;
    uint32_t next; /* the next kind of the variable; 0: none */
} kind;

typedef struct finder {
    const mr_trace *trace;
    const bool *one, *two;
    mr_place_groups *groups;
    mr_keys keys; /* two places → the number of the group + 1 */
    kind *kinds;  /* from 1 on */
    uint32_t kind_count;
    size_t kind_capacity;
    uint32_t *first_kind; /* one a variable; 0: none */
} finder;

static bool same_kind(const mr_trace *trace, uint32_t one, uint32_t other)
{
    return trace->thread[one] == trace->thread[other] && trace->op[one] == trace->op[other] &&
           trace->location[one] == trace->location[other];
}

static mr_place_group *group_of(finder *self, uint32_t place, uint32_t other_place)
{
    mr_place_groups *groups = self->groups;
    uint32_t low = place < other_place ? place : other_place, number;
    uint32_t high = place < other_place ? other_place : place;
    if (!mr_keys_add(&self->keys, (uint64_t)low << 32 | high, &number))
        return NULL;
    if (number > groups->count) {
        void *items = groups->items;
        if (!mr_grow(&items, &groups->capacity, groups->count + 1, sizeof *groups->items))
            return NULL;
        groups->items = items;
        groups->items[groups->count++] =
            (mr_place_group){.location_1 = low, .location_2 = high, .variable = MR_NONE};
    }
    return &groups->items[number - 1];
}

static bool add_pair(finder *self, uint32_t first, uint32_t second, uint32_t variable)
{
    const mr_trace *trace = self->trace;
    uint32_t here = trace->location[second], there = trace->location[first];
    if (!(self->one[there] && self->two[here]) && !(self->one[here] && self->two[there]))
        return true;
    mr_place_group *group = group_of(self, there, here);
    if (!group)
        return false;
    if (group->variable == MR_NONE)
        group->variable = variable;
    group->more_variables |= group->variable != variable;
    if (group->pair_count < MR_PAIRS_LOOKED_AT)
        group->pairs[group->pair_count] = (mr_close_events){first, second};
    group->pair_count++;
    return true;
}

static bool reserve_kinds(finder *self)
{
    void *kinds = self->kinds;
    bool done =
        mr_grow(&kinds, &self->kind_capacity, self->kind_count + (size_t)1, sizeof *self->kinds);
    self->kinds = kinds;
    return done;
}

/* An access of the variable, or the free of its object. */
static bool visit(finder *self, uint32_t event, uint32_t variable)
{
    uint32_t own = 0;
    for (uint32_t k = self->first_kind[variable]; k; k = self->kinds[k].next) {
        uint32_t earlier = self->kinds[k].event;
        if (same_kind(self->trace, earlier, event))
            own = k;
        else if (mr_events_conflict(self->trace, earlier, event) &&
                 !add_pair(self, earlier, event, variable))
            return false;
    }
    if (!own) {
        own = ++self->kind_count;
        if (!reserve_kinds(self))
            return false;
        self->kinds[own].next = self->first_kind[variable];
        self->first_kind[variable] = own;
    }
    self->kinds[own].event = event;
    return true;
}

static bool visit_all(finder *self)
{
    const mr_trace *trace = self->trace;
    bool good = true;
    for (uint32_t event = 0; event < trace->event_count && good; event++) {
        mr_trace_pass(trace, event);
        uint32_t location = trace->location[event];
        if (!self->one[location] && !self->two[location])
            continue;
        if (mr_op_is_access(trace->op[event])) {
            good = visit(self, event, trace->operand[event]);
        } else if (mr_op_ends_life(trace->op[event])) {
            const mr_object_info *object = &trace->object_info[trace->operand[event]];
            for (uint32_t i = 0; i < object->variable_count && good; i++)
                good = visit(self, event, trace->object_variables[object->first_variable + i]);
        }
    }
    return good;
}

mr_status mr_place_groups_find(const mr_trace *trace, const bool *one, const bool *two,
                               mr_place_groups *groups, mr_error *error)
{
    finder self = {.trace = trace, .one = one, .two = two, .groups = groups};
    self.first_kind = mr_calloc(trace->variables.count + 1ull, sizeof *self.first_kind);
    bool good = self.first_kind && reserve_kinds(&self) && visit_all(&self);
    free(self.first_kind);
    free(self.kinds);
    mr_keys_free(&self.keys);
    return good ? MR_OK : mr_error_memory(error, "looking for pairs of accesses");
}

void mr_place_groups_free(mr_place_groups *groups)
{
    free(groups->items);
    *groups = (mr_place_groups){0};
}
