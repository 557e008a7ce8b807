#include "syncp_search.h"

#include "base/assert.h"
#include "syncp_pass.h"

#include <stdlib.h>
#include <string.h>

/* The second access that is looked at. */
typedef struct arrival {
    mr_syncp_search *search;
    uint32_t event, thread, variable, location, accessor, site;
    int kind;
    const uint32_t *ideal; /* what the thread needs before it */
    uint32_t open;         /* the sections that it is in */
    bool racy;
} arrival;

bool mr_syncp_search_init(mr_syncp_search *search, const mr_trace *trace,
                          const mr_syncp_ideals *ideals, const mr_wanted *wanted,
                          mr_race_list *list)
{
    *search = (mr_syncp_search){.trace = trace, .ideals = ideals, .wanted = wanted, .list = list};
    search->scratch = mr_calloc(trace->chain_count, sizeof *search->scratch);
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
    return mr_syncp_kinds_conflict(new->kind, kind);
}

static uint32_t known_steps(const arrival *new, const mr_syncp_accessor *other)
{
    return new->ideal[other->thread] / 2;
}

/* Step 1 for one accessor and kind. */
static bool catch_up(const arrival *new, uint32_t first, mr_syncp_rival *rival, int kind)
{
    mr_syncp_accesses *accesses = &new->search->accesses;
    const mr_syncp_accessor *other = &accesses->accessors[first];
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
            !mr_syncp_push_live(accesses, new->accessor, rival, first, at))
            return false;
    }
    return true;
}

/* Step 1 for one accessor. NULL: no memory. */
static mr_syncp_rival *get_rival(const arrival *new, uint32_t first)
{
    mr_syncp_accesses *accesses = &new->search->accesses;
    mr_syncp_rival *rival =
        mr_syncp_get_rival(accesses, new->accessor, accesses->accessors[first].number);
    for (int kind = 0; rival && kind < MR_SYNCP_KINDS; kind++)
        if (concerns(new, kind) && !catch_up(new, first, rival, kind))
            return NULL;
    return rival;
}

/* Has the accessor an access that can conflict with the new one? */
static bool is_rival(const arrival *new, uint32_t first)
{
    const mr_syncp_accessor *other = &new->search->accesses.accessors[first];
    bool is_one = false;
    for (int kind = 0; kind < MR_SYNCP_KINDS; kind++)
        is_one |= concerns(new, kind) && other->last[kind] != MR_NONE;
    return is_one && first != new->accessor;
}

static bool catch_up_all(const arrival *new)
{
    const mr_syncp_accesses *accesses = &new->search->accesses;
    uint32_t number = accesses->variables[new->variable].first_accessor;
    for (; number != MR_NONE; number = accesses->accessors[number].next)
        if (is_rival(new, number) && !get_rival(new, number))
            return false;
    return true;
}

/* Rule 7: is the first access before the free of the object, while the closure in `scratch` has that
 * free? */
static bool is_over(const arrival *new, const mr_syncp_class *class)
{
    const mr_syncp_variable *variable = &new->search->accesses.variables[new->variable];
    if (variable->freed == MR_NONE || class->event >= variable->freed ||
        variable->freed == new->event)
        return false;
    uint32_t thread = mr_syncp_thread_of(new->search->trace, variable->freed);
    return thread == new->thread || new->search->scratch[thread] / 2 >= variable->freed_step;
}

