#include "syncp_search.h"

#include <stdlib.h>
#include <string.h>

/* A second access on its way. */
typedef struct arrival {
    mr_syncp_search *search;
    uint32_t event, thread, variable, location, accessor;
    int kind;
    const uint32_t *ideal; /* what the thread needs before it */
    uint32_t open;         /* the sections that it is in */
    bool racy;
} arrival;

bool mr_syncp_search_init(mr_syncp_search *search, const mr_trace *trace,
                          const mr_syncp_ideals *ideals, mr_race_list *list)
{
    *search = (mr_syncp_search){.trace = trace, .ideals = ideals, .list = list};
    search->scratch = mr_calloc(trace->threads.count, sizeof *search->scratch);
    return search->scratch && mr_syncp_accesses_init(&search->accesses, trace->variables.count);
}

void mr_syncp_search_free(mr_syncp_search *search)
{
    mr_syncp_accesses_free(&search->accesses);
    free(search->scratch);
    *search = (mr_syncp_search){0};
}

/* Can an access of this kind conflict with the new one? */
static bool concerns(const arrival *new, int kind)
{
    return kind == MR_SYNCP_WRITE || new->kind == MR_SYNCP_WRITE;
}

static uint32_t known_steps(const arrival *new, const mr_syncp_accessor *other)
{
    return new->ideal[other->thread] / 2;
}

/* Step 1 for one accessor and kind. */
static bool catch_up(const arrival *new, const mr_syncp_accessor *other, mr_syncp_rival *rival,
                     int kind)
{
    mr_syncp_accesses *accesses = &new->search->accesses;
    uint32_t last = other->last[kind], known = known_steps(new, other);
    uint32_t cursor = rival->cursor[kind];
    if (cursor == last)
        return true;
    rival->cursor[kind] = last;
    if (accesses->classes[last].step <= known)
        return true;
    uint32_t at = cursor == MR_NONE ? other->first[kind] : accesses->classes[cursor].next;
    for (; at != MR_NONE; at = accesses->classes[at].next) {
        const mr_syncp_class *class = &accesses->classes[at];
        if (class->step > known &&
            !mr_syncp_common_lock(new->search->ideals, class->open, new->open) &&
            !mr_syncp_push_live(accesses, new->accessor, rival, kind, at))
            return false;
    }
    return true;
}

static bool catch_up_all(const arrival *new)
{
    mr_syncp_accesses *accesses = &new->search->accesses;
    uint32_t number = accesses->variables[new->variable].first_accessor;
    for (; number != MR_NONE; number = accesses->accessors[number].next) {
        const mr_syncp_accessor *other = &accesses->accessors[number];
        if (number == new->accessor)
            continue;
        mr_syncp_rival *rival = mr_syncp_get_rival(accesses, new->accessor, other->number);
        if (!rival)
            return false;
        for (int kind = 0; kind < MR_SYNCP_KINDS; kind++)
            if (concerns(new, kind) && !catch_up(new, other, rival, kind))
                return false;
    }
    return true;
}

/* Neither of the class and the new access is needed by the other. */
static bool races(const arrival *new, uint32_t thread, const mr_syncp_class *class,
                  mr_syncp_rival *rival)
{
    const mr_syncp_ideals *ideals = new->search->ideals;
    uint32_t *ideal = new->search->scratch;
    memcpy(ideal, new->ideal, ideals->thread_count * sizeof *ideal);
    mr_syncp_join(ideals, ideal, class->row, thread, class->step - 1);
    if (!mr_syncp_close(ideals, ideal, thread, class->step))
        return true;
    uint32_t from = class->step, to = ideal[thread] / 2;
    if (from <= rival->dead_to + 1 && rival->dead_from <= to + 1) {
        rival->dead_from = from < rival->dead_from ? from : rival->dead_from;
        rival->dead_to = to > rival->dead_to ? to : rival->dead_to;
    } else {
        rival->dead_from = from;
        rival->dead_to = to;
    }
    return false;
}

