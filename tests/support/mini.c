#include "mini.h"

#include <stdlib.h>
#include <string.h>

enum { ABSENT, RUNS, SLEEPS, WOKEN, AT_BARRIER, PASSES, ENDED };

static const mini_line *line_at(const mini_program *program, const mini_state *state, unsigned t)
{
    const mini_thread *self = &state->threads[t];
    return self->pc < program->count[t] ? &program->lines[t][self->pc] : NULL;
}

/* Does what others do not notice. */
static void settle(const mini_program *program, mini_state *state, unsigned t)
{
    mini_thread *self = &state->threads[t];
    const mini_line *line;
    while ((line = line_at(program, state, t)) != NULL && line->op >= MINI_MOVE) {
        self->pc++;
        if (line->op == MINI_MOVE)
            self->registers[line->a] = (uint8_t)line->c;
        else if (line->op == MINI_ADD)
            self->registers[line->a] = (uint8_t)((self->registers[line->a] + line->c) % 8);
        else if (self->registers[line->a] != line->c)
            self->pc = (uint8_t)line->b;
    }
}

void mini_begin(const mini_program *program, mini_state *state)
{
    memset(state, 0, sizeof *state);
    state->threads[0].status = RUNS;
    settle(program, state, 0);
}

const mini_line *mini_next(const mini_program *program, const mini_state *state, unsigned t)
{
    return line_at(program, state, t);
}

bool mini_sleeps(const mini_program *program, const mini_state *state, unsigned t, int condition)
{
    return state->threads[t].status == SLEEPS && line_at(program, state, t)->b == condition;
}

bool mini_can(const mini_program *program, const mini_state *state, unsigned t)
{
    const mini_thread *self = &state->threads[t];
    const mini_line *line = line_at(program, state, t);
    if (state->exited || self->status == ABSENT || self->status == ENDED)
        return false;
    if (!line)
        return true;
    switch ((int)line->op) {
    case MINI_LOCK:
        return !state->owner[line->b] && !state->readers[line->b];
    case MINI_RDLOCK:
        return !state->owner[line->b];
    case MINI_WAIT:
        return state->units[line->b] > 0;
    case MINI_SLEEP:
    case MINI_TIMED_SLEEP:
        if (self->sub == 1)
            return self->status == WOKEN || line->op == MINI_TIMED_SLEEP;
        return self->sub == 0 || (!state->owner[line->c] && !state->readers[line->c]);
    case MINI_BARRIER:
        return self->sub == 0 || self->status == PASSES;
    case MINI_JOIN:
        return state->threads[line->b].status == ENDED;
    default:
        return true;
    }
}

static bool is_access(const mini_line *line)
{
    return line && line->op <= MINI_CAS;
}

/* The thread comes to an access: has it been here, with nothing done since? */
static int fingerprint(const mini_state *state, const mini_line *line, unsigned t)
{
    const mini_thread *self = &state->threads[t];
    return is_access(line) ? self->pc << 8 | self->registers[0] << 4 | self->registers[1] : -1;
}

static void fold(mini_state *state, unsigned t, int here)
{
    mini_thread *self = &state->threads[t];
    for (unsigned i = self->effect; here >= 0 && i < self->length; i++)
        if (self->history[i].fingerprint == here && self->history[i].held == self->held) {
            self->length = (uint8_t)i;
            return;
        }
}

/* The part of a step that says what changes for others; the outcome. */
typedef struct done {
    unsigned outcome;
    bool effect;
    bool stays; /* at the same line */
} done;

static done do_access(mini_state *state, unsigned t, const mini_line *line)
{
    mini_thread *self = &state->threads[t];
    uint8_t *variable = &state->variables[line->b], old = *variable;
    switch ((int)line->op) {
    case MINI_STORE:
    case MINI_ASTORE:
        *variable = (uint8_t)line->a;
        return (done){0, true, false};
    case MINI_STORE_REG:
        *variable = self->registers[line->a];
        return (done){0, true, false};
    case MINI_FETCH_ADD:
        *variable = (uint8_t)((old + line->c) % 8);
        break;
    case MINI_EXCHANGE:
        *variable = (uint8_t)line->c;
        break;
    case MINI_CAS:
        *variable = old == 0 ? (uint8_t)line->c : old;
        break;
    default:
        break;
    }
    self->registers[line->a] = old;
    return (done){old, *variable != old, false};
}

