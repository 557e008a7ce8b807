#include "precedence.h"

#include "base/assert.h"
#include "held.h"
#include "hidden.h"
#include "read_choices.h"
#include "unit_choices.h"

#include <string.h>

/* How many hidden writes of its value (hidden.h) a read looks at: a variable under a lock may have a write of few
 * values in each of many sections. Looking less far loses no verdict, only a short proof. */
enum { MR_HIDDEN_LOOKED_AT = 256 };

/* Semaphores with more posts and waits than this are not counted; that loses short proofs only. */
enum { MR_OPERATIONS_COUNTED = 4096 };

/* Every so many events the builder looks whether the run was asked to end. */
enum { EVENTS_PER_LOOK = 64 };

typedef struct builder {
    mr_precedence *precedence;
    const mr_window *window;
    mr_precedence_mode mode;
    const mr_precedence *hard;
    mr_arena *arena;
    uint32_t **current;     /* one a thread: clock of its latest event */
    uint32_t **clean;       /* the same for clean(event); an equal pointer: an equal set */
    uint32_t **clean_clock; /* one an event: clean(event); outside model branch the clocks */
    uint32_t *common;       /* scratch: two clocks */
    uint32_t event;         /* the one at hand: the clocks of all before it are there */
    size_t edge;     /* the first edge of BarrierPairs that does not lead to an event before it */
    uint32_t *fresh; /* a clock that only the requirements at hand know; NULL: none */
} builder;

/* A clock of its own for thread `thread`, before something is joined into it: a new one, unless an earlier
 * requirement has made one that nobody else knows. */
static uint32_t *fork_clock(builder *b, uint32_t thread)
{
    uint32_t count = b->window->chain_count;
    if (b->fresh && b->fresh == b->current[thread])
        return b->fresh;
    uint32_t *clock = mr_arena_alloc(b->arena, count, sizeof *clock);
    if (clock) {
        memcpy(clock, b->current[thread], count * sizeof *clock);
        b->current[thread] = b->fresh = clock;
    }
    return clock;
}

/* Is the event in the current set of `thread`, which has all of its chain up to the event at hand? */
static bool is_known(const builder *b, uint32_t thread, uint32_t event)
{
    const mr_window *w = b->window;
    uint32_t chain = w->threads[w->thread[event]].chain;
    if (chain == w->threads[thread].chain)
        return event < b->event;
    return b->current[thread][chain] > mr_window_chain_position(w, event);
}

/* Adds before(event) and the event to the current clock of `thread`. */
static bool require_event(builder *b, uint32_t thread, uint32_t event)
{
    const mr_window *w = b->window;
    if (is_known(b, thread, event))
        return true;
    MR_ASSERT(event < b->event); /* what is before an event stands before it in the trace */
    uint32_t *clock = fork_clock(b, thread);
    if (!clock)
        return false;
    const uint32_t *from = b->precedence->clock[event];
    uint32_t other = w->threads[w->thread[event]].chain;
    for (uint32_t c = 0; c < w->chain_count; c++)
        if (c != other && from[c] > clock[c])
            clock[c] = from[c];
    clock[other] = mr_window_chain_position(w, event) + 1;
    return true;
}

/* Joins a clock into the current one of `thread`. */
static bool require_clock(builder *b, uint32_t thread, const uint32_t *from)
{
    uint32_t *clock = NULL, own = b->window->threads[thread].chain;
    for (uint32_t c = 0; c < b->window->chain_count; c++) {
        if (c == own || from[c] <= b->current[thread][c])
            continue;
        if (!clock && !(clock = fork_clock(b, thread)))
            return false;
        clock[c] = from[c];
    }
    return true;
}

/*
 * Lowers `common` to what `write` needs, itself included. A write that stands later in the trace
 * than the read has no clock in this mode yet; what it certainly needs will do. True while `common`
 * still adds something to the clock `known`.
 */
static bool meet(const builder *b, uint32_t *common, uint32_t write, uint32_t read,
                 const uint32_t *known)
{
    const mr_window *w = b->window;
    const uint32_t *needs = write < read ? b->clean_clock[write] : b->hard->clock[write];
    uint32_t its = w->threads[w->thread[write]].chain, own = w->threads[w->thread[read]].chain;
    bool adds = false;
    for (uint32_t c = 0; c < w->chain_count; c++) {
        uint32_t need = c == its ? mr_window_chain_position(w, write) + 1 : needs[c];
        if (need < common[c])
            common[c] = need;
        adds |= c != own && common[c] > known[c];
    }
    return adds;
}

