#include "sums.h"

#include "base/assert.h"
#include "cone.h"

/* Values beyond this are no counts, and sums of changes stay far from overflow. */
#define MOST_VALUE ((int64_t)1 << 32)

enum {
    MOST_ITEMS = 1 << 14, /* of a counter */
    MOST_PLAIN = 64,      /* plain writes of a counter */
    MOST_STEPS = 8000000, /* of a question: some hundredths of a second */
    STEPS_OF_EFFORT = 64,
    MOST_CHOICES = 64, /* stops, one of each list, that are looked at by themselves */
};

/* ---- the counters of a window ---- */

static bool is_small(const mr_window *w, uint32_t value)
{
    int64_t number = w->trace->values[value];
    return value && -MOST_VALUE <= number && number <= MOST_VALUE;
}

/* Counts the chains of the variable; 0: it is no counter. */
static uint32_t count_chains(const mr_window *w, const mr_window_variable *variable)
{
    uint32_t updates = 0, plain = 0, chains = 0, end = variable->writes_end;
    if (variable->by_source || !variable->shared || end - variable->writes_first > MOST_ITEMS)
        return 0;
    for (uint32_t k = variable->writes_first; k < end; k++) {
        uint32_t event = w->writes[k];
        bool reads = mr_op_reads(mr_window_op(w, event));
        if (!is_small(w, mr_window_written_value(w, event)) ||
            (reads && !is_small(w, mr_window_read_value(w, event))))
            return 0;
        updates += reads;
        plain += !reads;
        chains += w->previous_write[event] == MR_NONE;
        if (plain > MOST_PLAIN)
            return 0;
    }
    return updates > 1 ? chains : 0;
}

static mr_counter_item make_item(const mr_window *w, uint32_t event)
{
    int64_t written = w->trace->values[mr_window_written_value(w, event)];
    bool reads = mr_op_reads(mr_window_op(w, event));
    int64_t read = reads ? w->trace->values[mr_window_read_value(w, event)] : 0;
    return (mr_counter_item){.event = event, .plain = !reads, .change = written - read};
}

/* Adds the variable. `item_of`: scratch, one an event. */
static void add_counter(mr_counters *counters, uint32_t variable, uint32_t *chain, uint32_t *item,
                        uint32_t *item_of)
{
    const mr_window *w = counters->window;
    const mr_window_variable *v = &w->variables[variable];
    mr_counter *counter = &counters->counters[counters->count++];
    *counter = (mr_counter){.variable = variable, .chains_first = *chain, .items_first = *item};
    for (uint32_t k = v->writes_first; k < v->writes_end; k++) {
        uint32_t event = w->writes[k];
        if (w->previous_write[event] != MR_NONE)
            continue;
        mr_counter_chain *own = &counters->chains[(*chain)++];
        *own = (mr_counter_chain){.thread = w->thread[event], .first = *item};
        for (; event != MR_NONE; event = w->next_write[event]) {
            item_of[event] = *item;
            counters->items[(*item)++] = make_item(w, event);
        }
        own->end = *item;
    }
    counter->chains_end = *chain;
    counter->items_end = *item;
    for (uint32_t k = v->writes_first; k < v->writes_end; k++)
        counters->in_order[counter->items_first + k - v->writes_first] = item_of[w->writes[k]];
    MR_ASSERT(*item - counter->items_first == v->writes_end - v->writes_first);
}

bool mr_counters_build(mr_counters *counters, const mr_window *window, mr_arena *arena)
{
    uint32_t count = 0, items = 0, chains = 0;
    *counters = (mr_counters){.window = window};
    if (window->model != MR_MODEL_VALUE)
        return true;
    for (uint32_t v = 0; v < window->variable_count; v++) {
        const mr_window_variable *variable = &window->variables[v];
        uint32_t own = count_chains(window, variable),
                 writes = variable->writes_end - variable->writes_first;
        if (!own)
            continue;
        count++;
        chains += own;
        items += writes;
        counters->most_items = writes > counters->most_items ? writes : counters->most_items;
        counters->most_chains = own > counters->most_chains ? own : counters->most_chains;
    }
    if (!count)
        return true;
    counters->counters = mr_arena_alloc(arena, count, sizeof *counters->counters);
    counters->chains = mr_arena_alloc(arena, chains, sizeof *counters->chains);
    counters->items = mr_arena_alloc(arena, items, sizeof *counters->items);
    counters->in_order = mr_arena_alloc(arena, items, sizeof *counters->in_order);
    mr_arena_mark mark = mr_arena_get_mark(arena);
    uint32_t *item_of = mr_arena_alloc(arena, window->size, sizeof *item_of);
    if (!counters->counters || !counters->chains || !counters->items || !counters->in_order ||
        !item_of)
        return false;
    uint32_t chain = 0, item = 0;
    for (uint32_t v = 0; v < window->variable_count; v++)
        if (count_chains(window, &window->variables[v]))
            add_counter(counters, v, &chain, &item, item_of);
    mr_arena_release(arena, mark);
    return true;
}