static done do_lock(mini_state *state, unsigned t, const mini_line *line)
{
    mini_thread *self = &state->threads[t];
    unsigned free_now = !state->owner[line->b] && !state->readers[line->b];
    uint16_t bit = (uint16_t)(1u << line->b);
    switch ((int)line->op) {
    case MINI_TRYLOCK:
        self->registers[line->a] = (uint8_t)free_now;
        if (!free_now)
            return (done){0, false, false};
        state->owner[line->b] = 1;
        self->held |= bit;
        return (done){1, false, false};
    case MINI_LOCK:
        state->owner[line->b] = 1;
        self->held |= bit;
        break;
    case MINI_UNLOCK:
        state->owner[line->b] = 0;
        self->held &= (uint16_t)~bit;
        break;
    case MINI_RDLOCK:
        state->readers[line->b]++;
        self->held |= (uint16_t)(bit << 8);
        break;
    default:
        state->readers[line->b]--;
        self->held &= (uint16_t) ~(bit << 8);
        break;
    }
    return (done){0, false, false};
}

static done do_sleep(mini_state *state, unsigned t, const mini_line *line)
{
    mini_thread *self = &state->threads[t];
    if (self->sub == 0) {
        state->owner[line->c] = 0;
        self->held &= (uint16_t) ~(1u << line->c);
        self->status = SLEEPS;
        self->sub = 1;
        return (done){0, true, true};
    }
    if (self->sub == 1) {
        unsigned woken = self->status == WOKEN;
        if (line->op == MINI_TIMED_SLEEP)
            self->registers[line->a] = (uint8_t)woken;
        self->status = RUNS;
        self->sub = 2;
        return (done){woken, true, true};
    }
    state->owner[line->c] = 1;
    self->held |= (uint16_t)(1u << line->c);
    self->sub = 0;
    return (done){0, false, false};
}

static done do_barrier(mini_state *state, const mini_program *program, unsigned t,
                       const mini_line *line)
{
    mini_thread *self = &state->threads[t];
    if (self->sub == 1) {
        self->sub = 0;
        self->status = RUNS;
        self->registers[line->a] = 0;
        return (done){0, true, false};
    }
    if (state->arrived[line->b] + 1 < line->c) {
        state->arrived[line->b]++;
        self->status = AT_BARRIER;
        self->sub = 1;
        return (done){0, true, true};
    }
    state->arrived[line->b] = 0;
    self->registers[line->a] = 1;
    for (unsigned i = 0; i < program->threads; i++)
        if (state->threads[i].status == AT_BARRIER && line_at(program, state, i)->b == line->b)
            state->threads[i].status = PASSES;
    return (done){1, true, false};
}

static done do_line(const mini_program *program, mini_state *state, unsigned t, unsigned woken)
{
    const mini_line *line = line_at(program, state, t);
    mini_thread *self = &state->threads[t];
    unsigned had = state->units[line->b];
    switch ((int)line->op) {
    case MINI_POST:
        state->units[line->b]++;
        break;
    case MINI_WAIT:
        state->units[line->b]--;
        break;
    case MINI_TRYWAIT:
        state->units[line->b] = (uint8_t)(had - (had > 0));
        self->registers[line->a] = had > 0;
        return (done){had > 0, had > 0, false};
    case MINI_SLEEP:
    case MINI_TIMED_SLEEP:
        return do_sleep(state, t, line);
    case MINI_SIGNAL:
    case MINI_BROADCAST:
        for (unsigned i = 0; i < program->threads; i++)
            if (mini_sleeps(program, state, i, line->b) &&
                (line->op == MINI_BROADCAST || i == woken))
                state->threads[i].status = WOKEN;
        break;
    case MINI_BARRIER:
        return do_barrier(state, program, t, line);
    case MINI_FORK:
        state->threads[line->b].status = RUNS;
        settle(program, state, (unsigned)line->b);
        break;
    case MINI_EXIT:
        state->exited = 1;
        break;
    case MINI_JOIN:
        break;
    default:
        return line->op <= MINI_CAS ? do_access(state, t, line) : do_lock(state, t, line);
    }
    return (done){0, true, false};
}