/* Adds a write and clean(write), which may be more than before(write), to the current clock. */
static bool require_source(builder *b, uint32_t thread, uint32_t write)
{
    return require_event(b, thread, write) &&
           (b->window->model != MR_MODEL_BRANCH || b->window->thread[write] == thread ||
            require_clock(b, thread, b->clean_clock[write]));
}

/* Adds the events of a clock, and what they need, to the current clock of `thread`. */
static bool require_events(builder *b, uint32_t thread, const uint32_t *clock)
{
    const mr_window *w = b->window;
    uint32_t own = w->threads[thread].chain;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t chain = w->threads[t].chain;
        if (chain == own || clock[chain] <= b->current[thread][chain])
            continue;
        uint32_t count = mr_precedence_count(w, clock, thread, t);
        if (count && !require_event(b, thread, mr_window_at(w, t, count - 1)))
            return false;
    }
    return true;
}

static bool require_choices(builder *b, uint32_t read)
{
    const mr_window *w = b->window;
    uint32_t source = w->source[read], thread = w->thread[read], first, end, hidden = 0;
    if (source == MR_NONE || mr_read_may_see_carried(w, b->hard, read))
        return true;
    memset(b->common, 0xff, w->chain_count * sizeof *b->common);
    if (!meet(b, b->common, source, read, b->current[thread]))
        return true;
    mr_read_same_value_writes(w, read, &first, &end);
    for (uint32_t k = first; k < end; k++) {
        uint32_t write = w->writes_by_value[k];
        if (mr_write_is_hidden(w, write, read)) {
            if (++hidden > MR_HIDDEN_LOOKED_AT)
                return true;
            continue;
        }
        if (write != source && mr_read_may_see(w, b->hard, read, write) &&
            !meet(b, b->common, write, read, b->current[thread]))
            return true;
    }
    /* Of a later write only the HARD needs are known. So an event that all writes need may bring more
     * than they have in common. */
    return require_events(b, thread, b->common);
}

static bool require_seen(builder *b, uint32_t read)
{
    const mr_window *w = b->window;
    if (b->mode == MR_PRECEDENCE_HARD)
        return true;
    if (b->mode == MR_PRECEDENCE_FORCED && !w->variables[w->object[read]].by_source)
        return require_choices(b, read);
    return w->source[read] == MR_NONE || require_source(b, w->thread[read], w->source[read]);
}

/* The last section of `user`, of another chain, that is certainly entered before what `thread` does next; NULL: none is. */
static const mr_section *last_entered(const builder *b, uint32_t thread, const mr_lock_user *user)
{
    const mr_window *w = b->window;
    const uint32_t *entered = w->held->by_chain.entered;
    uint32_t low = user->first, high = user->end;
    uint32_t known = b->current[thread][w->threads[user->thread].chain];
    while (low < high) { /* the first one that is not entered */
        uint32_t middle = low + (high - low) / 2, acquire = w->sections[entered[middle]].acquire;
        if (acquire == MR_NONE || mr_window_chain_position(w, acquire) < known)
            low = middle + 1;
        else
            high = middle;
    }
    return low > user->first ? &w->sections[entered[low - 1]] : NULL;
}

/* Requires the releases of the sections that exclude the acquire's own and are certainly entered
 * before it. Of a chain of threads and a kind the last one will do: the others are left before it is entered. Those of
 * the own chain are left anyway. What a release needs may enter more sections. */
static bool require_releases(builder *b, uint32_t acquire)
{
    const mr_window *w = b->window;
    const mr_section *own = &w->sections[w->object[acquire]];
    const mr_lock_users *all = &w->held->by_chain;
    const uint32_t *users = &all->first[own->lock]; /* none where nobody contends */
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t u = users[0]; u < users[1]; u++) {
            const mr_lock_user *user = &all->of[u];
            if (mr_window_same_chain(w, user->thread, own->thread) || (user->shared && own->shared))
                continue;
            const mr_section *section = last_entered(b, own->thread, user);
            if (!section || is_known(b, own->thread, section->release))
                continue;
            MR_ASSERT(section->release != MR_NONE); /* the trace leaves it before it enters `own` */
            if (!require_event(b, own->thread, section->release))
                return false;
            changed = true;
        }
    }
    return true;
}

/* How many waits, the wait itself included, certainly have a unit once it has. */
static uint32_t count_waits(const builder *b, uint32_t wait)
{
    const mr_window *w = b->window;
    const mr_window_semaphore *s = &w->semaphores[w->object[wait]];
    uint32_t thread = w->thread[wait], count = 1;
    for (uint32_t k = s->waits_first; k < s->waits_end; k++)
        count += is_known(b, thread, w->waits[k]);
    return count;
}

