#include "generate_flags.h"

#include "random.h"

#include <stdarg.h>
#include <stdio.h>

enum { THREADS = 3, MOST_EVENTS = 18, MOST_GUARDED = 28, BUSY = -2, IDLE = -1 };

typedef enum kind {
    SPIN,    /* 0 is free */
    MARKED,  /* the same, with marks */
    GUARDED, /* a flag and a mutex */
    COUNTED, /* a count, BUSY when one is inside */
    IDLING,  /* the same, IDLE when nobody is there */
    ALONE,   /* a count that nobody is ever inside of */
    READERS, /* COUNTED, but by plain writes that a mutex guards */
    KINDS,
} kind;

typedef struct writer {
    mr_random random;
    kind kind;
    int value, data, flags[THREADS];
    int units[THREADS]; /* BUSY: inside */
    int left;           /* units that are there at the start, and nobody's */
    bool there[THREADS], gone[THREADS];
    uint32_t reader,
        events; /* reader: a thread that does not write the variable; THREADS: each does */
    char *text;
    size_t size;
} writer;

static uint32_t below(writer *w, uint32_t bound)
{
    return mr_random_below(&w->random, bound);
}

__attribute__((format(printf, 3, 4))) static void put(writer *w, uint32_t thread,
                                                      const char *format, ...)
{
    va_list arguments;
    int length = snprintf(w->text, w->size, "%c|", 'A' + (int)thread);
    va_start(arguments, format);
    length += vsnprintf(w->text + length, w->size - (size_t)length, format, arguments);
    va_end(arguments);
    length += snprintf(w->text + length, w->size - (size_t)length, "|1\n");
    w->text += length;
    w->size -= (size_t)length;
    w->events++;
}

/* Is the variable one that a mutex guards? A change of it takes four events. */
static bool is_guarded(const writer *w)
{
    return w->kind == GUARDED || w->kind == READERS;
}

/* The thread changes the variable, by an update or by a plain write. */
static void set(writer *w, uint32_t thread, int to, bool plain)
{
    if (is_guarded(w)) {
        put(w, thread, "acq(m)");
        put(w, thread, "r(l=%d)", w->value);
        put(w, thread, "w(l=%d)", to);
        put(w, thread, "rel(m)");
    } else if (plain) {
        put(w, thread, "%s(l=%d)", below(w, 2) ? "w" : "aw", to);
    } else {
        put(w, thread, "au(l=%d>%d)", w->value, to);
    }
    w->value = to;
}

/* A lock whose free value is 0. */
static void step_spin(writer *w, uint32_t thread)
{
    uint32_t draw = below(w, 8);
    if (w->units[thread] == BUSY && draw < 6) {
        w->units[thread] = 0;
        set(w, thread, 0, draw < 4);
    } else if (w->units[thread] == BUSY) {
        set(w, thread, 1 + (int)below(w, 2), draw == 6);
    } else if (w->value == 0) {
        if (draw < 7)
            w->units[thread] = BUSY;
        set(w, thread, draw == 7 ? 0 : 1 + (int)below(w, 2), false);
    } else if (w->kind == MARKED) {
        set(w, thread, 1 + (int)below(w, 2), false);
    }
}

static void step_count(writer *w, uint32_t thread)
{
    int *own = &w->units[thread], nobody = w->kind == IDLING ? IDLE : 0;
    uint32_t draw = below(w, 12);
    if (*own == BUSY) {
        int to = draw < 2 ? BUSY : draw < 7 ? nobody : draw < 9 ? 0 : 1;
        *own = to > 0 ? to : to == BUSY ? BUSY : 0;
        set(w, thread, to, draw < 5);
    } else if (w->kind != ALONE && (w->value == *own || w->value == IDLE) && draw < 5) {
        *own = draw < 4 ? BUSY : 1;
        set(w, thread, *own, false);
    } else if (w->value >= 0 && *own > 0 && draw < 9) {
        --*own;
        set(w, thread, w->value - 1, false);
    } else if (w->value > 0 && *own == 0 && w->left > 0 && draw < 9) {
        w->left--;
        set(w, thread, w->value - 1, false);
    } else if (w->value >= 0) {
        ++*own;
        set(w, thread, w->value + 1, false);
    }
}

