#include "generate.h"

#include "base/memory.h"
#include "program.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LEAST_EVENTS = 4,
    MOST_EVENTS = 20,
    LONGER_LEAST = 20,
    LONGER_MOST = 48,
    USUAL_THREADS = 6,
    USUAL_VARIABLES = 3,
    USUAL_LOCKS = 3,
    LINE_BYTES = 64,
};

/* The execution of the programs, and the trace recorded so far. */
typedef struct run {
    mr_random *random;
    const mr_parameters *parameters;
    mr_program programs[MR_PROGRAM_THREADS];
    uint32_t position[MR_PROGRAM_THREADS];
    bool started[MR_PROGRAM_THREADS];
    uint32_t owner[MR_PROGRAM_LOCKS], depth[MR_PROGRAM_LOCKS];
    int64_t memory[MR_PROGRAM_VARIABLES];
    bool missing[MR_PROGRAM_VARIABLES]; /* some accesses have no value */
    int64_t next_unique;
    char *text;
    size_t length;
    uint32_t event_count;
} run;

const char *mr_shape_name(mr_shape shape)
{
    static const char *const names[MR_SHAPE_COUNT] = {
#define MR_SHAPE_NAME(name, text) text,
        MR_SHAPE_MAP(MR_SHAPE_NAME)
#undef MR_SHAPE_NAME
    };
    return names[shape];
}

/* One draw a statement: the order of draws must not depend on the compiler. */
static mr_parameters any_parameters(mr_random *random)
{
    mr_parameters p = {0};
    p.threads = mr_random_range(random, 2, 4);
    p.events = mr_random_range(random, 6, 16);
    p.variables = mr_random_range(random, 1, USUAL_VARIABLES);
    p.locks = mr_random_range(random, 1, USUAL_LOCKS);
    p.lock_style = mr_random_below(random, MR_LOCKS_COUNT);
    p.value_style = mr_random_below(random, MR_VALUES_COUNT);
    p.section_percent = mr_random_range(random, 20, 60);
    p.read_percent = mr_random_range(random, 30, 70);
    p.open_percent = mr_random_percent(random, 25) ? 30 : 0;
    p.fork_percent = mr_random_percent(random, 50) ? 70 : 0;
    p.join_percent = 50;
    p.end_percent = mr_random_percent(random, 25) ? 60 : 0;
    p.same_percent = mr_random_below(random, 40);
    p.missing_percent = mr_random_percent(random, 20) ? 50 : 0;
    p.unrecorded_percent = mr_random_percent(random, 15) ? 20 : 0;
    p.stay_percent = mr_random_below(random, 70);
    p.few_locations = 40;
    return p;
}

/* Several locks whose sections conflict seldom enough to leave something unordered. */
static void shape_chains(mr_random *random, mr_parameters *p)
{
    p->threads = mr_random_range(random, 2, 4);
    p->events = mr_random_range(random, 16, MOST_EVENTS);
    p->lock_style = MR_LOCKS_CHAIN;
    p->locks = mr_random_range(random, 2, 3);
    p->variables = p->locks + 1;
    p->section_percent = 95;
    p->read_percent = mr_random_range(random, 30, 60);
    p->open_percent = mr_random_percent(random, 20) ? 10 : 0;
    p->fork_percent /= 2;
    p->stay_percent = mr_random_range(random, 70, 95);
}