/* ---- one update of a counter ---- */

typedef enum item_state {
    OUT,   /* not among the updates before m since the base */
    FIXED, /* certainly among them */
    FREE,
} item_state;

/* An update m of a counter, about which the proof is. */
typedef struct sum {
    const mr_counters *all;
    const mr_counter *counter;
    const mr_precedence *precedence;
    const uint32_t *required, *allowed;
    uint64_t *steps;
    /* Scratch, one an item of the counter: what it is; what is left of a giver; and where nothing is left, a number such that the
     * items of the chain from this one up to the item have nothing left. */
    item_state *state;
    int64_t *left;
    uint32_t *end;
    uint32_t *givers; /* scratch: the chains that have some */
    uint32_t giver_count;

    uint32_t m;    /* event */
    uint32_t base; /* event of the last plain write before m; MR_NONE: there is none */
    int64_t value; /* of the base, or carried in */
    bool last;     /* no write comes after m */
} sum;

static bool is_in(const mr_window *w, const uint32_t *prefix, uint32_t event)
{
    return w->position[event] < prefix[w->thread[event]];
}

static bool precedes(const sum *s, uint32_t event, uint32_t of)
{
    return event == of || mr_precedes(s->precedence, event, of);
}

/* Finds the base. False: it is not certain which one it is. */
static bool find_base(sum *s)
{
    const mr_window *w = s->all->window;
    const mr_counter *c = s->counter;
    uint32_t carried = w->variables[c->variable].carried_value;
    s->base = MR_NONE;
    *s->steps += c->items_end - c->items_first;
    for (uint32_t i = c->items_first; i < c->items_end; i++) {
        const mr_counter_item *item = &s->all->items[i];
        if (item->plain && precedes(s, item->event, s->m) &&
            (s->base == MR_NONE || item->event > s->base)) {
            s->base = item->event;
            s->value = item->change;
        }
    }
    if (s->base == MR_NONE && !is_small(w, carried))
        return false;
    if (s->base == MR_NONE)
        s->value = w->trace->values[carried];
    for (uint32_t i = c->items_first; i < c->items_end; i++) {
        const mr_counter_item *item = &s->all->items[i];
        if (!is_in(w, s->allowed, item->event) || precedes(s, s->m, item->event))
            continue;
        bool before = s->base != MR_NONE && precedes(s, item->event, s->base),
             after = !item->plain && (s->base == MR_NONE || precedes(s, s->base, item->event));
        if (!before && !after)
            return false;
    }
    return true;
}

/* Is m the last write of each witness? */
static bool is_last(const sum *s)
{
    const mr_window *w = s->all->window;
    const mr_counter *c = s->counter;
    uint32_t written = mr_window_written_value(w, s->m);
    *s->steps += c->items_end - c->items_first;
    for (uint32_t i = c->items_first; i < c->items_end; i++) {
        const mr_counter_item *item = &s->all->items[i];
        if (!is_in(w, s->allowed, item->event) || precedes(s, item->event, s->m))
            continue;
        if (item->plain || mr_window_read_value(w, item->event) == written)
            return false;
    }
    return true;
}

static item_state state_of(const sum *s, uint32_t event)
{
    const mr_window *w = s->all->window;
    if (event == s->m || !is_in(w, s->allowed, event) ||
        (s->base != MR_NONE && precedes(s, event, s->base)))
        return OUT;
    if (precedes(s, event, s->m) || (s->last && is_in(w, s->required, event)))
        return FIXED;
    return precedes(s, s->m, event) ? OUT : FREE;
}

/* How many items of a chain, of the first on, are in before(of). */
static uint32_t items_before(const sum *s, const mr_counter_chain *chain, uint32_t of)
{
    const mr_window *w = s->all->window;
    uint32_t own = w->thread[of], low = chain->first, high = chain->end;
    uint32_t count = own == chain->thread
                         ? w->position[of]
                         : mr_precedence_count(w, s->precedence->clock[of], own, chain->thread);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        ++*s->steps;
        if (w->position[s->all->items[middle].event] < count)
            low = middle + 1;
        else
            high = middle;
    }
    return low - chain->first;
}

