#include "ladder_windows.h"

#include "base/memory.h"
#include "tests/support/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LINE_BYTES = 64,
    THREADS = 8,
    MOST_LOCKS = 16,
    MOST_VARIABLES = 64,
    MOST_DEPTH = 3,
    LOOKED_AT = 20, /* one poll in so many is of another pair's flag */
};

typedef struct shape {
    const char *name;
    uint32_t locks, variables; /* of each lock */
    uint32_t section_accesses; /* 1 … so many */
    uint32_t depth;            /* of nested sections */
    uint32_t unlocked_permille, write_permille;
} shape;

static const shape families[MR_LADDER_FAMILIES] = {
    [MR_LADDER_LOCKS] = {"locks", 16, 4, 6, 1, 80, 333},
    [MR_LADDER_HOT_LOCK] = {"hot lock", 1, 16, 3, 1, 80, 333},
    [MR_LADDER_FLAGS] = {.name = "flags"},
    [MR_LADDER_READERS] = {"readers", 8, 4, 6, 1, 800, 50},
    [MR_LADDER_NESTED] = {"nested", 12, 4, 3, MOST_DEPTH, 80, 333},
};

typedef struct worker {
    uint32_t held[MOST_DEPTH], depth;
    uint32_t accesses; /* left in the section */
    uint32_t step;     /* flags: what comes next in its round */
    uint64_t round;
} worker;

typedef struct generator {
    const shape *family;
    mr_random random;
    uint32_t values, events;
    uint64_t next_value, memory[MOST_VARIABLES];
    bool taken[MOST_LOCKS];
    worker workers[THREADS];
    char *text;
    size_t length;
} generator;

const char *mr_ladder_family_name(mr_ladder_family family)
{
    return families[family].name;
}

/* Every line has the location of its thread, operation and object: few locations, as in a program.
 */
static void line(generator *g, uint32_t thread, const char *op, char kind, uint32_t object,
                 const char *value)
{
    g->length += (size_t)snprintf(g->text + g->length, LINE_BYTES,
                                  "T%" PRIu32 "|%s(%c%" PRIu32 "%s)|%" PRIu32 ".%s.%c%" PRIu32 "\n",
                                  thread, op, kind, object, value, thread, op, kind, object);
    g->events++;
}

static void access(generator *g, uint32_t thread, bool writes, uint32_t variable)
{
    char value[24];
    snprintf(value, sizeof value, "=%" PRIu64, g->memory[variable]);
    line(g, thread, writes ? "w" : "r", 'V', variable, value);
}

static void write_any(generator *g, uint32_t thread, uint32_t variable)
{
    g->memory[variable] = g->values > 0 ? mr_random_below(&g->random, g->values) : ++g->next_value;
    access(g, thread, true, variable);
}

static void access_of_lock(generator *g, uint32_t thread, uint32_t lock)
{
    const shape *f = g->family;
    uint32_t variable = lock * f->variables + mr_random_below(&g->random, f->variables);
    if (mr_random_below(&g->random, 1000) < f->write_permille)
        write_any(g, thread, variable);
    else
        access(g, thread, false, variable);
}

static void enter(generator *g, uint32_t thread, uint32_t lock)
{
    worker *w = &g->workers[thread];
    if (g->taken[lock])
        return; /* does something else next time */
    g->taken[lock] = true;
    w->held[w->depth++] = lock;
    w->accesses = 1 + mr_random_below(&g->random, g->family->section_accesses);
    line(g, thread, "acq", 'L', lock, "");
}

static void leave(generator *g, uint32_t thread)
{
    worker *w = &g->workers[thread];
    uint32_t lock = w->held[--w->depth];
    g->taken[lock] = false;
    w->accesses = 0;
    line(g, thread, "rel", 'L', lock, "");
}

/* At most one event of a thread that works with locks. */
static void step_of_sections(generator *g, uint32_t thread)
{
    const shape *f = g->family;
    worker *w = &g->workers[thread];
    if (w->depth == 0) {
        uint32_t lock = mr_random_below(&g->random, f->locks);
        if (mr_random_below(&g->random, 1000) < f->unlocked_permille)
            access_of_lock(g, thread, lock);
        else
            enter(g, thread, lock);
        return;
    }
    uint32_t innermost = w->held[w->depth - 1];
    if (w->depth < f->depth && innermost + 1 < f->locks && mr_random_percent(&g->random, 25)) {
        enter(g, thread, innermost + 1 + mr_random_below(&g->random, f->locks - innermost - 1));
    } else if (w->accesses > 0) {
        w->accesses--;
        access_of_lock(g, thread, innermost);
    } else {
        leave(g, thread);
    }
}

static uint64_t flag_value(const generator *g, uint64_t count)
{
    return g->values > 0 ? count % g->values : count;
}

/* One event of a producer (even thread) or its consumer. Variables of a pair: flag, two data. */
static void step_of_flags(generator *g, uint32_t thread)
{
    worker *w = &g->workers[thread];
    uint32_t pair = thread / 2, flag = 3 * pair;
    bool consumer = thread % 2 == 1;
    uint64_t awaited = flag_value(g, 2 * w->round + consumer);
    if (w->step == 0 && mr_random_below(&g->random, LOOKED_AT) == 0) {
        access(g, thread, false, 3 * mr_random_below(&g->random, THREADS / 2));
        return;
    }
    if (w->step == 0) {
        w->step = g->memory[flag] == awaited;
        access(g, thread, false, flag);
    } else if (w->step <= 2) {
        if (consumer)
            access(g, thread, false, flag + w->step);
        else
            write_any(g, thread, flag + w->step);
        w->step++;
    } else {
        g->memory[flag] = flag_value(g, 2 * w->round + consumer + 1);
        access(g, thread, true, flag);
        w->round++;
        w->step = 0;
    }
}

char *mr_ladder_window(mr_ladder_family family, uint32_t values, uint32_t events, uint64_t seed,
                       size_t *length_bytes)
{
    generator g = {.family = &families[family], .random = {seed}, .values = values};
    uint32_t thread = 0;
    g.text = mr_malloc(LINE_BYTES, (size_t)events * LINE_BYTES);
    while (g.text != NULL && g.events < events) {
        uint32_t before = g.events;
        if (family == MR_LADDER_FLAGS)
            step_of_flags(&g, thread);
        else
            step_of_sections(&g, thread);
        if (g.events == before || mr_random_percent(&g.random, 25))
            thread = mr_random_below(&g.random, THREADS);
    }
    *length_bytes = g.length;
    return g.text;
}