unsigned mini_do(const mini_program *program, mini_state *state, unsigned t, unsigned woken)
{
    mini_thread *self = &state->threads[t];
    const mini_line *line = line_at(program, state, t);
    if (!line) {
        self->status = ENDED;
        return 0;
    }
    int here = fingerprint(state, line, t);
    if (self->sub == 0)
        fold(state, t, here);
    mini_entry entry = {
        .pc = self->pc, .sub = self->sub, .fingerprint = (int16_t)here, .held = self->held};
    done what = do_line(program, state, t, woken);
    entry.outcome = (uint8_t)what.outcome;
    if (self->length == MINI_HISTORY) {
        state->overflow = 1;
        self->length--;
    }
    self->history[self->length++] = entry;
    if (what.effect)
        self->effect = self->length;
    if (!what.stays)
        self->pc++;
    if (!what.stays)
        settle(program, state, t);
    const mini_line *next = line_at(program, state, t); /* it may be where it has been */
    if (self->sub == 0)
        fold(state, t, fingerprint(state, next, t));
    return what.outcome;
}

static bool is_atomic(mini_op op)
{
    return op >= MINI_ALOAD;
}

static bool writes(const mini_state *state, const mini_line *line)
{
    return line->op == MINI_CAS ? state->variables[line->b] == 0
                                : line->op != MINI_LOAD && line->op != MINI_ALOAD;
}

bool mini_races(const mini_program *program, const mini_state *state, unsigned a, unsigned b)
{
    const mini_line *x = line_at(program, state, a), *y = line_at(program, state, b);
    bool run = state->threads[a].status == RUNS && state->threads[b].status == RUNS;
    return run && !state->exited && is_access(x) && is_access(y) && x->b == y->b &&
           !(is_atomic(x->op) && is_atomic(y->op)) && (writes(state, x) || writes(state, y));
}

static bool is_local(const mini_program *program, const mini_state *state, unsigned t,
                     unsigned local)
{
    const mini_line *line = line_at(program, state, t);
    return state->threads[t].status == RUNS && is_access(line) && (local >> line->b & 1);
}

/* Does what others do not notice. A thread that does that for ever stands where its history is least. */
static void finish_local(const mini_program *program, mini_state *state, unsigned t, unsigned local)
{
    enum { ROUNDS = 200 };
    int left = ROUNDS;
    while (left-- > 0 && is_local(program, state, t, local))
        mini_do(program, state, t, MINI_THREADS);
    mini_state least = *state;
    for (int i = 0; i < ROUNDS && is_local(program, state, t, local); i++) {
        mini_do(program, state, t, MINI_THREADS);
        if (state->threads[t].length < least.threads[t].length)
            least = *state;
    }
    *state = least;
}

void mini_behaviour(const mini_program *program, const mini_state *state, unsigned local,
                    uint8_t *bytes)
{
    size_t at = 0;
    mini_state copy = *state;
    memset(bytes, 0, MINI_BEHAVIOUR_BYTES);
    for (unsigned t = 0; t < program->threads; t++) {
        const mini_thread *self = &copy.threads[t];
        finish_local(program, &copy, t, local);
        bytes[at++] = self->length;
        bytes[at++] = self->status == ENDED ? 2 : self->status != ABSENT;
        for (unsigned i = 0; i < self->length; i++) {
            bytes[at++] = self->history[i].pc;
            bytes[at++] = self->history[i].sub;
            bytes[at++] = self->history[i].outcome;
        }
    }
}

