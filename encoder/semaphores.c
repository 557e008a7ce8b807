#include "semaphores.h"

#include "base/assert.h"
#include "windows/unit_choices.h"

/* A count of choices along the waits: `reached[j]` is a choice that holds when more than j of those
 * so far do; the first `length` exist. */
typedef struct counter {
    uint32_t *reached;
    uint32_t length, most;
} counter;

/* `one` and `two` (MR_NONE: no condition) imply `then`. */
static void imply(mr_encoding *encoding, uint32_t one, uint32_t two, uint32_t then)
{
    mr_clause clause = {0};
    mr_clause_choice(&clause, one, false);
    if (two != MR_NONE)
        mr_clause_choice(&clause, two, false);
    mr_clause_choice(&clause, then, true);
    mr_clause_end(encoding, &clause);
}

static void exclude(mr_encoding *encoding, uint32_t one, uint32_t two)
{
    mr_clause clause = {0};
    mr_clause_choice(&clause, one, false);
    mr_clause_choice(&clause, two, false);
    mr_clause_end(encoding, &clause);
}

/* One more choice, of which at most `most` may hold. */
static void count_choice(mr_encoding *encoding, counter *c, uint32_t choice)
{
    uint32_t old_length = c->length;
    MR_ASSERT(c->most && old_length <= c->most);
    if (!old_length) {
        c->reached[c->length++] = choice;
        return;
    }
    if (old_length == c->most)
        exclude(encoding, choice, c->reached[c->most - 1]);
    else
        c->length++;
    for (uint32_t j = c->length; j-- > 0;) {
        uint32_t next = encoding->formula.choice_count++;
        if (j < old_length)
            imply(encoding, c->reached[j], MR_NONE, next);
        imply(encoding, choice, j ? c->reached[j - 1] : MR_NONE, next);
        c->reached[j] = next;
    }
}

/* A semaphore while its waits are encoded. */
typedef struct pool {
    const uint32_t *posts, *waits; /* those in C */
    uint32_t post_count, wait_count;
    counter *takers; /* one a post: at most one wait takes its unit */
    counter carried;
} pool;

static uint32_t *in_cone(const mr_encoding *encoding, const uint32_t *events, uint32_t count,
                         uint32_t *kept)
{
    uint32_t *list = mr_arena_alloc(encoding->arena, count, sizeof *list);
    *kept = 0;
    for (uint32_t i = 0; list && i < count; i++)
        if (mr_encoding_in_cone(encoding, events[i]))
            list[(*kept)++] = events[i];
    return list;
}

static bool make_counter(const mr_encoding *encoding, counter *c, uint32_t most)
{
    *c = (counter){.most = most};
    c->reached = mr_arena_alloc(encoding->arena, most, sizeof *c->reached);
    return c->reached;
}

/* False: no memory. */
static bool make_pool(const mr_encoding *encoding, const mr_window_semaphore *s, pool *p)
{
    const mr_window *w = encoding->window;
    p->waits =
        in_cone(encoding, w->waits + s->waits_first, s->waits_end - s->waits_first, &p->wait_count);
    if (!p->waits || p->wait_count <= s->units)
        return p->waits;
    p->posts =
        in_cone(encoding, w->posts + s->posts_first, s->posts_end - s->posts_first, &p->post_count);
    p->takers = mr_arena_alloc(encoding->arena, p->post_count, sizeof *p->takers);
    if (!p->posts || !p->takers || !make_counter(encoding, &p->carried, s->units))
        return false;
    for (uint32_t i = 0; i < p->post_count; i++)
        if (!make_counter(encoding, &p->takers[i], 1))
            return false;
    return true;
}

static uint32_t new_choice(mr_encoding *encoding, mr_literal *some, size_t *count)
{
    uint32_t choice = encoding->formula.choice_count++;
    some[(*count)++] = mr_choice(choice, true);
    return choice;
}

/* m(w, p): the wait takes the unit of post number `i`. */
static void take(mr_encoding *encoding, pool *p, uint32_t wait, uint32_t i, mr_literal *some,
                 size_t *count)
{
    uint32_t post = p->posts[i];
    if (!mr_wait_may_take(encoding->forced, wait, post))
        return;
    uint32_t choice = new_choice(encoding, some, count);
    if (encoding->options.plain || !mr_precedes(encoding->hard, post, wait)) {
        mr_clause clause = {0};
        mr_clause_choice(&clause, choice, false);
        clause.literals[clause.count++] =
            mr_before(mr_encoding_node(encoding, post), mr_encoding_node(encoding, wait));
        mr_clause_end(encoding, &clause);
    }
    count_choice(encoding, &p->takers[i], choice);
}

/* The unit that the wait took in the trace comes first: a search that tries units in this order
 * starts near the trace. */
static void encode_wait(mr_encoding *encoding, pool *p, uint32_t wait)
{
    const mr_window *w = encoding->window;
    uint32_t link = w->trace->link[w->start + wait], took = MR_NONE;
    mr_literal *some = encoding->literals;
    mr_clause guard = {0};
    mr_clause_unless_included(encoding, &guard, wait);
    size_t count = guard.count;
    for (size_t i = 0; i < count; i++)
        some[i] = guard.literals[i];
    for (uint32_t i = 0; i < p->post_count && took == MR_NONE; i++)
        if (w->start + p->posts[i] == link)
            took = i;
    if (took != MR_NONE)
        take(encoding, p, wait, took, some, &count);
    if (mr_wait_may_take_carried(encoding->forced, wait))
        count_choice(encoding, &p->carried, new_choice(encoding, some, &count));
    for (uint32_t i = 0; i < p->post_count && !mr_formula_stopped(&encoding->formula); i++)
        if (i != took)
            take(encoding, p, wait, i, some, &count);
    mr_formula_clause(&encoding->formula, some, count);
}

void mr_encode_semaphores(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    for (uint32_t l = 0; l < w->lock_count; l++) {
        const mr_window_semaphore *s = &w->semaphores[l];
        pool p = {0};
        if (!s->shared)
            continue;
        if (!make_pool(encoding, s, &p)) {
            encoding->formula.out_of_memory = true;
            return;
        }
        for (uint32_t i = 0; p.wait_count > s->units && i < p.wait_count; i++) {
            if (mr_formula_stopped(&encoding->formula))
                return;
            encode_wait(encoding, &p, p.waits[i]);
        }
    }
}
