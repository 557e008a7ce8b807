#include "generate_crossed.h"

#include "random.h"

#include <stdio.h>

enum { THREADS = 3, EVENTS = 20, MOST_TRIES = 300 };

/* A thread does one letter after the other:
 *   U D B   raises its flag, lowers it, raises it by another value
 *   0 1 2   reads the flag of that thread
 *   G       reads the gate
 *   A R M   takes the gate by an update or a plain write when it is free, lets it go, writes another value
 *   X Y     writes and reads what is kept
 *   W       writes the flag of another thread */
typedef struct walker {
    const char *next;
    bool has_gate;
} walker;

typedef struct writer {
    mr_random random;
    walker walkers[THREADS];
    uint32_t flags[THREADS], gate, data, events;
    bool plain; /* a gate that one thread alone writes, by plain writes */
    char *text;
    size_t size;
} writer;

static uint32_t below(writer *w, uint32_t bound)
{
    return mr_random_below(&w->random, bound);
}

/* An event was written, so many characters long. */
static void add(writer *w, int length)
{
    w->text += length;
    w->size -= (size_t)length;
    w->events++;
}

/* A flag has the name of its thread, as a digit. */
static void put(writer *w, uint32_t thread, const char *op, char variable, uint32_t value)
{
    const char *prefix = variable < 'a' ? "f" : "";
    add(w, snprintf(w->text, w->size, "%c|%s(%s%c=%u)|1\n", 'A' + (int)thread, op, prefix, variable,
                    value));
}

static const char *choose(writer *w, uint32_t thread)
{
    static const char *const readers[] = {"UGXD", "UGYD", "UGXYBXD", "UGGXD", "UDUGXD", "BGXUXD"};
    static const char *const writers[THREADS][4] = {{"A12XR", "A12YR", "A21XMXR", "A12R"},
                                                    {"A02XR", "A02YR", "A20XMXR", "A02R"},
                                                    {"A01XR", "A01YR", "A10XMXR", "A01R"}};
    static const char *const flags[THREADS][3] = {
        {"U1XD", "U12XD", "U1D"}, {"U0XD", "U02XD", "U0D"}, {"U0XD", "U01XD", "U1D"}};
    /* what keeps nobody out */
    static const char *const others[] = {"GUXD",  "UXD", "X",     "Y",    "UGDX",  "AXR", "0A1XR",
                                         "A01RX", "W",   "UWGXD", "UXGD", "0U1XD", "D",   "M"};
    uint32_t draw = below(w, 24);
    if (draw < 8)
        return readers[below(w, 6)];
    if (draw < 14)
        return writers[thread][below(w, 4)];
    if (draw < 20)
        return flags[thread][below(w, 3)];
    return others[below(w, 14)];
}

static void take(writer *w, uint32_t thread)
{
    if (w->gate) {
        put(w, thread, "ar", 'w', w->gate);
        return;
    }
    w->walkers[thread].has_gate = true;
    w->gate = 1 + below(w, 2);
    if (w->plain) {
        put(w, thread, "aw", 'w', w->gate);
        return;
    }
    add(w, snprintf(w->text, w->size, "%c|au(w=0>%u)|1\n", 'A' + (int)thread, w->gate));
}

static void step(writer *w, uint32_t thread, char letter)
{
    walker *t = &w->walkers[thread];
    uint32_t other = (thread + 1 + below(w, THREADS - 1)) % THREADS;
    switch (letter) {
    case 'U':
    case 'D':
    case 'B':
        w->flags[thread] = letter == 'U' ? 1 : letter == 'D' ? 0 : 2;
        put(w, thread, "aw", (char)('0' + thread), w->flags[thread]);
        break;
    case 'W':
        w->flags[other] = below(w, 2);
        put(w, thread, "aw", (char)('0' + other), w->flags[other]);
        break;
    case 'G':
        put(w, thread, "ar", 'w', w->gate);
        break;
    case 'A':
        take(w, thread);
        break;
    case 'R':
    case 'M':
        if (!t->has_gate)
            break;
        t->has_gate = letter == 'M';
        w->gate = letter == 'M' ? 1 + below(w, 2) : 0;
        put(w, thread, "aw", 'w', w->gate);
        break;
    case 'X':
        w->data = below(w, 2);
        put(w, thread, "w", 'x', w->data);
        break;
    case 'Y':
        put(w, thread, "r", 'x', w->data);
        break;
    default:
        put(w, thread, "ar", letter, w->flags[letter - '0']);
    }
}

void mr_generate_crossed(uint64_t seed, char text[MR_CROSSED_TEXT])
{
    writer w = {.random = {seed}, .text = text, .size = MR_CROSSED_TEXT};
    uint32_t threads = below(&w, 3) ? 2 : THREADS, gatekeeper = below(&w, threads);
    text[0] = '\0';
    w.plain = below(&w, 3) == 0;
    for (uint32_t t = 0; t < THREADS; t++)
        w.walkers[t].next = "";
    for (uint32_t tries = 0; tries < MOST_TRIES && w.events < EVENTS; tries++) {
        uint32_t thread = below(&w, threads);
        walker *t = &w.walkers[thread];
        if (!*t->next)
            t->next = choose(&w, thread);
        char letter = *t->next++;
        if (w.plain && letter == 'A' && thread != gatekeeper && below(&w, 16))
            continue;
        step(&w, thread, letter);
    }
}
