#include "turns.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

bool mr_turns_is_read_later(const mr_turns *x, uint32_t variable, const uint32_t *next)
{
    for (uint32_t i = x->readers_first[variable]; i < x->readers_first[variable + 1]; i++)
        if (x->readers[i].last >= next[x->readers[i].thread])
            return true;
    return false;
}

/* Are the bits in scratch as each variable's readers say? */
static bool is_as_asked(const mr_turns *x, const uint32_t *next)
{
    for (uint32_t i = 0; i < x->variable_count; i++)
        if ((x->scratch[i / 64] >> i % 64 & 1) != mr_turns_is_read_later(x, x->variables[i], next))
            return false;
    return true;
}

const uint64_t *mr_turns_read_later(const mr_turns *x, const uint32_t *next)
{
    memset(x->scratch, 0, x->words * sizeof *x->scratch);
    for (uint32_t i = 0; x->rows && i < x->thread_count; i++) {
        uint32_t t = x->threads[i];
        const uint64_t *row =
            x->rows + (size_t)x->row_of[x->window->threads[t].first + t + next[t]] * x->words;
        for (uint32_t k = 0; k < x->words; k++)
            x->scratch[k] |= row[k];
    }
    for (uint32_t i = 0; !x->rows && i < x->variable_count; i++)
        if (mr_turns_is_read_later(x, x->variables[i], next))
            x->scratch[i / 64] |= UINT64_C(1) << i % 64;
    MR_ASSERT_COSTLY(is_as_asked(x, next));
    return x->scratch;
}

const mr_section *mr_turns_entered(const mr_window *w, uint32_t event)
{
    const mr_section *section = mr_window_section(w, event);
    return section && section->acquire == event && w->locks[section->lock].contended ? section
                                                                                     : NULL;
}

bool mr_turns_takes_nothing(const mr_turns *x, uint32_t event, const uint32_t *next)
{
    const mr_window *w = x->window;
    uint32_t object = w->object[event];
    switch ((mr_op)mr_window_op(w, event)) {
    case MR_OP_READ:
    case MR_OP_ATOMIC_READ:
    case MR_OP_RELEASE:
    case MR_OP_SHARED_RELEASE:
    case MR_OP_FORK:
    case MR_OP_JOIN:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_POST:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_ALLOC:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        return true;
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
        return !w->variables[object].shared || !mr_turns_is_read_later(x, object, next);
    case MR_OP_ACQUIRE:
    case MR_OP_SHARED_ACQUIRE:
        return !mr_turns_entered(w, event);
    case MR_OP_WAIT:
    case MR_OP_FREE:
        break;
    }
    return false;
}

/* ---- the start ---- */

/* Does the thread pass the event while it takes locks? An access that may come too late after a free is its turn. */
static bool is_on_the_way(const mr_window *w, uint32_t event, const uint32_t *may_stop,
                          const bool *awaited)
{
    if (may_stop[event] || awaited[event] ||
        w->position[event] + 1 == mr_window_length(w, w->thread[event]))
        return false;
    return mr_turns_entered(w, event) ||
           (mr_op_is_access(mr_window_op(w, event)) && !w->variables[w->object[event]].shared &&
            mr_window_end_of_life(w, event) == MR_NONE);
}

static bool find_turns(mr_turns *x, const uint32_t *stops, const uint32_t *may_stop,
                       mr_arena *arena)
{
    const mr_window *w = x->window;
    bool *awaited = mr_arena_zalloc(arena, w->size, sizeof *awaited);
    x->event_of = mr_arena_alloc(arena, w->size, sizeof *x->event_of);
    x->threads = mr_arena_alloc(arena, w->thread_count, sizeof *x->threads);
    if (!x->event_of || !x->threads || !awaited)
        return false;
    for (size_t k = 0; k < w->barrier_edge_count; k++)
        awaited[w->barrier_edges[k].from] = true;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t turn = mr_window_length(w, t);
        for (uint32_t p = turn; p-- > 0;) {
            turn = is_on_the_way(w, mr_window_at(w, t, p), may_stop, awaited) ? turn : p;
            x->event_of[w->threads[t].first + p] = turn;
        }
        if (x->cone[t] || (stops && stops[t]))
            x->threads[x->thread_count++] = t;
    }
    return true;
}

static int by_variable(const void *one, const void *two)
{
    const uint32_t *x = one, *y = two;
    if (x[0] != y[0])
        return x[0] < y[0] ? -1 : 1;
    if (x[1] != y[1])
        return x[1] < y[1] ? -1 : 1;
    return (x[2] > y[2]) - (x[2] < y[2]);
}

