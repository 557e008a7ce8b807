#include "forced.h"

#include "base/assert.h"

#include <string.h>

/* What is certainly before the node of an event, as the events of its thread are gone through. */
typedef struct before {
    mr_encoding *encoding;
    uint32_t *threads;     /* that have nodes, chain by chain, in their order */
    uint32_t *chain_first; /* one a chain, and the end: its first of `threads` */
    uint32_t *next;        /* one a chain: the first of `threads` that is not before as a whole */
    uint32_t *count;       /* one a chain: its entry of the last clock */
    uint32_t *passed; /* one a thread: its nodes up to there (an index in by_thread) are before */
    uint32_t *moved,
        moved_count; /* threads of which more is before this event than before the last one */
} before;

/* The first `count` events of the thread are before. */
static void pass(before *x, uint32_t thread, uint32_t count)
{
    const mr_encoding *encoding = x->encoding;
    uint32_t at = x->passed[thread], k = x->moved_count;
    MR_ASSERT(count <= encoding->cone[thread]); /* C is closed under FORCED */
    while (at < encoding->thread_first[thread + 1] &&
           encoding->window->position[encoding->event_of[encoding->by_thread[at]]] < count)
        at++;
    if (at == x->passed[thread])
        return;
    x->passed[thread] = at;
    x->moved_count++;
    for (; k && x->moved[k - 1] > thread; k--)
        x->moved[k] = x->moved[k - 1];
    x->moved[k] = thread;
}

/* Has each thread passed exactly its nodes that are before the event, by its clock? It goes over all nodes, for one node of 16:
 * for each, it was half of the time of a build with costly checks. */
static bool is_right(const before *x, uint32_t event)
{
    const mr_encoding *encoding = x->encoding;
    const mr_window *w = encoding->window;
    const uint32_t *first = encoding->thread_first, *clock = encoding->forced->clock[event];
    for (uint32_t t = 0; t < w->thread_count; t++)
        for (uint32_t at = first[t]; t != w->thread[event] && at < first[t + 1]; at++) {
            uint32_t position = w->position[encoding->event_of[encoding->by_thread[at]]];
            if ((at < x->passed[t]) !=
                (position < mr_precedence_count(w, clock, w->thread[event], t)))
                return false;
        }
    return true;
}

/* The edges into one node: from the latest of each thread that is before it, and not before the one before it. */
static void state_before(before *x, uint32_t event, bool is_first)
{
    mr_encoding *encoding = x->encoding;
    const mr_window *w = encoding->window;
    const uint32_t *clock = encoding->forced->clock[event];
    uint32_t own = w->thread[event];
    x->moved_count = 0;
    for (uint32_t c = 0; c < w->chain_count; c++) {
        bool is_own = c == w->threads[own].chain;
        /* Most clocks are as the last one, and of hundreds of threads few have nodes. */
        if (is_own ? !is_first : clock[c] == x->count[c])
            continue;
        x->count[c] = clock[c];
        for (uint32_t i = x->next[c]; i < x->chain_first[c + 1] && x->threads[i] != own; i++) {
            uint32_t t = x->threads[i], count = mr_precedence_count(w, clock, own, t);
            if (!count)
                break;
            pass(x, t, count);
            if (x->passed[t] == encoding->thread_first[t + 1])
                x->next[c] = i + 1;
        }
    }
    MR_ASSERT_COSTLY(w->position[event] % 16 || is_right(x, event));
    for (uint32_t k = 0; k < x->moved_count; k++)
        mr_formula_edge(&encoding->formula, encoding->by_thread[x->passed[x->moved[k]] - 1],
                        mr_encoding_find(encoding, event) - 1);
}

/* False: no memory. */
static bool begin(before *x, mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    const uint32_t *first = encoding->thread_first;
    uint32_t count = w->thread_count, chains = w->chain_count;
    *x = (before){.encoding = encoding};
    x->threads = mr_arena_alloc(encoding->arena, count, sizeof *x->threads);
    x->chain_first = mr_arena_zalloc(encoding->arena, (size_t)chains + 1, sizeof *x->chain_first);
    x->next = mr_arena_alloc(encoding->arena, chains, sizeof *x->next);
    x->count = mr_arena_alloc(encoding->arena, chains, sizeof *x->count);
    x->passed = mr_arena_alloc(encoding->arena, count, sizeof *x->passed);
    x->moved = mr_arena_alloc(encoding->arena, count, sizeof *x->moved);
    if (!x->threads || !x->chain_first || !x->next || !x->count || !x->passed || !x->moved)
        return false;
    for (uint32_t t = 0; t < count; t++)
        x->chain_first[w->threads[t].chain + 1] += first[t] < first[t + 1];
    for (uint32_t c = 0; c < chains; c++)
        x->chain_first[c + 1] += x->chain_first[c];
    memcpy(x->next, x->chain_first, chains * sizeof *x->next);
    for (uint32_t t = 0; t < count; t++)
        if (first[t] < first[t + 1])
            x->threads[x->next[w->threads[t].chain]++] = t;
    return true;
}

bool mr_encode_forced(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    const uint32_t *first = encoding->thread_first;
    before x;
    if (!encoding->forced->refined)
        return true;
    if (!begin(&x, encoding))
        return false;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        if (first[t] == first[t + 1])
            continue;
        memcpy(x.next, x.chain_first, w->chain_count * sizeof *x.next);
        memset(x.count, 0, w->chain_count * sizeof *x.count);
        memcpy(x.passed, first, w->thread_count * sizeof *x.passed);
        for (uint32_t i = first[t]; i < first[t + 1]; i++)
            state_before(&x, encoding->event_of[encoding->by_thread[i]], i == first[t]);
    }
    return true;
}