static bool is_dead(const mr_syncp_rival *rival, uint32_t step)
{
    return rival->dead_from <= step && step <= rival->dead_to;
}

/* The latest class of the group that races, if its event is not before `floor`; MR_NONE: there is
 * none. Drops from the group what is dead. */
static uint32_t search_group(const arrival *new, const mr_syncp_accessor *other,
                             mr_syncp_rival *rival, mr_syncp_group *group, uint32_t floor)
{
    mr_syncp_accesses *accesses = &new->search->accesses;
    uint32_t *live = &accesses->accessors[new->accessor].live[group->kind];
    mr_u32s *list = &group->classes;
    while (list->count > group->head) {
        uint32_t number = list->items[list->count - 1];
        const mr_syncp_class *class = &accesses->classes[number];
        if (class->step <= known_steps(new, other)) {
            *live -= (uint32_t)list->count - group->head;
            list->count = group->head = 0;
            break;
        }
        if (class->event < floor)
            return MR_NONE;
        if (!is_dead(rival, class->step) &&
            !mr_syncp_common_lock(new->search->ideals, class->open, new->open) &&
            races(new, other->thread, class, rival))
            return number;
        list->count--;
        --*live;
    }
    return MR_NONE;
}

/* Is no pair of the group with the new access wanted? */
static bool settled(const arrival *new, mr_syncp_group *group)
{
    if (group->settled_with == new->location)
        return true;
    if (!mr_race_list_settled(new->search->list, group->location, new->location, new->event))
        return false;
    group->settled_with = new->location;
    return true;
}

/* The latest first access of a pair of the two locations with this very event, 0: none. */
static uint32_t best_so_far(const arrival *new, uint32_t location)
{
    const mr_race_list *list = new->search->list;
    uint32_t number = mr_race_list_find(list, location, new->location);
    if (number == MR_NONE)
        return 0;
    const mr_race_example *last = &list->examples[list->races[number].last_example];
    return last->second.event == new->event ? last->first.event : 0;
}

static bool report(const arrival *new, uint32_t first)
{
    const mr_trace *trace = new->search->trace;
    mr_race_example pair = {
        .variable = new->variable,
        .first = {first, trace->thread[first], trace->location[first], trace->op[first]},
        .second = {new->event, new->thread, new->location, trace->op[new->event]},
    };
    return mr_race_list_add(new->search->list, &pair);
}

/* Step 2 (`wanted`) or the end of step 3 for the groups of one rival. */
static bool search_rival(arrival *new, uint32_t number, bool wanted)
{
    mr_syncp_accesses *accesses = &new->search->accesses;
    const mr_syncp_accessor *other = &accesses->accessors[number];
    mr_syncp_accessor *self = &accesses->accessors[new->accessor];
    if (other->number >= self->rival_count)
        return true; /* it came since step 1 was needed, with nothing that concerns this kind */
    mr_syncp_rival *rival = &self->rivals[other->number];
    for (uint32_t at = rival->first_group; at != MR_NONE; at = accesses->groups[at].next) {
        mr_syncp_group *group = &accesses->groups[at];
        if (!group->classes.count || !concerns(new, group->kind) || settled(new, group) == wanted)
            continue;
        uint32_t floor = wanted ? best_so_far(new, group->location) : 0;
        uint32_t class = search_group(new, other, rival, group, floor);
        if (class == MR_NONE)
            continue;
        new->racy = true;
        self->guess[new->kind] = class;
        self->guess_rival[new->kind] = number;
        if (!wanted)
            return true;
        if (!report(new, accesses->classes[class].event))
            return false;
    }
    return true;
}

static bool search_rivals(arrival *new, bool wanted)
{
    const mr_syncp_accesses *accesses = &new->search->accesses;
    uint32_t number = accesses->variables[new->variable].first_accessor;
    for (; number != MR_NONE && (wanted || !new->racy); number = accesses->accessors[number].next)
        if (number != new->accessor && !search_rival(new, number, wanted))
            return false;
    return true;
}

