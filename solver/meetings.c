#include "meetings.h"

#include "windows/hidden.h"
#include "windows/read_choices.h"

/* A read that more writes may serve holds nobody up. */
enum { MOST_WRITES = 32 };

/* Writes that are looked at for the gates, for each event of the window. */
enum { LOOKS_OF_EVENT = 64 };

/* When threads have come so far there may be a race. */
enum { MOST_GATES = 256 };

/* A read that few writes serve. */
typedef struct gate {
    uint32_t position; /* in its thread */
    uint32_t variable, sees;
    uint32_t
        own; /* the position of the access of the variable before it in its thread, + 1; 0: there is none */
    uint32_t first, end; /* writes by other threads: writes[first … end) */
} gate;

struct mr_meetings {
    const mr_window *window;
    gate *gates;       /* of one thread after the other, each with its end */
    uint32_t *gate_at; /* one a place of a thread: the first gate from there on */
    uint32_t *writes, write_count;
    uint32_t *
        wanted; /* one a place of a thread: the first position from there on of an access that is wanted */
    uint32_t held, from;      /* the thread that waits, and where */
    uint32_t *next, *reached; /* one a thread: its next gate, its position */
};

/* Of a thread and a position in it, which may be its length. */
static uint32_t place_of(const mr_window *w, uint32_t thread, uint32_t position)
{
    return w->threads[thread].first + thread + position;
}

/* ---- one look ---- */

static bool is_served(const mr_meetings *x, const mr_partial *partial, uint32_t thread,
                      const gate *g)
{
    const mr_window *w = x->window;
    if (g->own <= partial->next[thread] && mr_partial_sees(partial, g->variable) == g->sees)
        return true;
    for (uint32_t i = g->first; i < g->end; i++) {
        uint32_t t = w->thread[x->writes[i]], p = w->position[x->writes[i]];
        if (p >= partial->next[t] && p < x->reached[t])
            return true;
    }
    return false;
}

/* The thread goes on as far as it can. Returns past how many gates. */
static uint32_t go_on(mr_meetings *x, const mr_partial *partial, uint32_t thread)
{
    uint32_t end = mr_window_length(x->window, thread), first = x->next[thread];
    if (thread == x->held && x->from < end)
        end = x->from;
    const gate *g = &x->gates[first];
    while (g->position < end && is_served(x, partial, thread, g))
        g++;
    x->next[thread] = (uint32_t)(g - x->gates);
    x->reached[thread] = g->position < end ? g->position : end;
    return x->next[thread] - first;
}

static bool has_race(const mr_meetings *x, const mr_partial *partial)
{
    const mr_window *w = x->window;
    if (x->reached[x->held] < x->from)
        return false;
    for (uint32_t t = 0; t < w->thread_count; t++)
        if (x->wanted[place_of(w, t, partial->next[t])] <= x->reached[t])
            return true;
    return false;
}

bool mr_meetings_is_there(mr_meetings *x, const mr_partial *partial, uint64_t *effort)
{
    const mr_window *w = x->window;
    uint32_t gates = 0;
    bool moved = true;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        x->next[t] = x->gate_at[place_of(w, t, partial->next[t])];
        x->reached[t] = partial->next[t];
    }
    while (moved && gates < MOST_GATES) {
        moved = false;
        for (uint32_t t = 0; t < w->thread_count; t++) {
            uint32_t before = x->reached[t];
            gates += go_on(x, partial, t);
            moved |= x->reached[t] != before;
        }
        if (has_race(x, partial)) {
            *effort += gates;
            return true;
        }
    }
    *effort += w->thread_count + gates;
    return gates >= MOST_GATES;
}

void mr_meetings_want(mr_meetings *x, const mr_survey *survey, uint32_t held, const uint32_t *marks,
                      uint32_t mark)
{
    const mr_window *w = x->window;
    x->held = w->thread[held];
    x->from = w->position[held];
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t p = mr_window_length(w, t);
        x->wanted[place_of(w, t, p)] = MR_NONE;
        while (p-- > 0) {
            uint32_t event = mr_window_at(w, t, p), place = place_of(w, t, p);
            bool is_wanted = marks[event] == mark && survey->stops[event] && t != x->held &&
                             survey->wanted(survey->context, held, event);
            x->wanted[place] = is_wanted ? p : x->wanted[place + 1];
        }
    }
}

/* ---- the start ---- */

/* The last access of a variable in a thread. */
typedef struct last_access {
    uint32_t thread, position;
    uint32_t leaves; /* what a read after it would see */
} last_access;

