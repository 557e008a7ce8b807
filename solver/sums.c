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

/* `before`: the item before it in its chain, or NULL. */
static mr_counter_item make_item(const mr_window *w, uint32_t event, const mr_counter_item *before)
{
    int64_t written = w->trace->values[mr_window_written_value(w, event)];
    bool reads = mr_op_reads(mr_window_op(w, event));
    uint32_t read = reads ? mr_window_read_value(w, event) : MR_NONE;
    mr_counter_item item = {.event = event,
                            .read = read,
                            .plain = !reads,
                            .change = reads ? written - w->trace->values[read] : written,
                            .ups = before ? before->ups : 0,
                            .downs = before ? before->downs : 0,
                            .plains = before ? before->plains : 0};
    if (!reads)
        item.plains++;
    else if (item.change > 0)
        item.ups += item.change;
    else
        item.downs -= item.change;
    return item;
}

/* Adds the variable. `item_of`: scratch, one an event. */
static void add_counter(mr_counters *counters, uint32_t variable, uint32_t *chain, uint32_t *item,
                        uint32_t *plain, uint32_t *item_of)
{
    const mr_window *w = counters->window;
    const mr_window_variable *v = &w->variables[variable];
    mr_counter *counter = &counters->counters[counters->count++];
    *counter = (mr_counter){
        .variable = variable, .chains_first = *chain, .items_first = *item, .plains_first = *plain};
    for (uint32_t k = v->writes_first; k < v->writes_end; k++) {
        uint32_t event = w->writes[k];
        if (w->previous_write[event] != MR_NONE)
            continue;
        mr_counter_chain *own = &counters->chains[(*chain)++];
        *own = (mr_counter_chain){.thread = w->thread[event], .first = *item};
        for (; event != MR_NONE; event = w->next_write[event]) {
            const mr_counter_item *before = *item > own->first ? &counters->items[*item - 1] : NULL;
            counters->items[*item] = make_item(w, event, before);
            if (counters->items[*item].plain)
                counters->plains[(*plain)++] = *item;
            item_of[event] = (*item)++;
        }
        own->end = *item;
    }
    counter->chains_end = *chain;
    counter->items_end = *item;
    counter->plains_end = *plain;
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
    counters->plains = mr_arena_alloc(arena, items, sizeof *counters->plains);
    mr_arena_mark mark = mr_arena_get_mark(arena);
    uint32_t *item_of = mr_arena_alloc(arena, window->size, sizeof *item_of);
    if (!counters->counters || !counters->chains || !counters->items || !counters->in_order ||
        !counters->plains || !item_of)
        return false;
    uint32_t chain = 0, item = 0, plain = 0;
    for (uint32_t v = 0; v < window->variable_count; v++)
        if (count_chains(window, &window->variables[v]))
            add_counter(counters, v, &chain, &item, &plain, item_of);
    mr_arena_release(arena, mark);
    return true;
}

/* ---- one update of a counter ---- */

/* What the items of a chain are, up to which one: each kind is a stretch of the chain, as before(e) is a prefix of it. */
typedef struct chain_state {
    uint32_t required, allowed; /* the ends of those in L and in U */
    /* Up to which the base, or m, comes after them or is one itself: of those before m, m is none. */
    uint32_t to_base, before_m;
    uint32_t fixed;    /* those from to_base on are certainly between base and m */
    uint32_t free_end; /* those after fixed may be */
} chain_state;

