/*
 * hunt/model…, exhaustive: random tiny programs, run by an interpreter, explored by the search and by
 * the enumeration of all interleavings (support/mini.h): behaviours, races and endless loops are equal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hunt/exhaustive/exhaustive.h"
#include "support/length.h"
#include "support/mini.h"
#include "support/mini_random.h"
#include "support/random.h"

enum { MOST_STATES = 30000, RUN_STEPS = 400 };

/* ---- a program is run ---- */

typedef struct interpreter {
    const mini_program *program;
    uint64_t positions[MINI_THREADS];
    mr_random random;
} interpreter;

/* The thread of the program that the thread of the model is: each has a number of its own. */
static unsigned thread_of(const mr_pmodel *model, uint32_t thread)
{
    const mr_pmodel_thread *its = &model->threads[thread];
    return its->parent == MR_PMODEL_NONE ? 0 : its->nth;
}

static uint64_t address_of(int variable)
{
    return 0x1000 + 4 * (uint64_t)variable; /* two to a word */
}

static mr_pmodel_op access_op(mr_pmodel_kind kind, bool is_atomic, int variable)
{
    return (mr_pmodel_op){.kind = (uint8_t)kind,
                          .is_atomic = is_atomic,
                          .address = address_of(variable),
                          .bytes = 4,
                          .object = 0};
}

static mr_pmodel_op object_op(mr_pmodel *model, mr_pmodel_kind kind, mr_pmodel_role role,
                              int object)
{
    return (mr_pmodel_op){.kind = (uint8_t)kind,
                          .object =
                              mr_pmodel_object_of(model, role, 0x5000 + 64 * (uint64_t)object)};
}

static mr_pmodel_op sleep_op(mr_pmodel *model, const mini_line *line, unsigned sub)
{
    mr_pmodel_op op;
    if (sub == 2)
        return object_op(model, MR_PMODEL_LOCK, MR_PMODEL_IS_LOCK, line->c);
    op = object_op(model, sub == 0 ? MR_PMODEL_SLEEP : MR_PMODEL_WAKE, MR_PMODEL_IS_CONDITION,
                   line->b);
    if (sub == 0)
        op.other = mr_pmodel_object_of(model, MR_PMODEL_IS_LOCK, 0x5000 + 64 * (uint64_t)line->c);
    op.is_timed = sub == 1 && line->op == MINI_TIMED_SLEEP;
    return op;
}

static mr_pmodel_op op_of(mr_pmodel *model, const mini_state *state, unsigned thread,
                          const mini_line *line, uint32_t self)
{
    unsigned sub = state->threads[thread].sub;
    mr_pmodel_op op;
    switch (line ? (int)line->op : -1) {
    case MINI_LOAD:
        return access_op(MR_PMODEL_READ, false, line->b);
    case MINI_ALOAD:
        return access_op(MR_PMODEL_READ, true, line->b);
    case MINI_STORE:
    case MINI_STORE_REG:
        return access_op(MR_PMODEL_WRITE, false, line->b);
    case MINI_ASTORE:
        return access_op(MR_PMODEL_WRITE, true, line->b);
    case MINI_FETCH_ADD:
    case MINI_EXCHANGE:
    case MINI_CAS:
        return access_op(MR_PMODEL_UPDATE, true, line->b);
    case MINI_LOCK:
        return object_op(model, MR_PMODEL_LOCK, MR_PMODEL_IS_LOCK, line->b);
    case MINI_UNLOCK:
        return object_op(model, MR_PMODEL_UNLOCK, MR_PMODEL_IS_LOCK, line->b);
    case MINI_TRYLOCK:
        return object_op(model, MR_PMODEL_TRY, MR_PMODEL_IS_LOCK, line->b);
    case MINI_RDLOCK:
        return object_op(model, MR_PMODEL_LOCK_SHARED, MR_PMODEL_IS_LOCK, line->b);
    case MINI_RDUNLOCK:
        return object_op(model, MR_PMODEL_UNLOCK_SHARED, MR_PMODEL_IS_LOCK, line->b);
    case MINI_POST:
        op = object_op(model, MR_PMODEL_POST, MR_PMODEL_IS_SEMAPHORE, line->b);
        op.other = 1;
        return op;
    case MINI_WAIT:
        return object_op(model, MR_PMODEL_WAIT, MR_PMODEL_IS_SEMAPHORE, line->b);
    case MINI_TRYWAIT:
        return object_op(model, MR_PMODEL_TRY_WAIT, MR_PMODEL_IS_SEMAPHORE, line->b);
    case MINI_SLEEP:
    case MINI_TIMED_SLEEP:
        return sleep_op(model, line, sub);
    case MINI_SIGNAL:
        return object_op(model, MR_PMODEL_SIGNAL, MR_PMODEL_IS_CONDITION, line->b);
    case MINI_BROADCAST:
        return object_op(model, MR_PMODEL_BROADCAST, MR_PMODEL_IS_CONDITION, line->b);
    case MINI_BARRIER:
        op = object_op(model, sub == 0 ? MR_PMODEL_ARRIVE : MR_PMODEL_PASS, MR_PMODEL_IS_BARRIER,
                       line->b);
        op.other = sub == 0 ? (uint32_t)line->c : 0;
        return op;
    case MINI_FORK:
    case MINI_JOIN:
        /* Creators number their threads by the number in the program. */
        return (mr_pmodel_op){.kind = line->op == MINI_FORK ? MR_PMODEL_FORK : MR_PMODEL_JOIN,
                              .object = mr_pmodel_thread_of(model, self, (uint32_t)line->b)};
    case MINI_EXIT:
        return (mr_pmodel_op){.kind = MR_PMODEL_EXIT};
    default:
        return (mr_pmodel_op){.kind = MR_PMODEL_END};
    }
}