/* ---- all interleavings ---- */

typedef struct known {
    uint32_t next, hash; /* next: plus 1 */
    mini_state state;
} known;

typedef struct enumeration {
    const mini_program *program;
    known *states;
    size_t count, capacity;
    uint32_t *heads; /* of chains */
    uint32_t *moves; /* pairs */
    size_t move_count, move_capacity;
    uint32_t *finals;                                       /* states */
    uint8_t accessors[MINI_OBJECTS], writers[MINI_OBJECTS]; /* of variables */
} enumeration;

enum { HEADS = 1 << 16 };

static uint32_t hash_of(const mini_state *state)
{
    const uint8_t *bytes = (const uint8_t *)state;
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < sizeof *state; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return (uint32_t)(hash ^ hash >> 32);
}

/* History beyond its length must not tell states apart. */
static void clean(mini_state *state)
{
    for (unsigned t = 0; t < MINI_THREADS; t++) {
        mini_thread *self = &state->threads[t];
        memset(self->history + self->length, 0,
               (MINI_HISTORY - self->length) * sizeof *self->history);
        if (self->effect > self->length)
            self->effect = self->length;
    }
}

static uint32_t add_state(enumeration *all, mini_state *state)
{
    clean(state);
    uint32_t hash = hash_of(state), head = hash % HEADS;
    for (uint32_t i = all->heads[head]; i; i = all->states[i - 1].next)
        /* States that differ in padding alone are visited twice, which changes no answer. */
        if (all->states[i - 1].hash == hash &&
            /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c) */
            memcmp(&all->states[i - 1].state, state, sizeof *state) == 0)
            return i - 1;
    if (all->count == all->capacity) {
        all->capacity = all->capacity ? 2 * all->capacity : 256;
        all->states = realloc(all->states, all->capacity * sizeof *all->states);
    }
    all->states[all->count] = (known){.next = all->heads[head], .hash = hash};
    memcpy(&all->states[all->count].state, state, sizeof *state);
    all->heads[head] = (uint32_t)++all->count;
    return (uint32_t)all->count - 1;
}

static void add_move(enumeration *all, uint32_t from, uint32_t to)
{
    if (all->move_count + 2 > all->move_capacity) {
        all->move_capacity = all->move_capacity ? 2 * all->move_capacity : 256;
        all->moves = realloc(all->moves, all->move_capacity * sizeof *all->moves);
    }
    all->moves[all->move_count++] = from;
    all->moves[all->move_count++] = to;
}

static void note_race(mini_found *found, const mini_state *state, unsigned a, unsigned b)
{
    uint16_t x = (uint16_t)(a << 8 | state->threads[a].pc);
    uint16_t y = (uint16_t)(b << 8 | state->threads[b].pc);
    for (size_t i = 0; i < found->races; i++)
        if (found->race_places[i][0] == x && found->race_places[i][1] == y)
            return;
    if (found->races < 256) {
        found->race_places[found->races][0] = x;
        found->race_places[found->races++][1] = y;
    }
}

static void expand(enumeration *all, uint32_t number, mini_found *found)
{
    const mini_program *program = all->program;
    bool some = false;
    for (unsigned a = 0; a < program->threads; a++)
        for (unsigned b = a + 1; b < program->threads; b++)
            if (mini_races(program, &all->states[number].state, a, b))
                note_race(found, &all->states[number].state, a, b);
    for (unsigned t = 0; t < program->threads; t++) {
        const mini_state *from = &all->states[number].state;
        if (!mini_can(program, from, t))
            continue;
        const mini_line *line = mini_next(program, from, t);
        bool signals = line && line->op == MINI_SIGNAL, somebody = false;
        if (is_access(line)) {
            all->accessors[line->b] |= (uint8_t)(1u << t);
            all->writers[line->b] |= (uint8_t)(writes(from, line) << t);
        }
        some = true;
        for (unsigned woken = 0; signals && woken < program->threads; woken++) {
            mini_state next = all->states[number].state;
            if (!mini_sleeps(program, &next, woken, line->b))
                continue;
            somebody = true;
            mini_do(program, &next, t, woken);
            add_move(all, number, add_state(all, &next));
        }
        if (!somebody) {
            mini_state next = all->states[number].state;
            mini_do(program, &next, t, MINI_THREADS);
            add_move(all, number, add_state(all, &next));
        }
    }
    if (some)
        return;
    all->finals = realloc(all->finals, (found->finals + 1) * sizeof *all->finals);
    all->finals[found->finals++] = number;
}