/* An update m of a counter, about which the proof is. */
typedef struct sum {
    const mr_counters *all;
    const mr_counter *counter;
    const mr_precedence *precedence;
    const uint32_t *required, *allowed;
    uint64_t *steps;
    chain_state *chains; /* scratch, one a chain of the counter */
    /* Scratch, one an item of the counter: is it free? What is left of a giver; and where nothing is left, a number such that the
     * items of the chain from this one up to the item have nothing left. */
    bool *free;
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

/* The first item from `low` up to `high` that is the event, or that comes after it. */
static uint32_t first_after(const sum *s, uint32_t low, uint32_t high, uint32_t event)
{
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        ++*s->steps;
        if (precedes(s, event, s->all->items[middle].event))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* How much the items of the chain up to `end` count up (or down). */
static int64_t counted(const sum *s, const mr_counter_chain *chain, uint32_t end, bool down)
{
    const mr_counter_item *last = end > chain->first ? &s->all->items[end - 1] : NULL;
    return !last ? 0 : down ? last->downs : last->ups;
}

/* How much those from `first` up to `end` do; 0: there are none. */
static int64_t counted_from(const sum *s, const mr_counter_chain *chain, uint32_t first,
                            uint32_t end, bool down)
{
    return first < end ? counted(s, chain, end, down) - counted(s, chain, first, down) : 0;
}

static bool has_plain(const sum *s, const mr_counter_chain *chain, uint32_t first, uint32_t end)
{
    uint32_t before = first > chain->first ? s->all->items[first - 1].plains : 0;
    return first < end && s->all->items[end - 1].plains > before;
}

/* The last plain write before m. False: there is none, and what is carried in is no count. */
static bool find_base(sum *s)
{
    const mr_window *w = s->all->window;
    const mr_counter *c = s->counter;
    uint32_t carried = w->variables[c->variable].carried_value;
    s->base = MR_NONE;
    *s->steps += c->plains_end - c->plains_first;
    for (uint32_t i = c->plains_first; i < c->plains_end; i++) {
        const mr_counter_item *item = &s->all->items[s->all->plains[i]];
        if (precedes(s, item->event, s->m) && (s->base == MR_NONE || item->event > s->base)) {
            s->base = item->event;
            s->value = item->change;
        }
    }
    if (s->base == MR_NONE && !is_small(w, carried))
        return false;
    if (s->base == MR_NONE)
        s->value = w->trace->values[carried];
    return true;
}

/* Where the base and m stand in each chain. */
static void find_places(sum *s)
{
    const mr_window *w = s->all->window;
    const mr_counter *c = s->counter;
    for (uint32_t k = c->chains_first; k < c->chains_end; k++) {
        const mr_counter_chain *chain = &s->all->chains[k];
        chain_state *state = &s->chains[k - c->chains_first];
        state->before_m = chain->first + items_before(s, chain, s->m);
        state->to_base = chain->first;
        if (s->base != MR_NONE)
            state->to_base +=
                items_before(s, chain, s->base) + (w->thread[s->base] == chain->thread);
    }
}

/* Is m the last write of each witness? */
static bool is_last(const sum *s)
{
    const mr_window *w = s->all->window;
    const mr_counter *c = s->counter;
    uint32_t written = mr_window_written_value(w, s->m);
    for (uint32_t k = c->chains_first; k < c->chains_end; k++) {
        const mr_counter_chain *chain = &s->all->chains[k];
        const chain_state *state = &s->chains[k - c->chains_first];
        uint32_t first = state->before_m + (w->thread[s->m] == chain->thread);
        if (has_plain(s, chain, first, state->allowed))
            return false;
        for (uint32_t i = first; i < state->allowed; i++, ++*s->steps)
            if (s->all->items[i].read == written)
                return false;
    }
    return true;
}

/* Finds the fixed items of each chain, and the sum that m reads with these alone. False: a required update comes after m,
 * which is the last one. */
static bool add_fixed(sum *s, int64_t *total)
{
    const mr_window *w = s->all->window;
    const mr_counter *c = s->counter;
    *total = s->value;
    for (uint32_t k = c->chains_first; k < c->chains_end; k++) {
        const mr_counter_chain *chain = &s->all->chains[k];
        chain_state *state = &s->chains[k - c->chains_first];
        uint32_t fixed = state->before_m;
        if (s->last && w->thread[s->m] != chain->thread && state->required > fixed)
            fixed = state->required;
        state->fixed = fixed < state->allowed ? fixed : state->allowed;
        if (state->fixed > state->to_base && state->fixed > state->before_m &&
            precedes(s, s->m, s->all->items[state->fixed - 1].event))
            return false;
        *total += counted_from(s, chain, state->to_base, state->fixed, false) -
                  counted_from(s, chain, state->to_base, state->fixed, true);
    }
    return true;
}

/* Finds where the items end that m does not come before. False: it is not certain that m has the base. */
static bool find_free(sum *s)
{
    const mr_counter *c = s->counter;
    for (uint32_t k = c->chains_first; k < c->chains_end; k++) {
        const mr_counter_chain *chain = &s->all->chains[k];
        chain_state *state = &s->chains[k - c->chains_first];
        uint32_t first = state->before_m < state->allowed ? state->before_m : state->allowed;
        uint32_t end = state->free_end = first_after(s, first, state->allowed, s->m);
        if (has_plain(s, chain, state->to_base, end))
            return false;
        if (s->base != MR_NONE && state->to_base < end &&
            !precedes(s, s->base, s->all->items[state->to_base].event))
            return false;
    }
    return true;
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

/* Says of each item whether it is free, and lists the givers: free updates of the other sign. */
static void find_givers(sum *s, bool down)
{
    const mr_counter *c = s->counter;
    s->giver_count = 0;
    for (uint32_t k = c->chains_first; k < c->chains_end; k++) {
        const mr_counter_chain *chain = &s->all->chains[k];
        const chain_state *state = &s->chains[k - c->chains_first];
        bool some = false;
        for (uint32_t i = chain->first; i < chain->end; i++) {
            int64_t change = s->all->items[i].change;
            bool is_free = i >= state->to_base && i >= state->fixed && i < state->free_end;
            bool gives = is_free && (down ? change > 0 : change < 0);
            s->free[i - c->items_first] = is_free;
            s->left[i - c->items_first] = !gives ? 0 : down ? change : -change;
            s->end[i - c->items_first] = i;
            some |= gives;
        }
        if (some)
            s->givers[s->giver_count++] = k;
    }
}

/* How far the free updates count up (or down) together. */
static int64_t count_free(const sum *s, bool down)
{
    const mr_counter *c = s->counter;
    int64_t counts = 0;
    for (uint32_t k = c->chains_first; k < c->chains_end; k++) {
        const chain_state *state = &s->chains[k - c->chains_first];
        uint32_t first = state->to_base > state->fixed ? state->to_base : state->fixed;
        counts += counted_from(s, &s->all->chains[k], first, state->free_end, down);
    }
    return counts;
}

/* Can the free updates not change the sum by so much? */
static bool is_out_of_reach(sum *s, int64_t difference)
{
    const mr_counter *c = s->counter;
    bool down = difference < 0;
    int64_t reached = 0, wanted = down ? -difference : difference;
    int64_t takers = count_free(s, down);
    if (takers < wanted || takers - count_free(s, !down) >= wanted)
        return takers < wanted; /* whatever the partners are */
    *s->steps += 2 * (uint64_t)(c->items_end - c->items_first);
    find_givers(s, down);
    for (uint32_t k = c->items_first; k < c->items_end && reached < wanted; k++) {
        const mr_counter_item *item = &s->all->items[s->all->in_order[k]];
        bool takes = down ? item->change < 0 : item->change > 0;
        if (s->free[s->all->in_order[k] - c->items_first] && takes)
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
    int64_t total;
    *s->steps += s->counter->chains_end - s->counter->chains_first;
    if (!find_base(s))
        return false;
    find_places(s);
    s->last = is_last(s);
    if (!add_fixed(s, &total))
        return find_free(s);
    int64_t difference = w->trace->values[mr_window_read_value(w, s->m)] - total;
    return difference && find_free(s) && is_out_of_reach(s, difference);
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

/* Finds which updates are in L and in U. Are some in L, and some others in U? If all or none are, there is hardly a proof. */
static bool is_open(sum *s)
{
    const mr_counter *c = s->counter;
    bool some = false, others = false;
    for (uint32_t k = c->chains_first; k < c->chains_end; k++) {
        const mr_counter_chain *chain = &s->all->chains[k];
        chain_state *state = &s->chains[k - c->chains_first];
        state->required = items_in(s, chain, s->required);
        state->allowed = items_in(s, chain, s->allowed);
        some |= state->required > chain->first;
        others |= state->required < state->allowed;
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
        uint32_t end = s->chains[k - c->chains_first].required;
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
             .chains = mr_arena_alloc(arena, counters->most_chains, sizeof *s.chains),
             .free = mr_arena_alloc(arena, counters->most_items, sizeof *s.free),
             .left = mr_arena_alloc(arena, counters->most_items, sizeof *s.left),
             .end = mr_arena_alloc(arena, counters->most_items, sizeof *s.end),
             .givers = mr_arena_alloc(arena, counters->most_chains, sizeof *s.givers)};
    bool refuted = s.chains && s.free && s.left && s.end && s.givers &&
                   (refute(&s) || refute_choices(&s, goal, arena));
    mr_arena_release(arena, mark);
    *effort += steps / STEPS_OF_EFFORT;
    return refuted;
}