static void shape_threads_and_locks(mr_random *random, mr_shape shape, mr_parameters *p)
{
    switch (shape) {
    case MR_SHAPE_TWO_THREADS:
        p->threads = 2;
        break;
    case MR_SHAPE_MANY_THREADS:
        p->threads = mr_random_range(random, 4, USUAL_THREADS);
        p->events = mr_random_range(random, 10, 14);
        break;
    case MR_SHAPE_PLAIN_LOCKS:
        p->lock_style = MR_LOCKS_PLAIN;
        break;
    case MR_SHAPE_NESTED_LOCKS:
        p->lock_style = MR_LOCKS_NESTED;
        break;
    case MR_SHAPE_HAND_OVER_HAND:
        p->lock_style = MR_LOCKS_HAND;
        break;
    case MR_SHAPE_REENTRANT:
        p->lock_style = MR_LOCKS_REENTRANT;
        break;
    case MR_SHAPE_OPEN_LOCKS:
        p->lock_style = mr_random_percent(random, 50) ? MR_LOCKS_PLAIN : MR_LOCKS_NESTED;
        p->open_percent = 40;
        break;
    case MR_SHAPE_DEADLOCK:
        p->lock_style = MR_LOCKS_OPPOSITE;
        p->stay_percent = 80; /* else most runs do deadlock */
        break;
    case MR_SHAPE_TANGLED:
        p->threads = mr_random_range(random, 3, 4);
        p->locks = 2;
        p->lock_style = mr_random_percent(random, 50) ? MR_LOCKS_PLAIN : MR_LOCKS_NESTED;
        p->value_style = MR_VALUES_SMALL;
        p->fork_percent = 0;
        p->stay_percent = 40;
        break;
    case MR_SHAPE_FORK_JOIN:
        p->threads = mr_random_range(random, 3, 5);
        p->fork_percent = 85;
        p->join_percent = 80;
        break;
    default:
        break;
    }
    if (p->lock_style == MR_LOCKS_HAND || p->lock_style == MR_LOCKS_OPPOSITE)
        p->locks = mr_random_range(random, 2, USUAL_LOCKS);
    if (shape >= MR_SHAPE_PLAIN_LOCKS && shape <= MR_SHAPE_TANGLED) {
        /* Locks take most of the events: more of these, on fewer variables. */
        p->events = mr_random_range(random, 10, MOST_EVENTS);
        p->variables = mr_random_range(random, 1, 2);
        p->section_percent = 60;
    }
    if (shape == MR_SHAPE_CHAINS)
        shape_chains(random, p);
}

static void shape_values(mr_random *random, mr_shape shape, mr_parameters *p)
{
    switch (shape) {
    case MR_SHAPE_SMALL_VALUES:
        p->value_style = MR_VALUES_SMALL;
        break;
    case MR_SHAPE_UNIQUE_VALUES:
        p->value_style = MR_VALUES_UNIQUE;
        break;
    case MR_SHAPE_SAME_VALUE_WRITES:
        p->value_style = MR_VALUES_SMALL;
        p->same_percent = 70;
        p->read_percent = 30;
        break;
    case MR_SHAPE_REPEATED_READS:
        p->value_style = MR_VALUES_SMALL;
        p->read_percent = 75;
        break;
    case MR_SHAPE_INITIAL_READS:
        p->value_style = mr_random_percent(random, 70) ? MR_VALUES_SMALL : MR_VALUES_UNIQUE;
        p->variables = USUAL_VARIABLES;
        p->read_percent = 65;
        break;
    case MR_SHAPE_MISSING_VALUES:
        p->missing_percent = 60;
        p->value_style = MR_VALUES_SMALL;
        break;
    case MR_SHAPE_UNRECORDED_WRITER:
        p->unrecorded_percent = 30;
        p->value_style = MR_VALUES_SMALL;
        break;
    case MR_SHAPE_NO_VALUES:
        p->value_style = MR_VALUES_NONE;
        break;
    default:
        break;
    }
}

static bool runnable(const run *r, uint32_t thread)
{
    const mr_program *program = &r->programs[thread];
    if (!r->started[thread] || r->position[thread] == program->count)
        return false;
    mr_instruction next = program->steps[r->position[thread]];
    if (next.op == MR_OP_ACQUIRE)
        return r->depth[next.operand] == 0 || r->owner[next.operand] == thread;
    if (next.op == MR_OP_JOIN)
        return r->started[next.operand] &&
               r->position[next.operand] == r->programs[next.operand].count;
    return true;
}

static int64_t new_value(run *r, int64_t old)
{
    if (mr_random_percent(r->random, r->parameters->same_percent))
        return old;
    if (r->parameters->value_style == MR_VALUES_UNIQUE)
        return r->next_unique++;
    return mr_random_below(r->random, 2);
}

static void record(run *r, uint32_t thread, const char *operand)
{
    const mr_program *program = &r->programs[thread];
    mr_instruction step = program->steps[r->position[thread]++];
    r->length += (size_t)snprintf(r->text + r->length, LINE_BYTES, "T%" PRIu32 "|%s(%s)|%d\n",
                                  thread, mr_op_name(step.op), operand, step.location);
    r->event_count++;
}

static void do_access(run *r, uint32_t thread, mr_instruction step)
{
    int64_t *place = &r->memory[step.operand];
    bool outside =
        step.op == MR_OP_READ && mr_random_percent(r->random, r->parameters->unrecorded_percent);
    if (step.op == MR_OP_WRITE || outside)
        *place = new_value(r, *place);
    char operand[32];
    bool hidden = r->parameters->value_style == MR_VALUES_NONE ||
                  (r->missing[step.operand] && mr_random_percent(r->random, 40));
    if (hidden)
        snprintf(operand, sizeof operand, "x%d", step.operand);
    else
        snprintf(operand, sizeof operand, "x%d=%" PRId64, step.operand, *place);
    record(r, thread, operand);
}