static void use_flag(writer *w, uint32_t thread)
{
    uint32_t flag = below(w, THREADS);
    if (flag == thread) {
        w->flags[flag] = !w->flags[flag];
        put(w, thread, "aw(f%u=%d)", flag, w->flags[flag]);
    } else {
        put(w, thread, "ar(f%u=%d)", flag, w->flags[flag]);
    }
}

static void step(writer *w, uint32_t thread)
{
    uint32_t draw = below(w, 40);
    if (draw < 9) {
        put(w, thread, "%s(l=%d)", draw % 2 ? "r" : "ar", w->value);
    } else if (draw < 12) {
        w->data = (int)below(w, 2);
        put(w, thread, "w(x=%d)", w->data);
    } else if (draw < 14) {
        put(w, thread, "r(x=%d)", w->data);
    } else if (draw < 19) {
        use_flag(w, thread);
    } else if (thread == w->reader) {
        return;
    } else if (draw == 19 && w->kind >= COUNTED && w->value > 0 && below(w, 2)) {
        /* perhaps another thread's unit */
        set(w, thread, w->value - 1, false);
    } else if (draw == 19) {
        /* what no lock does */
        w->units[thread] = below(w, 2) ? BUSY : 0;
        set(w, thread, (int)below(w, 5) + BUSY, below(w, 2));
    } else if (w->kind < COUNTED) {
        step_spin(w, thread);
    } else {
        step_count(w, thread);
    }
}

/* The first thread writes the variable, or not, and forks those that are not there yet. */
static void start(writer *w)
{
    static const int values[] = {0, 0, 0, 1, 2, BUSY, IDLE};
    w->value = values[below(w, 7)];
    for (uint32_t t = 1; t < THREADS; t++)
        w->there[t] = below(w, 2);
    w->there[0] = true;
    if (w->reader < THREADS)
        w->there[w->reader] = true;
    while (below(w, 2)) { /* before the first write */
        uint32_t thread = below(w, THREADS);
        if (w->there[thread] && below(w, 3))
            put(w, thread, "r(l=%d)", w->value);
        else if (w->there[thread])
            put(w, thread, "w(x=0)");
    }
    if (below(w, 2)) {
        w->value = values[below(w, 7)];
        put(w, 0, "w(l=%d)", w->value);
        if (w->value == BUSY)
            w->units[below(w, THREADS)] = BUSY;
    }
    w->left = w->value > 0 ? w->value : 0;
    for (uint32_t t = 1; t < THREADS; t++)
        if (!w->there[t])
            put(w, 0, "fork(%c)", 'A' + (int)t);
}

void mr_generate_flags(uint64_t seed, char text[MR_FLAGS_TEXT])
{
    writer w = {.random = {seed}, .text = text, .size = MR_FLAGS_TEXT};
    text[0] = '\0';
    w.kind = (kind)below(&w, KINDS);
    w.reader = below(&w, 2) ? THREADS : below(&w, THREADS);
    start(&w);
    uint32_t most = is_guarded(&w) ? MOST_GUARDED : MOST_EVENTS;
    for (uint32_t tries = 0; tries < 200 && w.events < most - 3; tries++) {
        uint32_t thread = below(&w, THREADS), other = below(&w, THREADS);
        if (w.gone[thread])
            continue;
        if (below(&w, 40) == 0 && thread != other && !w.gone[other]) {
            w.gone[other] = true;
            put(&w, thread, "join(%c)", 'A' + (int)other);
        } else {
            step(&w, thread);
        }
    }
}