/* Writes the reads of C as {variable, thread, position} to `reads`, unless it is NULL. Returns their number. */
static uint32_t list_reads(const mr_turns *x, uint32_t (*reads)[3])
{
    const mr_window *w = x->window;
    uint32_t count = 0;
    for (uint32_t i = 0; i < x->thread_count; i++) {
        uint32_t t = x->threads[i];
        for (uint32_t p = 0; p < x->cone[t]; p++) {
            uint32_t event = mr_window_at(w, t, p);
            if (!mr_op_reads(mr_window_op(w, event)) || !w->variables[w->object[event]].shared)
                continue;
            if (reads) {
                reads[count][0] = w->object[event];
                reads[count][1] = t;
                reads[count][2] = p;
            }
            count++;
        }
    }
    return count;
}

static bool find_readers(mr_turns *x, mr_arena *arena)
{
    const mr_window *w = x->window;
    uint32_t count = list_reads(x, NULL), filled = 0;
    uint32_t(*reads)[3] = mr_arena_alloc(arena, count, sizeof *reads);
    x->readers = mr_arena_alloc(arena, count, sizeof *x->readers);
    x->readers_first =
        mr_arena_alloc(arena, (size_t)w->variable_count + 1, sizeof *x->readers_first);
    x->variables = mr_arena_alloc(arena, w->variable_count, sizeof *x->variables);
    if (!reads || !x->readers || !x->readers_first || !x->variables)
        return false;
    list_reads(x, reads);
    qsort(reads, count, sizeof *reads, by_variable);
    for (uint32_t v = 0, i = 0; v < w->variable_count; v++) {
        x->readers_first[v] = filled;
        for (; i < count && reads[i][0] == v; i++)
            if (i + 1 == count || reads[i + 1][0] != v || reads[i + 1][1] != reads[i][1])
                x->readers[filled++] = (mr_reader){reads[i][1], reads[i][2]};
        if (filled > x->readers_first[v])
            x->variables[x->variable_count++] = v;
    }
    x->readers_first[w->variable_count] = filled;
    return true;
}

/* The rows of one thread, from its end, where it reads nothing. `last_of`: one an event, as by_thread: the variable whose last read
 * by its thread that is, an index in `variables` + 1; 0: it is none. */
static void fill_rows(mr_turns *x, uint32_t thread, const uint32_t *last_of, uint32_t *row)
{
    const mr_window *w = x->window;
    uint32_t first = w->threads[thread].first, at = mr_window_length(w, thread);
    x->row_of[first + thread + at] = (*row)++;
    while (at-- > 0) {
        uint32_t variable = last_of[first + at];
        if (variable) {
            uint64_t *later = x->rows + (size_t)*row * x->words;
            memcpy(later, later - x->words, x->words * sizeof *later);
            later[(variable - 1) / 64] |= UINT64_C(1) << (variable - 1) % 64;
            (*row)++;
        }
        x->row_of[first + thread + at] = *row - 1;
    }
}

/* What of each variable is read later, looked up instead of asked of each of its readers in each state. */
static bool find_rows(mr_turns *x, mr_arena *arena)
{
    enum { WORDS_AN_EVENT = 64 };
    const mr_window *w = x->window;
    size_t rows = (size_t)x->readers_first[w->variable_count] + x->thread_count;
    uint32_t row = 0;
    x->words = (x->variable_count + 63) / 64;
    x->scratch = mr_arena_alloc(arena, x->words, sizeof *x->scratch);
    if (!x->scratch || rows * x->words > (uint64_t)w->size * WORDS_AN_EVENT)
        return x->scratch;
    x->rows = mr_arena_zalloc(arena, rows * x->words, sizeof *x->rows);
    x->row_of = mr_arena_alloc(arena, (size_t)w->size + w->thread_count, sizeof *x->row_of);
    uint32_t *last_of = mr_arena_zalloc(arena, w->size, sizeof *last_of);
    if (!x->rows || !x->row_of || !last_of)
        return false;
    for (uint32_t i = 0; i < x->variable_count; i++)
        for (uint32_t r = x->readers_first[x->variables[i]];
             r < x->readers_first[x->variables[i] + 1]; r++)
            last_of[w->threads[x->readers[r].thread].first + x->readers[r].last] = i + 1;
    for (uint32_t i = 0; i < x->thread_count; i++)
        fill_rows(x, x->threads[i], last_of, &row);
    return true;
}

bool mr_turns_init(mr_turns *turns, const mr_window *window, const uint32_t *cone,
                   const uint32_t *stops, const uint32_t *may_stop, mr_arena *arena)
{
    *turns = (mr_turns){.window = window, .cone = cone};
    return find_turns(turns, stops, may_stop, arena) && find_readers(turns, arena) &&
           find_rows(turns, arena);
}