/* The records of an operation, as the runtime library writes them: a signal has one for itself, and two
 * for each thread that it wakes, or one when it wakes none. */
static unsigned records_of(const mini_program *program, const mini_state *state, unsigned thread)
{
    const mini_line *line = mini_next(program, state, thread);
    unsigned woken = 0;
    if (!line || (line->op != MINI_SIGNAL && line->op != MINI_BROADCAST))
        return 1;
    for (unsigned t = 0; t < program->threads; t++)
        woken += mini_sleeps(program, state, t, line->b);
    woken = line->op == MINI_SIGNAL && woken > 1 ? 1 : woken;
    return woken ? 1 + 2 * woken : 2;
}

/* Does one operation of the thread, and learns it. */
static bool learn_step(interpreter *self, mr_pmodel *model, mr_pmodel_run *run, mini_state *state,
                       unsigned thread, unsigned woken)
{
    const mini_line *line = mini_next(self->program, state, thread);
    const mini_thread *its = &state->threads[thread];
    uint32_t in_model = thread == 0 ? mr_pmodel_thread_of(model, MR_PMODEL_NONE, 0)
                                    : mr_pmodel_thread_of(model, 0, thread);
    mr_pmodel_event event = {
        .op = op_of(model, state, thread, line, in_model), .thread = in_model, .records = 1};
    uint32_t before = 0, after;
    event.op.code = (uint64_t)thread << 8 | its->pc;
    if (line && line->op <= MINI_CAS) {
        before = state->variables[line->b];
        event.has_state = true;
        event.state =
            (uint64_t)its->pc << 32 | (uint64_t)its->registers[0] << 16 | its->registers[1];
    }
    unsigned outcome = mini_do(self->program, state, thread, woken);
    if (line && line->op <= MINI_CAS) {
        after = state->variables[line->b];
        if (mr_pmodel_reads(event.op.kind))
            event.seen = &before;
        if (event.op.kind == MR_PMODEL_WRITE || before != after || line->op == MINI_EXCHANGE ||
            line->op == MINI_FETCH_ADD)
            event.written = &after;
    } else if (line) {
        event.outcome = outcome;
    }
    return mr_pmodel_see(model, run, &event) == MR_PMODEL_FITS;
}