/* The posts of a thread without which there are too few units, whatever the other threads give. */
static bool require_units(builder *b, uint32_t wait)
{
    const mr_window *w = b->window;
    const mr_window_semaphore *s = &w->semaphores[w->object[wait]];
    uint32_t posts = s->posts_end - s->posts_first, waits = s->waits_end - s->waits_first;
    uint32_t *own = b->common, *seen = b->common + w->thread_count, all = 0;
    if (!s->shared || posts + waits > MR_OPERATIONS_COUNTED)
        return true;
    uint32_t taken = count_waits(b, wait);
    if (taken <= s->units)
        return true;
    memset(b->common, 0, 2 * (size_t)w->thread_count * sizeof *b->common);
    for (uint32_t k = s->posts_first; k < s->posts_end; k++) {
        bool may_be_before = !mr_precedes(b->hard, wait, w->posts[k]);
        own[w->thread[w->posts[k]]] += may_be_before;
        all += may_be_before;
    }
    for (uint32_t k = s->posts_first; k < s->posts_end; k++) {
        uint32_t post = w->posts[k], thread = w->thread[post], others = all - own[thread];
        if (s->units + others + seen[thread]++ < taken && !require_event(b, w->thread[wait], post))
            return false;
    }
    return true;
}

/* Requires what the event needs to be the next one of its thread: its fork, and the events from
 * which edges of BarrierPairs lead to it. */
static bool require_entry(builder *b, uint32_t i)
{
    const mr_window *w = b->window;
    uint32_t thread = w->thread[i];
    if (!w->position[i] && w->threads[thread].fork != MR_NONE &&
        !require_event(b, thread, w->threads[thread].fork))
        return false;
    while (b->edge < w->barrier_edge_count && w->barrier_edges[b->edge].to < i)
        b->edge++;
    for (size_t k = b->edge; k < w->barrier_edge_count && w->barrier_edges[k].to == i; k++)
        if (!require_event(b, thread, w->barrier_edges[k].from))
            return false;
    return true;
}

static bool require_unit(builder *b, uint32_t wait)
{
    const mr_window *w = b->window;
    uint32_t post = w->trace->link[w->start + wait];
    if (b->mode == MR_PRECEDENCE_FORCED)
        return require_units(b, wait);
    return b->mode != MR_PRECEDENCE_SOURCE || post < w->start ||
           require_event(b, w->thread[wait], post - w->start);
}

/* Requires what the event needs as a join, an acquire or a wait. */
static bool require_edges(builder *b, uint32_t i)
{
    const mr_window *w = b->window;
    uint32_t joined = w->object[i];
    switch ((mr_op)mr_window_op(w, i)) {
    case MR_OP_JOIN:
        return joined == MR_NONE ||
               require_event(b, w->thread[i],
                             mr_window_at(w, joined, mr_window_length(w, joined) - 1));
    case MR_OP_ACQUIRE:
    case MR_OP_SHARED_ACQUIRE:
        return b->mode != MR_PRECEDENCE_FORCED || w->object[i] == MR_NONE || require_releases(b, i);
    case MR_OP_WAIT:
        return require_unit(b, i);
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
    case MR_OP_RELEASE:
    case MR_OP_SHARED_RELEASE:
    case MR_OP_FORK:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_POST:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_ALLOC:
    case MR_OP_FREE:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break;
    }
    return true;
}

/* Calls `require`, which works on `current`, for clean(i). */
static bool for_clean(builder *b, uint32_t i, bool (*require)(builder *b, uint32_t event))
{
    uint32_t **current = b->current;
    b->current = b->clean;
    bool complete = require(b, i);
    b->current = current;
    return complete;
}

/* Is the clock of event i at least that of the event before it in its thread and that of HARD, and
 * does it name only events before i? For costly checks. */
static bool is_clock_sound(const builder *b, uint32_t i)
{
    const mr_window *w = b->window;
    uint32_t thread = w->thread[i], position = w->position[i];
    const uint32_t *clock = b->precedence->clock[i];
    const uint32_t *before = position ? b->precedence->clock[mr_window_at(w, thread, position - 1)]
                                      : b->precedence->thread_start[thread];
    for (uint32_t c = 0; c < w->chain_count; c++)
        if (c != w->threads[thread].chain &&
            (clock[c] < before[c] ||
             (b->mode == MR_PRECEDENCE_FORCED && clock[c] < b->hard->clock[i][c])))
            return false;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t count = t == thread ? 0 : mr_precedence_count(w, clock, thread, t);
        if (count && mr_window_at(w, t, count - 1) >= i)
            return false;
    }
    return true;
}

