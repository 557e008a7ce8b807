#include "prospect.h"

#include "base/map.h"

#include <string.h>

/* With more of them nearly every state is soon followed by a stop. */
enum { MOST_STOPS = 2048 };

/* In larger windows the next race that is wanted is too far away for that to pay. */
enum { MOST_EVENTS = 1 << 15 };

/* More words of rows are not made, nor more spans. */
enum { MOST_WORDS = 1 << 22 };

/* When threads have come to so many gates there may be a race. */
enum { MOST_GATES = 512 };

/* A prospect takes a quarter of what the search takes for each state and number. */
enum { GATES_OF_EFFORT = 4 };

/* Where a thread may have to wait, or stop: at an access, or at its end. */
typedef struct gate {
    uint32_t position;
    uint32_t number,
        sees; /* what a read has to see in a state; `number` is MR_NONE: it is no read */
    uint32_t read, written; /* the numbers of what a read sees and a write leaves; 0: it is none */
    uint32_t stop;          /* its number, + 1; 0: the thread may not stop there */
    /* The last write of the variable by the thread, before the read: its position, + 1, or 0; and whether the read may see it. */
    uint32_t own_write;
    bool sees_own;
} gate;

/* The first and the last position in a thread that a stop may have a race with. */
typedef struct span {
    uint32_t first, last;
} span;

struct mr_prospect {
    const mr_survey *survey;
    const mr_window *window;
    const mr_turns *turns;
    const mr_lock_rows *locks;
    gate *gates;       /* of one thread after the other, each with its end */
    uint64_t *freed;   /* one row a gate: the locks released since the gate before it */
    uint32_t *gate_at; /* as mr_moves.all: the first gate from there on */
    uint32_t *stops;   /* events */
    uint32_t stop_count;
    span *spans; /* one a stop and thread */
    /* In one look: */
    uint32_t look;
    uint32_t *given_in,
        *giver; /* one a number of what is written: the last look with a write of it; by
                                 * whom, MR_NONE: by several */
    uint32_t *next, *reached; /* one a thread: the gate that comes next; a position */
    uint64_t *held;           /* rows of the locks that threads still have since the state */
    uint64_t *held_by_any;    /* a row */
};

/* ---- rows of locks: exclusive, then shared ---- */

static uint64_t *held_of(const mr_prospect *x, uint32_t thread)
{
    return &x->held[(size_t)thread * 2 * x->locks->words];
}

static const uint64_t *row_at(const mr_prospect *x, uint32_t thread, uint32_t position)
{
    const mr_lock_rows *rows = x->locks;
    uint32_t row = rows->row_of[x->window->threads[thread].first + thread + position];
    return &rows->bits[(size_t)row * 2 * rows->words];
}

static void note_held_by_any(mr_prospect *x)
{
    uint32_t words = 2 * x->locks->words;
    memset(x->held_by_any, 0, words * sizeof *x->held_by_any);
    for (uint32_t i = 0; i < x->turns->thread_count; i++)
        for (uint32_t k = 0; k < words; k++)
            x->held_by_any[k] |= held_of(x, x->turns->threads[i])[k];
}

/* The thread goes on to this gate, past releases. True: it still had one of the locks. */
static bool release(mr_prospect *x, uint32_t thread, uint32_t number)
{
    uint32_t words = x->locks->words;
    const uint64_t *freed = &x->freed[(size_t)number * words];
    uint64_t *held = held_of(x, thread), met = 0;
    for (uint32_t k = 0; k < words; k++) {
        met |= freed[k] & (held[k] | held[words + k]);
        held[k] &= ~freed[k];
        held[words + k] &= ~freed[k];
    }
    return met;
}

/* Has another thread still a lock against those that the thread holds at a position? One that is shared with the thread itself does
 * not count. */
