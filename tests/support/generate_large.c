#include "generate_large.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* threads, variables, locks, values, nesting, locked, flag, read, stay, forks */
const mr_large mr_large_shapes[] = {
    {"locks", 8, 40, 8, 0, 1, 70, 0, 50, 30, false},
    {"nested-locks", 8, 40, 6, 0, 3, 70, 0, 50, 30, false},
    {"two-values", 6, 20, 4, 2, 1, 50, 0, 60, 20, false},
    {"eight-values", 6, 20, 4, 8, 2, 50, 0, 60, 20, false},
    {"unique-values", 6, 20, 4, 0, 2, 50, 0, 60, 20, false},
    {"flags", 8, 30, 4, 2, 1, 20, 50, 50, 20, true},
    {"many-threads", 40, 60, 12, 8, 2, 40, 20, 50, 50, true},
    {"no-locks", 8, 30, 1, 4, 0, 0, 20, 60, 10, false},
};
const size_t mr_large_shape_count = sizeof mr_large_shapes / sizeof *mr_large_shapes;

enum { QUEUE = 64, FLAGS = 4, SPINS = 6, LINE_BYTES = 64 };

typedef enum instruction_kind {
    READ,
    WRITE,
    ACQUIRE,
    RELEASE,
    AWAIT, /* read a flag; again, if it is not set, a few times */
} instruction_kind;

typedef struct instruction {
    instruction_kind kind;
    uint32_t operand, site;
    int64_t value; /* of a write when `fixed` */
    bool fixed;
} instruction;

typedef struct thread {
    instruction queue[QUEUE];
    uint32_t first, count, spins;
} thread;

/* Variables 0 … are data, then come the flags. */
typedef struct run {
    const mr_large *shape;
    mr_random random;
    thread threads[MR_LARGE_THREADS];
    uint32_t owner[MR_LARGE_LOCKS]; /* thread + 1 */
    int64_t memory[MR_LARGE_VARIABLES + FLAGS];
    int64_t next_value;
    uint32_t count, events;
    char *text;
    size_t length;
} run;

static void push(thread *t, instruction_kind kind, uint32_t operand, uint32_t site)
{
    if (t->count < QUEUE)
        t->queue[t->count++] = (instruction){.kind = kind, .operand = operand, .site = site};
}

static void push_fixed(thread *t, uint32_t operand, uint32_t site, int64_t value)
{
    push(t, WRITE, operand, site);
    t->queue[t->count - 1].value = value;
    t->queue[t->count - 1].fixed = true;
}

static void push_accesses(run *r, thread *t, uint32_t site)
{
    for (uint32_t n = mr_random_range(&r->random, 1, 3); n > 0; n--) {
        bool read = mr_random_percent(&r->random, r->shape->read_percent);
        push(t, read ? READ : WRITE, mr_random_below(&r->random, r->shape->variables), site);
    }
}

/* Locks ascend, so that no run deadlocks. */
static void push_section(run *r, thread *t)
{
    uint32_t held[MR_LARGE_LOCKS], depth = 0, lock = 0;
    uint32_t wanted = mr_random_range(&r->random, 1, r->shape->nesting);
    for (; depth < wanted && lock < r->shape->locks; depth++) {
        lock = mr_random_range(&r->random, lock, r->shape->locks - 1);
        push(t, ACQUIRE, lock, 1);
        push_accesses(r, t, 2 + depth);
        held[depth] = lock++;
    }
    while (depth-- > 0) {
        push(t, RELEASE, held[depth], 1);
        if (mr_random_percent(&r->random, 30))
            push_accesses(r, t, 10 + depth);
    }
}

static void push_message(run *r, thread *t)
{
    uint32_t flag = mr_random_below(&r->random, FLAGS);
    uint32_t variable = mr_random_below(&r->random, r->shape->variables);
    if (mr_random_percent(&r->random, 50)) {
        push(t, WRITE, variable, 20);
        push_fixed(t, r->shape->variables + flag, 21, 1);
        return;
    }
    t->spins = 0;
    push(t, AWAIT, r->shape->variables + flag, 22);
    push(t, READ, variable, 23);
    push_fixed(t, r->shape->variables + flag, 24, 0);
}

static void next_block(run *r, thread *t)
{
    uint32_t choice = mr_random_below(&r->random, 100);
    t->first = t->count = 0;
    if (choice < r->shape->locked_percent && r->shape->nesting)
        push_section(r, t);
    else if (choice < r->shape->locked_percent + r->shape->flag_percent)
        push_message(r, t);
    else
        push_accesses(r, t, 0);
}

static void say_access(run *r, uint32_t number, const instruction *i)
{
    bool write = i->kind == WRITE;
    if (write)
        r->memory[i->operand] = i->fixed           ? i->value
                                : r->shape->values ? mr_random_below(&r->random, r->shape->values)
                                                   : r->next_value++;
    r->length += (size_t)sprintf(
        r->text + r->length, "T%" PRIu32 "|%s(x%" PRIu32 "=%" PRId64 ")|%" PRIu32 ".%" PRIu32 "\n",
        number, write ? "w" : "r", i->operand, r->memory[i->operand], i->operand,
        i->site * 2 + write);
    r->count++;
}

static void say(run *r, uint32_t number, const char *op, uint32_t operand)
{
    r->length += (size_t)sprintf(r->text + r->length, "T%" PRIu32 "|%s%" PRIu32 ")|s\n", number, op,
                                 operand);
    r->count++;
}

/* False: the thread waits for a lock. */
static bool step(run *r, uint32_t number)
{
    thread *t = &r->threads[number];
    if (t->first == t->count)
        next_block(r, t);
    const instruction *i = &t->queue[t->first];
    if (i->kind == ACQUIRE && r->owner[i->operand])
        return false;
    t->first++;
    if (i->kind == ACQUIRE || i->kind == RELEASE) {
        r->owner[i->operand] = i->kind == ACQUIRE ? number + 1 : 0;
        say(r, number, i->kind == ACQUIRE ? "acq(l" : "rel(l", i->operand);
        return true;
    }
    say_access(r, number, i);
    if (i->kind == AWAIT && r->memory[i->operand] != 1 && t->spins++ < SPINS)
        t->first--;
    return true;
}

static void fork_all(run *r)
{
    for (uint32_t t = 1; r->shape->forks && t < r->shape->threads && r->count < r->events; t++)
        say(r, 0, "fork(T", t);
}

char *mr_generate_large(uint64_t seed, const mr_large *shape, uint32_t events)
{
    run *r = mr_calloc(1, sizeof *r);
    char *text = mr_malloc(1, (size_t)events * LINE_BYTES);
    if (!r || !text) {
        free(r);
        free(text);
        return NULL;
    }
    *text = '\0';
    r->shape = shape;
    r->random.state = seed;
    r->next_value = 2;
    r->events = events;
    r->text = text;
    fork_all(r);
    uint32_t current = 0;
    bool blocked = false;
    while (r->count < events) { /* ends: locks ascend, so some thread can go on */
        if (!mr_random_percent(&r->random, shape->stay_percent) || blocked)
            current = mr_random_below(&r->random, shape->threads);
        blocked = !step(r, current);
    }
    free(r);
    return text;
}