static int compare_behaviours(const void *a, const void *b)
{
    return memcmp(a, b, MINI_BEHAVIOUR_BYTES);
}

static int compare_races(const void *a, const void *b)
{
    const uint16_t *x = a, *y = b;
    return x[0] != y[0] ? x[0] - y[0] : x[1] - y[1];
}

static void write_finals(const enumeration *all, mini_found *found)
{
    for (unsigned i = 0; i < MINI_OBJECTS; i++)
        if (!all->writers[i] || !(all->accessors[i] & (all->accessors[i] - 1)))
            found->local |= 1u << i;
    found->behaviours = malloc((found->finals + 1) * MINI_BEHAVIOUR_BYTES);
    for (size_t i = 0; i < found->finals; i++)
        mini_behaviour(all->program, &all->states[all->finals[i]].state, found->local,
                       found->behaviours + i * MINI_BEHAVIOUR_BYTES);
}

static void unite(mini_found *found)
{
    size_t kept = 0;
    uint8_t *all = found->behaviours;
    if (found->finals)
        qsort(all, found->finals, MINI_BEHAVIOUR_BYTES, compare_behaviours);
    for (size_t i = 0; i < found->finals; i++)
        if (!kept || memcmp(all + (kept - 1) * MINI_BEHAVIOUR_BYTES, all + i * MINI_BEHAVIOUR_BYTES,
                            MINI_BEHAVIOUR_BYTES) != 0)
            memmove(all + kept++ * MINI_BEHAVIOUR_BYTES, all + i * MINI_BEHAVIOUR_BYTES,
                    MINI_BEHAVIOUR_BYTES);
    found->finals = kept;
    qsort(found->race_places, found->races, sizeof *found->race_places, compare_races);
}

/* Is there a state from which none can be reached that nobody can leave? */
static bool has_endless(enumeration *all)
{
    bool changed = true, *ends = calloc(all->count + 1, sizeof *ends);
    for (size_t i = 0; i < all->count; i++) {
        bool can = false;
        for (unsigned t = 0; t < all->program->threads; t++)
            can = can || mini_can(all->program, &all->states[i].state, t);
        ends[i] = !can;
    }
    while (changed) {
        changed = false;
        for (size_t i = all->move_count; i >= 2; i -= 2)
            if (ends[all->moves[i - 1]] && !ends[all->moves[i - 2]])
                ends[all->moves[i - 2]] = changed = true;
    }
    bool found = false;
    for (size_t i = 0; i < all->count; i++)
        found = found || !ends[i];
    free(ends);
    return found;
}

void mini_enumerate(const mini_program *program, size_t most_states, mini_found *found)
{
    enumeration all = {.program = program, .heads = calloc(HEADS, sizeof(uint32_t))};
    mini_state first;
    memset(found, 0, sizeof *found);
    mini_begin(program, &first);
    add_state(&all, &first);
    for (uint32_t i = 0; i < all.count && !found->gave_up; i++) {
        expand(&all, i, found);
        found->gave_up = all.count > most_states || all.states[i].state.overflow;
    }
    found->states = all.count;
    write_finals(&all, found);
    unite(found);
    found->endless = !found->gave_up && has_endless(&all);
    free(all.states);
    free(all.heads);
    free(all.moves);
    free(all.finals);
}