/* The latest of the first `count` items of a chain that has something left; MR_NONE: none has. */
static uint32_t latest_giver(sum *s, const mr_counter_chain *chain, uint32_t count)
{
    uint32_t first = s->counter->items_first, end = chain->first + count, found = end;
    while (found > chain->first && !s->left[found - 1 - first]) {
        ++*s->steps;
        found = s->end[found - 1 - first];
    }
    while (end > found) { /* shortens the way of the next one */
        uint32_t next = s->end[end - 1 - first];
        s->end[end - 1 - first] = found;
        end = next;
    }
    return found > chain->first ? found - 1 : MR_NONE;
}

/* Gives the item what its before(u) has left. What it is not given. */
static int64_t give(sum *s, const mr_counter_item *taker)
{
    int64_t need = taker->change < 0 ? -taker->change : taker->change;
    while (need) {
        uint32_t best = MR_NONE;
        for (uint32_t g = 0; g < s->giver_count; g++) {
            const mr_counter_chain *chain = &s->all->chains[s->givers[g]];
            uint32_t item = latest_giver(s, chain, items_before(s, chain, taker->event));
            if (item != MR_NONE &&
                (best == MR_NONE || s->all->items[item].event > s->all->items[best].event))
                best = item;
        }
        if (best == MR_NONE)
            break;
        int64_t *left = &s->left[best - s->counter->items_first];
        int64_t given = *left < need ? *left : need;
        *left -= given;
        need -= given;
    }
    return need;
}

/* Lists the givers: free updates of the other sign. */
static void find_givers(sum *s, bool down)
{
    const mr_counter *c = s->counter;
    s->giver_count = 0;
    for (uint32_t k = c->chains_first; k < c->chains_end; k++) {
        const mr_counter_chain *chain = &s->all->chains[k];
        bool some = false;
        for (uint32_t i = chain->first; i < chain->end; i++) {
            int64_t change = s->all->items[i].change;
            bool gives = s->state[i - c->items_first] == FREE && (down ? change > 0 : change < 0);
            s->left[i - c->items_first] = !gives ? 0 : down ? change : -change;
            s->end[i - c->items_first] = i;
            some |= gives;
        }
        if (some)
            s->givers[s->giver_count++] = k;
    }
}

/* Can the free updates not change the sum by so much? */
static bool is_out_of_reach(sum *s, int64_t difference)
{
    const mr_counter *c = s->counter;
    bool down = difference < 0;
    int64_t reached = 0, wanted = down ? -difference : difference;
    find_givers(s, down);
    for (uint32_t k = c->items_first; k < c->items_end && reached < wanted; k++) {
        const mr_counter_item *item = &s->all->items[s->all->in_order[k]];
        bool takes = down ? item->change < 0 : item->change > 0;
        if (s->state[s->all->in_order[k] - c->items_first] == FREE && takes)
            reached += give(s, item);
        if (*s->steps > MOST_STEPS)
            return false;
    }
    return reached < wanted;
}

/* Is it certain that no witness has m? */
static bool is_impossible(sum *s)
{
    const mr_window *w = s->all->window;
    const mr_counter *c = s->counter;
    if (!find_base(s))
        return false;
    s->last = is_last(s);
    int64_t total = s->value;
    *s->steps += c->items_end - c->items_first;
    for (uint32_t i = c->items_first; i < c->items_end; i++) {
        const mr_counter_item *item = &s->all->items[i];
        item_state state = state_of(s, item->event);
        s->state[i - c->items_first] = state;
        if (state != FIXED)
            continue;
        if (precedes(s, s->m, item->event))
            return true; /* it is required, and m is the last one */
        total += item->change;
    }
    int64_t difference = w->trace->values[mr_window_read_value(w, s->m)] - total;
    return difference && is_out_of_reach(s, difference);
}

/* ---- a question ---- */

/* Scratch of a question with one stop of each list. */
typedef struct sum_bounds {
    mr_stops *stops;
    uint32_t *required, *allowed;
} sum_bounds;

/* The item after those of the chain that are in a prefix. */
static uint32_t items_in(const sum *s, const mr_counter_chain *chain, const uint32_t *prefix)
{
    uint32_t low = chain->first, high = chain->end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (is_in(s->all->window, prefix, s->all->items[middle].event))
            low = middle + 1;
        else
            high = middle;
    }
    ++*s->steps;
    return low;
}