static void see_blocked(interpreter *self, mr_pmodel *model, mr_pmodel_run *run,
                        const mini_state *state)
{
    for (unsigned t = 0; t < self->program->threads; t++) {
        const mini_line *line = mini_next(self->program, state, t);
        if (state->exited || state->threads[t].status == 0 || state->threads[t].status == 6 ||
            mini_can(self->program, state, t))
            continue;
        uint32_t in_model = t == 0 ? mr_pmodel_thread_of(model, MR_PMODEL_NONE, 0)
                                   : mr_pmodel_thread_of(model, 0, t);
        mr_pmodel_op op = op_of(model, state, t, line, in_model);
        op.code = (uint64_t)t << 8 | state->threads[t].pc;
        assert_int_equal(mr_pmodel_see_waiting(model, run, in_model, &op), MR_PMODEL_FITS);
    }
}

/* The thread does its operations before the position. */
static void run_to(interpreter *self, mr_pmodel *model, mr_pmodel_run *run, mini_state *state,
                   unsigned thread, uint64_t position, unsigned woken)
{
    while (self->positions[thread] < position) {
        assert_true(mini_can(self->program, state, thread));
        self->positions[thread] += records_of(self->program, state, thread);
        if (model)
            assert_true(learn_step(self, model, run, state, thread, woken));
        else
            mini_do(self->program, state, thread, woken);
    }
    assert_int_equal(self->positions[thread], position);
}

static mr_status run_program(void *context, mr_pmodel *model, const mr_explore_request *request,
                             mr_pmodel_run *run, mr_explore_ran *ran, mr_error *error)
{
    interpreter *self = context;
    mini_state state;
    (void)error;
    mini_begin(self->program, &state);
    memset(self->positions, 0, sizeof self->positions);
    for (size_t i = 0; i < request->stop_count; i++) {
        const mr_explore_stop *stop = &request->stops[i];
        run_to(self, model, run, &state, thread_of(model, stop->thread), stop->position,
               stop->woken == MR_PMODEL_NONE ? (unsigned)MINI_THREADS
                                             : thread_of(model, stop->woken));
    }
    if (request->then != MR_PMODEL_NONE) {
        unsigned thread = thread_of(model, request->then);
        run_to(self, model, run, &state, thread, request->then_from, MINI_THREADS);
        see_blocked(self, model, run, &state);
    }
    unsigned first = request->then != MR_PMODEL_NONE ? thread_of(model, request->then) : 99;
    for (unsigned steps = 0; steps < RUN_STEPS; steps++) {
        unsigned can[MINI_THREADS], count = 0;
        for (unsigned t = 0; t < self->program->threads; t++)
            if (mini_can(self->program, &state, t))
                can[count++] = t;
        if (count == 0)
            break;
        unsigned thread = can[mr_random_below(&self->random, count)], woken = MINI_THREADS;
        if (steps == 0 && first < MINI_THREADS && mini_can(self->program, &state, first))
            thread = first;
        for (unsigned t = 0, seen = 0; t < self->program->threads; t++) {
            const mini_line *line = mini_next(self->program, &state, thread);
            if (line && mini_sleeps(self->program, &state, t, line->b) &&
                mr_random_below(&self->random, ++seen) == 0)
                woken = t;
        }
        assert_true(learn_step(self, model, run, &state, thread, woken));
    }
    see_blocked(self, model, run, &state);
    ran->end = MR_EXPLORE_FINE;
    return MR_OK;
}

/* ---- comparison ---- */

static int compare_behaviours(const void *a, const void *b)
{
    return memcmp(a, b, MINI_BEHAVIOUR_BYTES);
}

/* The behaviours of the search, as the enumeration writes them: each way is run. */
static uint8_t *behaviours_of(const mini_program *program, unsigned local, const mr_explore *self)
{
    uint8_t *all = malloc((self->search.final_count + 1) * MINI_BEHAVIOUR_BYTES);
    for (size_t i = 0; i < self->search.final_count; i++) {
        interpreter runs = {.program = program};
        mini_state state;
        mr_explore_stop *stops;
        size_t count;
        mr_error error;
        assert_int_equal(
            mr_explore_stops(self, &self->search.finals[i].way, &stops, &count, &error), MR_OK);
        mini_begin(program, &state);
        for (size_t k = 0; k < count; k++)
            run_to(&runs, NULL, NULL, &state, thread_of(&self->model, stops[k].thread),
                   stops[k].position,
                   stops[k].woken == MR_PMODEL_NONE ? (unsigned)MINI_THREADS
                                                    : thread_of(&self->model, stops[k].woken));
        free(stops);
        mini_behaviour(program, &state, local, all + i * MINI_BEHAVIOUR_BYTES);
    }
    qsort(all, self->search.final_count, MINI_BEHAVIOUR_BYTES, compare_behaviours);
    return all;
}

