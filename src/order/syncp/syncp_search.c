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
    mr_u32s_free(&search->fresh);
    free(search->scratch);
    *search = (mr_syncp_search){0};
}

/* Can an access of this kind conflict with the new one? */
static bool concerns(const arrival *new, int kind)
{
    return mr_syncp_kinds_conflict(new->kind, kind);
}

/* Does the new access need the class, by what its thread knows or by a lock that both hold? Nothing else of the class has to be looked at. */
static bool is_needed(const arrival *new, const mr_syncp_class *class)
{
    uint32_t thread = new->search->accesses.accessors[class->accessor].thread;
    return class->step <= new->ideal[thread] / 2 ||
           mr_syncp_common_lock(new->search->ideals, class->open, new->open);
}

/* Step 1 for one kind. */
static bool catch_up(const arrival *new, int kind)
{
    mr_syncp_accesses *accesses = &new->search->accesses;
    mr_syncp_accessor *self = &accesses->accessors[new->accessor];
    uint32_t newest = accesses->variables[new->variable].newest[kind];
    mr_u32s *fresh = &new->search->fresh;
    fresh->count = 0;
    for (uint32_t at = newest; at != self->until[kind]; at = accesses->classes[at].older) {
        const mr_syncp_class *class = &accesses->classes[at];
        if (class->accessor != new->accessor && !is_needed(new, class) && !mr_u32s_push(fresh, at))
            return false;
    }
    self->until[kind] = newest;
    for (size_t i = fresh->count; i-- > 0;)
        if (!mr_syncp_push_live(accesses, new->accessor, fresh->items[i]))
            return false;
    return true;
}