static bool is_locked_out(const mr_prospect *x, uint32_t thread, uint32_t position)
{
    uint32_t words = x->locks->words;
    const uint64_t *own = row_at(x, thread, position), *held = held_of(x, thread);
    uint64_t met = 0;
    for (uint32_t k = 0; k < words; k++) {
        uint64_t exclusive = x->held_by_any[k] & ~held[k];
        uint64_t shared = x->held_by_any[words + k] & ~held[words + k];
        met |= (own[k] & (exclusive | shared)) | (own[words + k] & exclusive);
    }
    return met;
}

/* ---- one look ---- */

static bool is_wanted(const mr_prospect *x, const uint32_t *state, uint32_t thread, uint32_t stop)
{
    const span *spans = &x->spans[(size_t)stop * x->window->thread_count];
    if (!x->survey->stops[x->stops[stop]])
        return false;
    for (uint32_t i = 0; i < x->turns->thread_count; i++) {
        uint32_t t = x->turns->threads[i];
        if (t != thread && spans[t].first <= x->reached[t] && spans[t].last >= state[t] &&
            spans[t].first <= spans[t].last)
            return true;
    }
    return false;
}

/* Does the thread go on behind the read? */
static bool may_see(const mr_prospect *x, const uint32_t *state, uint32_t thread, const gate *h)
{
    if (x->given_in[h->read] == x->look && x->giver[h->read] != thread)
        return true;
    return h->own_write > state[thread] ? h->sees_own : state[h->number] == h->sees;
}

static void give(mr_prospect *x, uint32_t thread, uint32_t written)
{
    if (x->given_in[written] != x->look)
        x->giver[written] = thread;
    else if (x->giver[written] != thread)
        x->giver[written] = MR_NONE;
    x->given_in[written] = x->look;
}

typedef enum going {
    GOING_WAITS,
    GOING_ON,
    GOING_TO_A_RACE,
} going;

/* The thread goes on as far as it can. */
static going go_on(mr_prospect *x, const uint32_t *state, uint32_t thread, uint32_t *gates)
{
    const mr_window *w = x->window;
    going result = GOING_WAITS;
    for (;; result = GOING_ON, ++*gates) {
        const gate *h = &x->gates[x->next[thread]];
        if (h->position == mr_window_length(w, thread) || *gates >= MOST_GATES ||
            is_locked_out(x, thread, h->position))
            return result;
        x->reached[thread] = h->position;
        if (h->stop && is_wanted(x, state, thread, h->stop - 1))
            return GOING_TO_A_RACE;
        if (h->number != MR_NONE && !may_see(x, state, thread, h))
            return result;
        if (h->written)
            give(x, thread, h->written);
        if (release(x, thread, ++x->next[thread]))
            note_held_by_any(x);
    }
}

static void stand_at(mr_prospect *x, const uint32_t *state)
{
    const mr_window *w = x->window;
    x->look++;
    for (uint32_t i = 0; i < x->turns->thread_count; i++) {
        uint32_t t = x->turns->threads[i];
        memcpy(held_of(x, t), row_at(x, t, state[t]),
               2 * (size_t)x->locks->words * sizeof *x->held);
        x->next[t] = x->gate_at[w->threads[t].first + t + state[t]];
        x->reached[t] = state[t];
        release(x, t, x->next[t]);
    }
    note_held_by_any(x);
}

bool mr_prospect_is_there(mr_prospect *x, const uint32_t *state, uint64_t *effort)
{
    uint32_t gates = x->turns->thread_count;
    bool is_there = false;
    stand_at(x, state);
    for (bool moved = true; moved && !is_there && gates < MOST_GATES;) {
        moved = false;
        for (uint32_t i = 0; i < x->turns->thread_count && !is_there; i++) {
            going result = go_on(x, state, x->turns->threads[i], &gates);
            moved |= result == GOING_ON;
            is_there = result == GOING_TO_A_RACE;
        }
    }
    *effort += gates / GATES_OF_EFFORT + 1;
    return is_there || gates >= MOST_GATES;
}