static bool add_event(builder *b, uint32_t i)
{
    const mr_window *w = b->window;
    uint32_t thread = w->thread[i];
    b->event = i;
    b->fresh = NULL;
    if (mr_binds_reads(w, i))
        b->current[thread] = b->clean[thread];
    bool same = b->current[thread] == b->clean[thread];
    if (!require_entry(b, i) || (!same && !for_clean(b, i, require_entry)))
        return false;
    if (same)
        b->clean[thread] = b->current[thread];
    if (!w->position[i])
        b->precedence->thread_start[thread] = b->current[thread];
    if (b->precedence->enabled)
        b->precedence->enabled[i] = b->current[thread];
    b->fresh = NULL; /* others may know it now */
    if (!require_edges(b, i) || (!same && !for_clean(b, i, require_edges)))
        return false;
    if (same)
        b->clean[thread] = b->current[thread];
    b->fresh = NULL;
    if (mr_op_reads(mr_window_op(w, i)) && !for_clean(b, i, require_seen))
        return false;
    if (w->model != MR_MODEL_BRANCH)
        b->current[thread] = b->clean[thread];
    b->precedence->clock[i] = b->current[thread];
    b->clean_clock[i] = b->clean[thread];
    MR_ASSERT_COSTLY(is_clock_sound(b, i));
    return true;
}

bool mr_precedence_build(mr_precedence *precedence, const mr_window *window,
                         mr_precedence_mode mode, const mr_precedence *hard, mr_arena *arena)
{
    builder b = {.precedence = precedence,
                 .window = window,
                 .mode = mode,
                 .hard = hard,
                 .arena = arena,
                 .current = mr_arena_alloc(arena, window->thread_count, sizeof *b.current),
                 .clean = mr_arena_alloc(arena, window->thread_count, sizeof *b.clean),
                 .common =
                     mr_arena_alloc(arena, 2 * (size_t)window->thread_count, sizeof *b.common)};
    uint32_t *zero = mr_arena_zalloc(arena, window->chain_count, sizeof *zero);
    MR_REQUIRE(mode != MR_PRECEDENCE_FORCED || hard);
    precedence->window = window;
    precedence->clock = mr_arena_alloc(arena, window->size, sizeof *precedence->clock);
    precedence->thread_start =
        mr_arena_alloc(arena, window->thread_count, sizeof *precedence->thread_start);
    precedence->enabled = window->barrier_edge_count
                              ? mr_arena_alloc(arena, window->size, sizeof *precedence->enabled)
                              : NULL;
    b.clean_clock = window->model == MR_MODEL_BRANCH
                        ? mr_arena_alloc(arena, window->size, sizeof *b.clean_clock)
                        : precedence->clock;
    if (!b.current || !b.clean || !b.common || !zero || !precedence->clock ||
        !precedence->thread_start || !b.clean_clock ||
        (window->barrier_edge_count && !precedence->enabled))
        return false;
    for (uint32_t t = 0; t < window->thread_count; t++)
        b.current[t] = b.clean[t] = zero;
    for (uint32_t i = 0; i < window->size; i++)
        if ((i % EVENTS_PER_LOOK == 0 && mr_arena_is_halted(arena)) || !add_event(&b, i))
            return false;
    precedence->rank_low = precedence->rank_high = NULL;
    precedence->refined = false;
    return mode != MR_PRECEDENCE_FORCED || mr_unit_ranks_build(precedence, arena);
}

static bool copy_clocks(uint32_t ***clocks, size_t count, mr_arena *arena)
{
    uint32_t **own = mr_arena_alloc(arena, count, sizeof *own);
    if (own)
        memcpy(own, *clocks, count * sizeof *own);
    *clocks = own;
    return own;
}

bool mr_precedence_copy(mr_precedence *copy, const mr_precedence *of, mr_arena *arena)
{
    *copy = *of;
    return copy_clocks(&copy->clock, of->window->size, arena) &&
           copy_clocks(&copy->thread_start, of->window->thread_count, arena) &&
           (!of->enabled || copy_clocks(&copy->enabled, of->window->size, arena));
}

bool mr_precedence_require(const mr_precedence *precedence, uint32_t *prefix, uint32_t event,
                           bool including)
{
    const mr_window *w = precedence->window;
    MR_REQUIRE(event < w->size);
    uint32_t thread = w->thread[event];
    const uint32_t *clock =
        including ? precedence->clock[event] : mr_precedence_enabled(precedence, event);
    bool changed = false;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t need = t == thread ? w->position[event] + (including ? 1 : 0)
                                    : mr_precedence_count(w, clock, thread, t);
        if (need > prefix[t]) {
            prefix[t] = need;
            changed = true;
        }
    }
    return changed;
}