/* Are some of its updates in L and some others in U? If all or none are, there is hardly a proof. */
static bool is_open(const sum *s)
{
    const mr_counter *c = s->counter;
    bool some = false, others = false;
    for (uint32_t k = c->chains_first; k < c->chains_end && !(some && others); k++) {
        const mr_counter_chain *chain = &s->all->chains[k];
        uint32_t required = items_in(s, chain, s->required);
        some |= required > chain->first;
        others |= required < chain->end && required < items_in(s, chain, s->allowed);
    }
    return some && others;
}

static bool refute_counter(sum *s)
{
    const mr_counter *c = s->counter;
    if (!is_open(s))
        return false;
    for (uint32_t k = c->chains_first; k < c->chains_end && *s->steps <= MOST_STEPS; k++) {
        const mr_counter_chain *chain = &s->all->chains[k];
        uint32_t end = items_in(s, chain, s->required);
        if (end == chain->first || s->all->items[end - 1].plain)
            continue;
        s->m = s->all->items[end - 1].event;
        if (is_impossible(s))
            return true;
    }
    return false;
}

static bool refute(sum *s)
{
    for (uint32_t c = 0; c < s->all->count && *s->steps <= MOST_STEPS; c++) {
        s->counter = &s->all->counters[c];
        if (refute_counter(s))
            return true;
    }
    return false;
}

/* The question with one stop of each list, of which `choice` is the number. False: it may have a witness. */
static bool refute_choice(sum *s, const mr_goal *goal, uint64_t choice, const sum_bounds *bounds)
{
    const uint32_t *required = s->required, *allowed = s->allowed;
    uint32_t threads = s->all->window->thread_count;
    mr_goal one = *goal;
    one.stops = bounds->stops;
    for (uint32_t i = 0; i < goal->stop_count; i++) {
        one.stops[i] =
            (mr_stops){.events = &goal->stops[i].events[choice % goal->stops[i].count], .count = 1};
        choice /= goal->stops[i].count;
    }
    *s->steps += threads;
    if (!mr_cone_required(s->precedence, &one, bounds->required))
        return true;
    mr_cone_allowed(s->precedence, &one, bounds->allowed);
    for (uint32_t t = 0; t < threads; t++) {
        if (required[t] > bounds->required[t])
            bounds->required[t] = required[t];
        if (allowed[t] < bounds->allowed[t])
            bounds->allowed[t] = allowed[t];
    }
    s->required = bounds->required;
    s->allowed = bounds->allowed;
    bool refuted = refute(s);
    s->required = required;
    s->allowed = allowed;
    return refuted;
}

/* One stop of each list after another. */
static bool refute_choices(sum *s, const mr_goal *goal, mr_arena *arena)
{
    uint32_t threads = s->all->window->thread_count;
    uint64_t choices = 1;
    for (uint32_t i = 0; i < goal->stop_count && choices <= MOST_CHOICES; i++)
        choices *= goal->stops[i].count;
    if (choices < 2 || choices > MOST_CHOICES)
        return false;
    const sum_bounds bounds = {.stops =
                                   mr_arena_alloc(arena, goal->stop_count, sizeof *bounds.stops),
                               .required = mr_arena_alloc(arena, threads, sizeof *bounds.required),
                               .allowed = mr_arena_alloc(arena, threads, sizeof *bounds.allowed)};
    if (!bounds.stops || !bounds.required || !bounds.allowed)
        return false;
    for (uint64_t choice = 0; choice < choices; choice++)
        if (!refute_choice(s, goal, choice, &bounds))
            return false;
    return true;
}

bool mr_sums_refute(const mr_counters *counters, const mr_precedence *precedence,
                    const mr_goal *goal, const uint32_t *required, const uint32_t *allowed,
                    uint64_t *effort, mr_arena *arena)
{
    uint64_t steps = 0;
    if (!counters->count)
        return false;
    mr_arena_mark mark = mr_arena_get_mark(arena);
    sum s = {.all = counters,
             .precedence = precedence,
             .required = required,
             .allowed = allowed,
             .steps = &steps,
             .state = mr_arena_alloc(arena, counters->most_items, sizeof *s.state),
             .left = mr_arena_alloc(arena, counters->most_items, sizeof *s.left),
             .end = mr_arena_alloc(arena, counters->most_items, sizeof *s.end),
             .givers = mr_arena_alloc(arena, counters->most_chains, sizeof *s.givers)};
    bool refuted =
        s.state && s.left && s.end && s.givers && (refute(&s) || refute_choices(&s, goal, arena));
    mr_arena_release(arena, mark);
    *effort += steps / STEPS_OF_EFFORT;
    return refuted;
}