/* ---- the start ---- */

/* The number of what a write leaves, or a read sees, in a number of the state; 0: no memory. */
static uint32_t number_of(mr_map *numbers, uint32_t number, uint32_t what)
{
    uint32_t next = (uint32_t)numbers->count + 1;
    uint32_t *place = mr_map_at(numbers, (uint64_t)number << 32 | what, next);
    return place ? *place : 0;
}

/* Fills what an access needs and gives. `own` is one a number: the gate of the last write by the thread, + 1; 0: none. */
static bool fill_access(mr_prospect *x, const mr_move *move, mr_map *numbers, uint32_t *own,
                        uint32_t count)
{
    gate *h = &x->gates[count];
    if (move->kind == MR_MOVE_READ || move->kind == MR_MOVE_UPDATE) {
        uint32_t last = own[move->number];
        h->number = move->number;
        h->sees = move->sees;
        h->read = number_of(numbers, move->number, move->sees);
        h->own_write = last ? x->gates[last - 1].position + 1 : 0;
        h->sees_own = last && x->gates[last - 1].written == h->read;
        if (!h->read)
            return false;
    }
    if (!move->puts)
        return true;
    h->written = number_of(numbers, move->number, move->put);
    own[move->number] = count + 1;
    return h->written;
}

static bool is_gate(const mr_prospect *x, const mr_move *move)
{
    return move->event == MR_NONE || move->kind == MR_MOVE_READ || move->puts ||
           x->survey->stops[move->event];
}

/* Notes a lock that the event releases, for the gate that comes next. */
static void note_release(mr_prospect *x, uint32_t event, uint32_t count)
{
    const mr_window *w = x->window;
    const mr_section *section = event == MR_NONE ? NULL : mr_window_section(w, event);
    if (!section || section->release != event || x->locks->number_of[section->lock] == MR_NONE)
        return;
    uint32_t number = x->locks->number_of[section->lock];
    x->freed[(size_t)count * x->locks->words + number / 64] |= UINT64_C(1) << number % 64;
}

/* The gates of a thread, from `*count` on. */
static bool make_gates(mr_prospect *x, const mr_moves *moves, uint32_t thread, mr_map *numbers,
                       uint32_t *own, uint32_t *count)
{
    const mr_window *w = x->window;
    for (uint32_t p = 0; p <= mr_window_length(w, thread); p++) {
        const mr_move *move = mr_moves_at(moves, thread, p);
        x->gate_at[w->threads[thread].first + thread + p] = *count;
        note_release(x, move->event, *count);
        if (!is_gate(x, move))
            continue;
        x->gates[*count] = (gate){.position = p, .number = MR_NONE};
        if (move->event != MR_NONE && x->survey->stops[move->event]) {
            x->stops[x->stop_count] = move->event;
            x->gates[*count].stop = ++x->stop_count;
        }
        if (!fill_access(x, move, numbers, own, *count))
            return false;
        ++*count;
    }
    return true;
}

static bool make_all_gates(mr_prospect *x, const mr_moves *moves, mr_map *numbers, uint32_t width,
                           mr_arena *arena)
{
    const mr_window *w = x->window;
    uint32_t count = 0, *own = mr_arena_alloc(arena, width, sizeof *own);
    bool made = own;
    for (uint32_t t = 0; t < w->thread_count && made; t++) {
        memset(own, 0, width * sizeof *own);
        made = make_gates(x, moves, t, numbers, own, &count);
    }
    return made;
}