/* Lists the writes of other threads that the read may see, or the one by its source. Returns how many there are, MR_NONE:
 * too many. */
static uint32_t list_writes(mr_meetings *x, uint32_t read, uint32_t *writes, uint64_t *looks)
{
    const mr_window *w = x->window;
    uint32_t first, end, count = 0;
    if (w->variables[w->object[read]].by_source) {
        writes[0] = w->source[read];
        return 1;
    }
    mr_read_same_value_writes(w, read, &first, &end);
    for (uint32_t i = first; i < end; i++) {
        uint32_t write = w->writes_by_value[i];
        if (w->thread[write] == w->thread[read] || mr_write_is_hidden(w, write, read))
            continue;
        if (count == MOST_WRITES || *looks < i - first)
            return MR_NONE;
        writes[count++] = write;
    }
    *looks -= *looks < end - first ? *looks : end - first;
    return count;
}

static uint32_t sees_of(const mr_window *w, uint32_t read)
{
    return w->variables[w->object[read]].by_source ? w->source[read] + 1
                                                   : mr_window_read_value(w, read);
}

static uint32_t leaves_of(const mr_window *w, uint32_t access)
{
    if (!mr_op_writes(mr_window_op(w, access)))
        return sees_of(w, access);
    return w->variables[w->object[access]].by_source ? access + 1
                                                     : mr_window_written_value(w, access);
}

/* Makes a gate of a read, when it is one. `last`: the access of its variable before it. */
static void add_gate(mr_meetings *x, uint32_t read, const last_access *last, uint64_t *looks,
                     gate **at)
{
    const mr_window *w = x->window;
    uint32_t found[MOST_WRITES], sees = sees_of(w, read);
    bool has_own = last->thread == w->thread[read];
    if (!sees || !w->variables[w->object[read]].shared || (has_own && last->leaves == sees))
        return;
    uint32_t count = list_writes(x, read, found, looks);
    if (count == MR_NONE)
        return;
    **at = (gate){.position = w->position[read],
                  .variable = w->object[read],
                  .sees = sees,
                  .own = has_own ? last->position + 1 : 0,
                  .first = x->write_count,
                  .end = x->write_count + count};
    ++*at;
    for (uint32_t i = 0; i < count; i++)
        x->writes[x->write_count++] = found[i];
}

static void make_gates(mr_meetings *x, last_access *last)
{
    const mr_window *w = x->window;
    uint64_t looks = (uint64_t)w->size * LOOKS_OF_EVENT;
    gate *at = x->gates;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t length = mr_window_length(w, t);
        for (uint32_t p = 0; p < length; p++) {
            uint32_t event = mr_window_at(w, t, p);
            uint8_t op = mr_window_op(w, event);
            x->gate_at[place_of(w, t, p)] = (uint32_t)(at - x->gates);
            if (!mr_op_is_access(op))
                continue;
            last_access *before = &last[w->object[event]];
            if (mr_op_reads(op) && x->write_count < w->size)
                add_gate(x, event, before, &looks, &at);
            *before = (last_access){t, p, leaves_of(w, event)};
        }
        x->gate_at[place_of(w, t, length)] = (uint32_t)(at - x->gates);
        *at++ = (gate){.position = MR_NONE};
    }
}

bool mr_meetings_init(mr_meetings **meetings, const mr_window *w, mr_arena *arena)
{
    mr_meetings *x = mr_arena_zalloc(arena, 1, sizeof *x);
    size_t places = (size_t)w->size + w->thread_count + 1;
    last_access *last = mr_arena_alloc(arena, (size_t)w->variable_count + 1, sizeof *last);
    *meetings = x;
    if (!x || !last)
        return false;
    x->window = w;
    x->gates = mr_arena_alloc(arena, places, sizeof *x->gates);
    x->gate_at = mr_arena_alloc(arena, places, sizeof *x->gate_at);
    x->wanted = mr_arena_alloc(arena, places, sizeof *x->wanted);
    x->writes = mr_arena_alloc(arena, (size_t)w->size + MOST_WRITES, sizeof *x->writes);
    x->next = mr_arena_zalloc(arena, w->thread_count, sizeof *x->next);
    x->reached = mr_arena_zalloc(arena, w->thread_count, sizeof *x->reached);
    if (!x->gates || !x->gate_at || !x->wanted || !x->writes || !x->next || !x->reached)
        return false;
    for (uint32_t v = 0; v < w->variable_count; v++)
        last[v] = (last_access){.thread = MR_NONE};
    make_gates(x, last);
    return true;
}