/* Does the class that raced last race again? */
static bool guess(const arrival *new)
{
    const mr_syncp_accesses *accesses = &new->search->accesses;
    mr_syncp_accessor *self = &accesses->accessors[new->accessor];
    uint32_t number = self->guess[new->kind];
    if (number == MR_NONE)
        return false;
    const mr_syncp_class *class = &accesses->classes[number];
    const mr_syncp_accessor *other = &accesses->accessors[self->guess_rival[new->kind]];
    mr_syncp_rival *rival = &self->rivals[other->number];
    if (class->step > known_steps(new, other) && !is_dead(rival, class->step) &&
        races(new, other->thread, class, rival))
        return true;
    self->guess[new->kind] = MR_NONE;
    return false;
}

static bool has_live(const arrival *new)
{
    const mr_syncp_accessor *self = &new->search->accesses.accessors[new->accessor];
    return self->live[MR_SYNCP_WRITE] || (new->kind == MR_SYNCP_WRITE && self->live[MR_SYNCP_READ]);
}

/* `others`: the first classes that there are. */
static bool search_all(arrival *new, uint32_t others)
{
    uint32_t *seen = &new->search->accesses.accessors[new->accessor].seen[new->kind];
    if (*seen != others && !catch_up_all(new))
        return false;
    *seen = others;
    if (!has_live(new))
        return true;
    if (!search_rivals(new, true))
        return false;
    if (!new->racy && has_live(new))
        new->racy = guess(new);
    return new->racy || !has_live(new) || search_rivals(new, false);
}

/* How many classes of others can be first accesses of a pair with the new one. */
static uint32_t count_others(const arrival *new)
{
    const mr_syncp_variable *variable = &new->search->accesses.variables[new->variable];
    const mr_syncp_accessor *self = &new->search->accesses.accessors[new->accessor];
    uint32_t count = 0;
    for (int kind = 0; kind < MR_SYNCP_KINDS; kind++)
        if (concerns(new, kind))
            count += variable->class_count[kind] - self->class_count[kind];
    return count;
}

/* The class of the new access, made when new. MR_NONE: no memory. */
static uint32_t get_class(const arrival *new)
{
    mr_syncp_accesses *accesses = &new->search->accesses;
    uint32_t step = mr_syncp_step_now(new->search->ideals, new->thread);
    uint32_t class = mr_syncp_find_class(accesses, new->accessor, new->kind, step, new->location);
    if (class != MR_NONE)
        return class;
    mr_syncp_class item = {
        .step = step,
        .location = new->location,
        .row = new->search->ideals->threads[new->thread].row,
        .open = new->open,
    };
    return mr_syncp_add_class(accesses, new->variable, new->accessor, new->kind, &item);
}

bool mr_syncp_search_access(void *context, uint32_t event)
{
    mr_syncp_search *search = context;
    const mr_trace *trace = search->trace;
    uint32_t thread = trace->thread[event];
    arrival new = {
        .search = search,
        .event = event,
        .thread = thread,
        .variable = trace->operand[event],
        .location = trace->location[event],
        .kind = trace->op[event] == MR_OP_WRITE ? MR_SYNCP_WRITE : MR_SYNCP_READ,
        .ideal = search->ideals->threads[thread].ideal,
        .open = search->ideals->threads[thread].open,
    };
    new.accessor = mr_syncp_get_accessor(&search->accesses, new.variable, thread);
    if (new.accessor == MR_NONE)
        return false;
    uint32_t number = get_class(&new);
    if (number == MR_NONE)
        return false;
    mr_syncp_class *class = &search->accesses.classes[number];
    uint32_t others = count_others(&new);
    if (class->seen != others) { /* a new class has seen none */
        if (!search_all(&new, others))
            return false;
        class->racy = new.racy;
        class->seen = others;
    }
    class->event = event;
    return !class->racy || mr_race_list_racy(search->list, event, new.location, new.variable);
}