static void make_spans(mr_prospect *x)
{
    const mr_window *w = x->window;
    for (uint32_t i = 0; i < x->stop_count; i++) {
        span *spans = &x->spans[(size_t)i * w->thread_count];
        for (uint32_t t = 0; t < w->thread_count; t++)
            spans[t] = (span){UINT32_MAX, 0};
        for (uint32_t k = 0; k < x->stop_count; k++) { /* those of a thread are in its order */
            uint32_t a = x->stops[i], b = x->stops[k];
            span *s = &spans[w->thread[b]];
            if (w->thread[a] == w->thread[b] || !x->survey->wanted(x->survey->context, a, b))
                continue;
            if (s->first == UINT32_MAX)
                s->first = w->position[b];
            s->last = w->position[b];
        }
    }
}

static bool make_scratch(mr_prospect *x, uint32_t numbers, mr_arena *arena)
{
    uint32_t threads = x->window->thread_count;
    size_t row = (size_t)2 * x->locks->words;
    x->given_in = mr_arena_zalloc(arena, (size_t)numbers + 1, sizeof *x->given_in);
    x->giver = mr_arena_zalloc(arena, (size_t)numbers + 1, sizeof *x->giver);
    x->next = mr_arena_zalloc(arena, threads, sizeof *x->next);
    x->reached = mr_arena_zalloc(arena, threads, sizeof *x->reached);
    x->held = mr_arena_zalloc(arena, threads * row, sizeof *x->held);
    x->held_by_any = mr_arena_zalloc(arena, row, sizeof *x->held_by_any);
    x->spans = mr_arena_alloc(arena, (size_t)x->stop_count * threads, sizeof *x->spans);
    return x->given_in && x->giver && x->next && x->reached && x->held && x->held_by_any &&
           x->spans;
}

/* How many gates there are, and stops. */
static uint32_t count_gates(const mr_prospect *x, const mr_moves *moves, uint32_t *stops)
{
    const mr_window *w = x->window;
    uint32_t gates = 0;
    for (size_t i = 0; i < (size_t)w->size + w->thread_count; i++)
        gates += is_gate(x, &moves->all[i]);
    for (uint32_t e = 0; e < w->size; e++)
        *stops += x->survey->stops[e] != 0;
    return gates;
}

/* A number of the state is less than this. */
static uint32_t find_width(const mr_prospect *x, const mr_moves *moves)
{
    uint32_t width = 1;
    for (size_t i = 0; i < (size_t)x->window->size + x->window->thread_count; i++)
        if (moves->all[i].number != MR_NONE && moves->all[i].number >= width)
            width = moves->all[i].number + 1;
    return width;
}

bool mr_prospect_init(mr_prospect **prospect, const mr_survey *survey, const mr_turns *turns,
                      const mr_moves *moves, const mr_lock_rows *locks, mr_arena *arena)
{
    const mr_window *w = survey->window;
    uint32_t stops = 0;
    mr_map numbers = {0};
    mr_prospect *x = mr_arena_zalloc(arena, 1, sizeof *x);
    *prospect = NULL;
    if (!x)
        return false;
    *x = (mr_prospect){.survey = survey, .window = w, .turns = turns, .locks = locks};
    uint32_t gates = count_gates(x, moves, &stops);
    if (stops > MOST_STOPS || w->size > MOST_EVENTS ||
        (uint64_t)gates * locks->words > MOST_WORDS ||
        (uint64_t)stops * w->thread_count > MOST_WORDS)
        return true;
    x->gates = mr_arena_alloc(arena, gates, sizeof *x->gates);
    x->freed = mr_arena_zalloc(arena, (size_t)gates * locks->words, sizeof *x->freed);
    x->gate_at = mr_arena_alloc(arena, (size_t)w->size + w->thread_count, sizeof *x->gate_at);
    x->stops = mr_arena_alloc(arena, stops, sizeof *x->stops);
    bool made = x->gates && x->freed && x->gate_at && x->stops &&
                make_all_gates(x, moves, &numbers, find_width(x, moves), arena) &&
                make_scratch(x, (uint32_t)numbers.count, arena);
    mr_map_free(&numbers);
    if (made)
        make_spans(x);
    *prospect = made ? x : NULL;
    return made;
}