/* Is neither the class needed by the new access, nor the new access by the class? */
static bool races(const arrival *new, uint32_t thread, const mr_syncp_class *class,
                  mr_syncp_rival *rival)
{
    const mr_syncp_ideals *ideals = new->search->ideals;
    uint32_t *ideal = new->search->scratch;
    memcpy(ideal, new->ideal, ideals->thread_count * sizeof *ideal);
    mr_syncp_join(ideals, ideal, class->row, thread, class->step - 1);
    if (!mr_syncp_close(ideals, ideal, thread, class->step))
        return !is_over(new, class);
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

/* The latest class of the group that races and whose event is not before `floor`; MR_NONE: there is
 * none. Dead classes leave the group. */
static uint32_t search_group(const arrival *new, mr_syncp_group *group, uint32_t floor)
{
    mr_syncp_accesses *accesses = &new->search->accesses;
    mr_syncp_accessor *self = &accesses->accessors[new->accessor];
    const mr_syncp_accessor *other = &accesses->accessors[group->first];
    mr_syncp_rival *rival = &self->rivals[other->number];
    uint32_t *live = &self->live[accesses->sites[group->site].kind];
    mr_u32s *list = &group->classes;
    while (list->count > group->head) {
        uint32_t number = list->items[list->count - 1];
        const mr_syncp_class *class = &accesses->classes[number];
        if (class->step <= known_steps(new, other)) {
            MR_ASSERT(*live >= list->count - group->head);
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
    MR_ASSERT(mr_events_conflict(trace, first, new->event));
    mr_race_example pair = {
        .variable = new->variable,
        .first = {first, trace->thread[first], trace->location[first], trace->op[first]},
        .second = {new->event, trace->thread[new->event], new->location, trace->op[new->event]},
    };
    return mr_race_list_add(new->search->list, &pair);
}

/* `class` is what the search of the group gave. False: it found none that races. Otherwise the
 * class is kept as the next guess. */
static bool found_in(arrival *new, const mr_syncp_group *group, uint32_t class)
{
    mr_syncp_accessor *self = &new->search->accesses.accessors[new->accessor];
    if (class == MR_NONE)
        return false;
    new->racy = true;
    self->guess[new->kind] = class;
    self->guess_first[new->kind] = group->first;
    return true;
}

/* Step 2 for one first site. */
static bool search_site(arrival *new, uint32_t number)
{
    mr_syncp_accesses *accesses = &new->search->accesses;
    const mr_syncp_site *site = &accesses->sites[number];
    const mr_u32s *groups = &accesses->accessors[new->accessor].groups;
    if (site->number >= groups->count)
        return true;
    for (uint32_t at = groups->items[site->number]; at != MR_NONE;) {
        mr_syncp_group *group = &accesses->groups[at];
        uint32_t class = search_group(new, group, best_so_far(new, site->location));
        if (found_in(new, group, class) && !report(new, accesses->classes[class].event))
            return false;
        at = group->next_of_site;
    }
    return true;
}

static bool search_open(arrival *new)
{
    const mr_u32s *open = &new->search->accesses.sites[new->site].open;
    for (size_t i = 0; i < open->count; i++)
        if (!search_site(new, open->items[i]))
            return false;
    return true;
}

/* The end of step 3: step 1 for each rival in turn, until one has a class that races. */
static bool search_rivals(arrival *new)
{
    mr_syncp_accesses *accesses = &new->search->accesses;
    uint32_t number = accesses->variables[new->variable].first_accessor;
    for (; number != MR_NONE; number = accesses->accessors[number].next) {
        if (!is_rival(new, number))
            continue;
        const mr_syncp_rival *rival = get_rival(new, number);
        if (!rival)
            return false;
        for (uint32_t at = rival->first_group; at != MR_NONE;) {
            mr_syncp_group *group = &accesses->groups[at];
            if (concerns(new, accesses->sites[group->site].kind) &&
                found_in(new, group, search_group(new, group, 0)))
                return true;
            at = group->next_of_rival;
        }
    }
    return true;
}

/* Updates the list of first sites of which an example is still wanted. */
static bool update_open(const arrival *new)
{
    const mr_syncp_accesses *accesses = &new->search->accesses;
    mr_syncp_site *site = &accesses->sites[new->site];
    uint32_t newest = accesses->variables[new->variable].newest_site;
    for (uint32_t other = newest; other != site->open_until; other = accesses->sites[other].older)
        if (concerns(new, accesses->sites[other].kind) &&
            mr_wanted_pair(new->search->wanted, accesses->sites[other].location, new->location) &&
            !mr_u32s_push(&site->open, other))
            return false;
    site->open_until = newest;
    size_t kept = 0;
    for (size_t i = 0; i < site->open.count; i++) {
        uint32_t other = site->open.items[i];
        if (!mr_race_list_settled(new->search->list, accesses->sites[other].location, new->location,
                                  new->event))
            site->open.items[kept++] = other;
    }
    site->open.count = kept;
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
    const mr_syncp_accessor *other = &accesses->accessors[self->guess_first[new->kind]];
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
    for (int kind = 0; kind < MR_SYNCP_KINDS; kind++)
        if (self->live[kind] && concerns(new, kind))
            return true;
    return false;
}

/* Step 2. `others`: the first classes that there are. */
static bool search_examples(arrival *new, uint32_t others)
{
    uint32_t *seen = &new->search->accesses.accessors[new->accessor].seen[new->kind];
    if (!update_open(new))
        return false;
    if (new->search->accesses.sites[new->site].open.count == 0)
        return true;
    if (*seen != others && !catch_up_all(new))
        return false;
    *seen = others;
    return !has_live(new) || search_open(new);
}

/* `others`: the first classes that there are. */
static bool search_all(arrival *new, uint32_t others)
{
    mr_syncp_accessor *self = &new->search->accesses.accessors[new->accessor];
    uint32_t *seen = &self->seen[new->kind];
    if (*seen != others && self->guess[new->kind] == MR_NONE) {
        /* Nothing has raced yet. Most likely all classes are dead, and this ends the search. */
        if (!catch_up_all(new))
            return false;
        *seen = others;
    }
    if (*seen == others && !has_live(new))
        return true;
    if (!search_examples(new, others))
        return false;
    if (*seen == others && !has_live(new))
        return true;
    if (!new->racy)
        new->racy = guess(new);
    if (!new->racy && !search_rivals(new))
        return false;
    if (!new->racy)
        *seen = others;
    return true;
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
    uint32_t freed = accesses->variables[new->variable].freed;
    uint32_t class =
        mr_syncp_find_class(accesses, new->accessor, new->kind, step, new->location, freed);
    if (class != MR_NONE)
        return class;
    mr_syncp_class item = {
        .step = step,
        .site = mr_syncp_get_site(accesses, new->variable, new->kind, new->location),
        .row = new->search->ideals->threads[new->thread].row,
        .open = new->open,
    };
    if (item.site == MR_NONE)
        return MR_NONE;
    return mr_syncp_add_class(accesses, new->variable, new->accessor, &item);
}

bool mr_syncp_search_access(void *context, uint32_t event, uint32_t variable)
{
    mr_syncp_search *search = context;
    const mr_trace *trace = search->trace;
    uint32_t thread = mr_syncp_thread_of(trace, event);
    arrival new = {
        .search = search,
        .event = event,
        .thread = thread,
        .variable = variable,
        .location = trace->location[event],
        .kind = mr_syncp_kind_of(trace->op[event]),
        .ideal = search->ideals->threads[thread].ideal,
        .open = search->ideals->threads[thread].open,
    };
    new.accessor = mr_syncp_get_accessor(&search->accesses, new.variable, thread);
    if (new.accessor == MR_NONE)
        return false;
    if (mr_op_ends_life(trace->op[event])) {
        mr_syncp_variable *freed = &search->accesses.variables[variable];
        freed->freed = event;
        freed->freed_step = mr_syncp_step_now(search->ideals, thread);
    }
    uint32_t number = get_class(&new);
    if (number == MR_NONE)
        return false;
    mr_syncp_class *class = &search->accesses.classes[number];
    uint32_t others = count_others(&new);
    new.site = class->site;
    if (class->seen != others) { /* a new class has seen none */
        if (!(search->wanted ? search_examples(&new, others) : search_all(&new, others)))
            return false;
        class->racy = new.racy;
        class->seen = others;
    }
    class->event = event;
    return !class->racy || mr_race_list_racy(search->list, event, new.location, new.variable);
}