static int compare_races(const void *a, const void *b)
{
    const uint16_t *x = a, *y = b;
    return x[0] != y[0] ? x[0] - y[0] : x[1] - y[1];
}

static bool same_races(const mr_explore *self, const mini_found *found)
{
    uint16_t pairs[256][2];
    size_t count = self->search.race_count;
    for (size_t i = 0; i < count && i < 256; i++) {
        const mr_seek_race *race = &self->search.races[i];
        uint16_t a = (uint16_t)self->model.nodes[race->first_node].op.code;
        uint16_t b = (uint16_t)self->model.nodes[race->second_node].op.code;
        pairs[i][0] = a < b ? a : b;
        pairs[i][1] = a < b ? b : a;
    }
    qsort(pairs, count, sizeof *pairs, compare_races);
    return count == found->races && memcmp(pairs, found->race_places, count * sizeof *pairs) == 0;
}

static void print_program(const mini_program *program, uint64_t seed)
{
    printf("seed %llu\n", (unsigned long long)seed);
    for (unsigned t = 0; t < program->threads; t++)
        for (unsigned i = 0; i < program->count[t]; i++)
            printf("  %u.%u op %d a %d b %d c %d\n", t, i, (int)program->lines[t][i].op,
                   program->lines[t][i].a, program->lines[t][i].b, program->lines[t][i].c);
}

typedef struct sums {
    uint64_t programs, behaviours, naive_states, states, endless, races, skipped;
} sums;

static void compare_one(uint64_t seed, sums *all)
{
    mini_program program;
    mini_found found;
    mr_random random = {seed};
    mr_explore self = {.had = NULL};
    interpreter runs = {.program = &program, .random = {seed + 1}};
    const mr_explore_settings settings = {
        .runner = run_program, .context = &runs, .max_states = 1000000};
    mr_error error = {0};
    mini_random(&random, &program);
    mini_enumerate(&program, MOST_STATES, &found);
    if (found.gave_up || found.races == 256) {
        all->skipped++;
        free(found.behaviours);
        return;
    }
    assert_int_equal(mr_explore_all(&self, &settings, &error), MR_OK);
    uint8_t *behaviours = behaviours_of(&program, found.local, &self);
    bool same = self.verdict == MR_EXPLORE_ALL && self.search.final_count == found.finals &&
                memcmp(behaviours, found.behaviours, found.finals * MINI_BEHAVIOUR_BYTES) == 0 &&
                same_races(&self, &found) && (self.search.endless != 0) == found.endless;
    if (!same) {
        print_program(&program, seed);
        printf("verdict %d %s; behaviours %zu, enumerated %zu; races %zu, enumerated %zu; endless "
               "%llu, enumerated %d\n",
               (int)self.verdict, self.reason, self.search.final_count, found.finals,
               self.search.race_count, found.races, (unsigned long long)self.search.endless,
               found.endless);
        fail();
    }
    all->programs++;
    all->behaviours += found.finals;
    all->naive_states += found.states;
    all->states += self.search.states;
    all->endless += found.endless;
    all->races += found.races;
    free(behaviours);
    free(found.behaviours);
    mr_explore_free(&self);
}

static void random_programs(void **state)
{
    sums all = {0};
    uint64_t first = getenv("MODEL_SEED") ? strtoull(getenv("MODEL_SEED"), NULL, 10) : 1;
    uint64_t count = getenv("MODEL_SEED") ? 1 : mr_length("programs", 1500, 20000);
    (void)state;
    for (uint64_t seed = first; seed < first + count; seed++)
        compare_one(seed, &all);
    printf("%llu programs, %llu too large; %llu behaviours, %llu races, %llu with endless waits; "
           "states %llu, enumerated %llu\n",
           (unsigned long long)all.programs, (unsigned long long)all.skipped,
           (unsigned long long)all.behaviours, (unsigned long long)all.races,
           (unsigned long long)all.endless, (unsigned long long)all.states,
           (unsigned long long)all.naive_states);
    assert_true(getenv("MODEL_SEED") || all.programs > count / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