static bool catch_up_all(const arrival *new)
{
    for (int kind = 0; kind < MR_SYNCP_KINDS; kind++)
        if (concerns(new, kind) && !catch_up(new, kind))
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

typedef enum verdict { NO_RACE, RACE, NOT_ASKED, NO_MEMORY } verdict;

static bool is_dead(const mr_syncp_dead *dead, uint32_t step)
{
    return dead && dead->from <= step && step <= dead->to;
}

/* The closure has what is dead of a first thread in steps `from` to `to`. False: no memory. */
static bool note_dead(const arrival *new, uint32_t first, uint32_t from, uint32_t to)
{
    mr_syncp_dead *dead = mr_syncp_get_dead(&new->search->accesses, new->accessor, first);
    if (!dead)
        return false;
    if (from <= dead->to + 1 && dead->from <= to + 1) {
        dead->from = from < dead->from ? from : dead->from;
        dead->to = to > dead->to ? to : dead->to;
    } else {
        *dead = (mr_syncp_dead){from, to};
    }
    return true;
}

/* Is neither the class needed by the new access, nor the new access by the class? */
static verdict ask(const arrival *new, const mr_syncp_class *class)
{
    const mr_syncp_ideals *ideals = new->search->ideals;
    const mr_syncp_accesses *accesses = &new->search->accesses;
    uint32_t *ideal = new->search->scratch;
    uint32_t first = class->accessor, thread = accesses->accessors[first].thread;
    if (is_needed(new, class) ||
        is_dead(mr_syncp_find_dead(accesses, new->accessor, first), class->step))
        return NO_RACE;
    memcpy(ideal, new->ideal, ideals->thread_count * sizeof *ideal);
    mr_syncp_join(ideals, ideal, class->row, thread, class->step - 1);
    if (!mr_syncp_close(ideals, ideal, thread, class->step))
        return is_over(new, class) ? NO_RACE : RACE;
    return note_dead(new, first, class->step, ideal[thread] / 2) ? NO_RACE : NO_MEMORY;
}

/* The latest class of the group that races and whose event is not before `floor`, or with `any` the first that is found; MR_NONE: there
 * is none. Dead classes leave the group. False: no memory. */
static bool search_group(arrival *new, const mr_syncp_site *site, uint32_t floor, bool any,
                         uint32_t *found)
{
    mr_syncp_accesses *accesses = &new->search->accesses;
    mr_syncp_accessor *self = &accesses->accessors[new->accessor];
    *found = MR_NONE;
    if (site->number >= self->group_count || !self->groups[site->number].count)
        return true;
    mr_syncp_group *group = &self->groups[site->number];
    uint32_t i = group->count, kept = i; /* those from `kept` on stay */
    verdict last = NO_RACE;
    while (i > 0 && last != NO_MEMORY && !(any && last == RACE)) {
        uint32_t number = group->classes[--i];
        const mr_syncp_class *class = &accesses->classes[number];
        last = class->event >= floor ? ask(new, class) : NOT_ASKED;
        if (last == RACE) {
            *found = number;
            floor = class->event + 1;
        }
        if (last == NO_RACE)
            self->live[site->kind]--;
        else
            group->classes[--kept] = number;
    }
    memmove(group->classes + i, group->classes + kept, (group->count - kept) * sizeof(uint32_t));
    group->count -= kept - i;
    return last != NO_MEMORY;
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

/* The class races. It is kept as the next guess. */
static void note_race(arrival *new, uint32_t class)
{
    new->racy = true;
    new->search->accesses.accessors[new->accessor].guess[new->kind] = class;
}

/* Step 2 for one first site. */
static bool search_site(arrival *new, uint32_t number)
{
    const mr_syncp_accesses *accesses = &new->search->accesses;
    const mr_syncp_site *site = &accesses->sites[number];
    uint32_t class = MR_NONE;
    if (!search_group(new, site, best_so_far(new, site->location), false, &class))
        return false;
    if (class == MR_NONE)
        return true;
    note_race(new, class);
    return report(new, accesses->classes[class].event);
}

static bool search_open(arrival *new)
{
    const mr_u32s *open = &new->search->accesses.sites[new->site].open;
    for (size_t i = 0; i < open->count; i++)
        if (!search_site(new, open->items[i]))
            return false;
    return true;
}

/* The end of step 3: all groups, until one has a class that races. */
static bool search_groups(arrival *new)
{
    const mr_syncp_accesses *accesses = &new->search->accesses;
    uint32_t number = accesses->variables[new->variable].newest_site;
    if (!catch_up_all(new))
        return false;
    for (; number != MR_NONE && !new->racy; number = accesses->sites[number].older) {
        uint32_t class = MR_NONE;
        if (!concerns(new, accesses->sites[number].kind))
            continue;
        if (!search_group(new, &accesses->sites[number], 0, true, &class))
            return false;
        if (class != MR_NONE)
            note_race(new, class);
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

/* Does the class that raced last race again? False: no memory. */
static bool guess(arrival *new)
{
    mr_syncp_accesses *accesses = &new->search->accesses;
    uint32_t *number = &accesses->accessors[new->accessor].guess[new->kind];
    if (*number == MR_NONE)
        return true;
    verdict answer = ask(new, &accesses->classes[*number]);
    new->racy = answer == RACE;
    if (!new->racy)
        *number = MR_NONE;
    return answer != NO_MEMORY;
}

/* A variable of many threads: does one of the newest classes race? Then the thread need not put all classes of all threads into its
 * groups. */
static bool try_newest(arrival *new)
{
    enum { MANY_ACCESSORS = 64, LOOKS = 64, QUESTIONS = 4 };
    const mr_syncp_accesses *accesses = &new->search->accesses;
    const mr_syncp_variable *variable = &accesses->variables[new->variable];
    unsigned looks = variable->accessor_count > MANY_ACCESSORS ? LOOKS : 0, questions = QUESTIONS;
    verdict answer = NO_RACE;
    for (int kind = 0; kind < MR_SYNCP_KINDS; kind++) {
        uint32_t at = concerns(new, kind) ? variable->newest[kind] : MR_NONE;
        for (; at != MR_NONE && looks && questions; at = accesses->classes[at].older, looks--) {
            const mr_syncp_class *class = &accesses->classes[at];
            if (class->accessor == new->accessor || is_needed(new, class))
                continue;
            questions--;
            answer = ask(new, class);
            if (answer == NO_MEMORY)
                return false;
            if (answer == RACE) {
                note_race(new, at);
                return true;
            }
        }
    }
    return true;
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
        if (!try_newest(new) || (!new->racy && !catch_up_all(new)))
            return false;
        if (!new->racy)
            *seen = others;
    }
    if (*seen == others && !has_live(new))
        return true;
    if (!search_examples(new, others))
        return false;
    if (*seen == others && !has_live(new))
        return true;
    if (!new->racy && !guess(new))
        return false;
    if (!new->racy && !search_groups(new))
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
        .accessor = new->accessor,
    };
    if (item.site == MR_NONE)
        return MR_NONE;
    return mr_syncp_add_class(accesses, new->variable, &item);
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
