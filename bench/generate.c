#include "generate.h"

#include "base/memory.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 80, MOST_THREADS = 64, MOST_LOCKS = 256 };

const mr_bench_shape mr_bench_shapes[] = {
    {"locked-1m", 1, 1000000, 8, 32, 64, 2000, 6, 1, 100, 0},
    {"racy-100k", 2, 100000, 6, 4, 8, 120, 3, 60, 300, 0},
    {"many-threads-200k", 3, 200000, 48, 24, 32, 800, 5, 5, 400, 0},
    {"racy-2k", 4, 2000, 6, 4, 8, 40, 3, 60, 300, 0},
    {"few-values-1k", 5, 1000, 4, 6, 6, 60, 4, 15, 250, 2},
};

const size_t mr_bench_shape_count = sizeof mr_bench_shapes / sizeof *mr_bench_shapes;

const mr_bench_shape *mr_bench_shape_find(const char *name)
{
    for (size_t i = 0; i < mr_bench_shape_count; i++)
        if (strcmp(mr_bench_shapes[i].name, name) == 0)
            return &mr_bench_shapes[i];
    return NULL;
}

typedef struct worker {
    uint32_t lock;     /* + 1; 0: holds none */
    uint32_t accesses; /* left in the section */
} worker;

typedef struct generator {
    const mr_bench_shape *shape;
    uint64_t random;
    char *text;
    size_t length, events;
    worker workers[MOST_THREADS];
    bool held[MOST_LOCKS];
    uint64_t *values; /* of the variables */
    uint64_t next_value;
} generator;

/* splitmix64: a number below `limit` (> 0). */
static uint32_t below(generator *g, uint32_t limit)
{
    assert(limit > 0);
    uint64_t x = g->random += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((x ^ x >> 31) % limit);
}

static void line(generator *g, uint32_t thread, const char *op, const char *operand,
                 uint32_t location)
{
    g->length +=
        (size_t)snprintf(g->text + g->length, LINE_BYTES, "T%" PRIu32 "|%s(%s)|%" PRIu32 "\n",
                         thread, op, operand, location);
    g->events++;
}

static void access(generator *g, uint32_t thread, uint32_t lock)
{
    const mr_bench_shape *s = g->shape;
    uint32_t variable = lock * s->variables_per_lock + below(g, s->variables_per_lock);
    bool writes = below(g, 3) == 0;
    char operand[40];
    if (writes)
        g->values[variable] = s->values > 0 ? below(g, s->values) : g->next_value++;
    snprintf(operand, sizeof operand, "V%" PRIu32 "=%" PRIu64, variable, g->values[variable]);
    /* A location belongs to one variable, as in a program. */
    uint32_t variables = s->locks * s->variables_per_lock;
    assert(variables > 0);
    uint32_t locations_each = s->locations / variables + 1;
    line(g, thread, writes ? "w" : "r", operand,
         100 + (variable * locations_each + below(g, locations_each)) * 2 + writes);
}

static void lock_operation(generator *g, uint32_t thread, const char *op, uint32_t lock)
{
    char operand[16];
    snprintf(operand, sizeof operand, "L%" PRIu32, lock);
    line(g, thread, op, operand, 10 + lock);
}

/* One event of the thread; none when the lock that it wants is held. */
static void step(generator *g, uint32_t thread)
{
    const mr_bench_shape *s = g->shape;
    worker *w = &g->workers[thread];
    if (w->lock == 0) {
        uint32_t lock = below(g, s->locks);
        if (below(g, 1000) < s->unlocked_permille)
            access(g, thread, lock);
        else if (!g->held[lock]) {
            g->held[lock] = true;
            w->lock = lock + 1;
            w->accesses = 1 + below(g, s->section_accesses);
            lock_operation(g, thread, "acq", lock);
        }
    } else if (w->accesses > 0) {
        w->accesses--;
        access(g, thread, w->lock - 1);
    } else {
        lock_operation(g, thread, "rel", w->lock - 1);
        g->held[w->lock - 1] = false;
        w->lock = 0;
    }
}

static void fork_or_join(generator *g, const char *op)
{
    char operand[16];
    for (uint32_t thread = 1; thread <= g->shape->threads; thread++) {
        snprintf(operand, sizeof operand, "T%" PRIu32, thread);
        line(g, 0, op, operand, 1);
    }
}

/* The variables begin with values that main writes. */
static void initialise(generator *g)
{
    char operand[40];
    for (uint32_t v = 0; v < g->shape->locks * g->shape->variables_per_lock; v++) {
        snprintf(operand, sizeof operand, "V%" PRIu32 "=0", v);
        line(g, 0, "w", operand, 2);
    }
}

char *mr_bench_generate(const mr_bench_shape *shape, size_t *length_bytes)
{
    generator g = {.shape = shape, .random = shape->seed, .next_value = 1};
    uint32_t variables = shape->locks * shape->variables_per_lock;
    assert(shape->threads > 0 && shape->threads < MOST_THREADS && shape->locks <= MOST_LOCKS);
    size_t most_lines = (size_t)shape->events + variables + 2 * (size_t)shape->threads + 1;
    g.values = mr_calloc(variables, sizeof *g.values);
    g.text = mr_malloc(LINE_BYTES, most_lines * LINE_BYTES);
    if (g.values != NULL && g.text != NULL) {
        initialise(&g);
        fork_or_join(&g, "fork");
        uint32_t thread = 1;
        for (size_t limit = g.events + shape->events; g.events < limit;) {
            step(&g, thread);
            if (below(&g, 1000) < shape->switch_permille || g.workers[thread].lock == 0)
                thread = 1 + below(&g, shape->threads);
        }
        fork_or_join(&g, "join");
    }
    free(g.values);
    *length_bytes = g.length;
    return g.text;
}