static void do_step(run *r, uint32_t thread)
{
    mr_instruction step = r->programs[thread].steps[r->position[thread]];
    char operand[32] = "";
    switch (step.op) {
    case MR_OP_READ:
    case MR_OP_WRITE:
        do_access(r, thread, step);
        return;
    case MR_OP_ACQUIRE:
        r->depth[step.operand]++;
        r->owner[step.operand] = thread;
        snprintf(operand, sizeof operand, "l%d", step.operand);
        break;
    case MR_OP_RELEASE:
        r->depth[step.operand]--;
        snprintf(operand, sizeof operand, "l%d", step.operand);
        break;
    case MR_OP_FORK:
        r->started[step.operand] = true;
        snprintf(operand, sizeof operand, "T%d", step.operand);
        break;
    case MR_OP_JOIN:
        snprintf(operand, sizeof operand, "T%d", step.operand);
        break;
    default:
        break;
    }
    record(r, thread, operand);
}

static void run_programs(run *r)
{
    uint32_t last = mr_random_below(r->random, r->parameters->threads);
    while (r->event_count < r->parameters->events) {
        uint32_t choices[MR_PROGRAM_THREADS], count = 0;
        for (uint32_t t = 0; t < r->parameters->threads; t++) {
            if (runnable(r, t))
                choices[count++] = t;
        }
        if (!count)
            return;
        if (!runnable(r, last) || !mr_random_percent(r->random, r->parameters->stay_percent))
            last = choices[mr_random_below(r->random, count)];
        do_step(r, last);
    }
}

static void run_init(run *r)
{
    const mr_parameters *p = r->parameters;
    static const int64_t unique_starts[] = {1, -7, INT64_MIN, INT64_MAX - 100, 1000000007};
    mr_program_build(r->random, p, r->programs);
    for (uint32_t t = 0; t < p->threads; t++)
        r->started[t] = !r->programs[t].forked;
    r->next_unique = unique_starts[mr_random_below(r->random, 5)];
    for (uint32_t x = 0; x < p->variables; x++) {
        r->memory[x] = p->value_style == MR_VALUES_SMALL ? mr_random_below(r->random, 2) : 0;
        r->missing[x] = mr_random_percent(r->random, p->missing_percent);
    }
}

/* More events on more variables: with few, conflicts order nearly everything. */
static void lengthen(mr_random *random, mr_shape shape, mr_parameters *p)
{
    if (shape == MR_SHAPE_MANY_THREADS)
        p->threads = mr_random_range(random, USUAL_THREADS, MR_PROGRAM_THREADS);
    p->events = mr_random_range(random, LONGER_LEAST + 4, LONGER_MOST);
    if (p->lock_style == MR_LOCKS_CHAIN) /* one or two sections a thread: more would order more */
        p->threads = mr_random_range(random, 3, USUAL_THREADS);
    else
        p->variables = mr_random_range(random, 2, MR_PROGRAM_VARIABLES);
}

static char *generate(uint64_t seed, mr_shape shape, bool longer)
{
    mr_random random = {seed * MR_SHAPE_COUNT + (uint64_t)shape};
    uint32_t least = longer ? LONGER_LEAST : LEAST_EVENTS;
    uint32_t most = longer ? LONGER_MOST : MOST_EVENTS;
    char *text = mr_malloc(0, (size_t)most * LINE_BYTES);
    if (!text)
        return NULL;
    for (;;) { /* ends: most draws are long enough */
        mr_parameters parameters = any_parameters(&random);
        shape_threads_and_locks(&random, shape, &parameters);
        shape_values(&random, shape, &parameters);
        if (longer)
            lengthen(&random, shape, &parameters);
        assert(parameters.events <= most);
        run r = {.random = &random, .parameters = &parameters, .text = text};
        run_init(&r);
        run_programs(&r);
        if (r.event_count >= least)
            return text;
    }
}

char *mr_generate_trace(uint64_t seed, mr_shape shape)
{
    return generate(seed, shape, false);
}

char *mr_generate_longer_trace(uint64_t seed, mr_shape shape)
{
    return generate(seed, shape, true);
}
