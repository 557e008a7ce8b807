#include "generate_far.h"

#include "random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 6, LOCKS = 64, CELLS = 4, OWN = 40, LINE_BYTES = 64, VALUES = 8 };

typedef struct half {
    uint32_t at, plant;
    bool second;
} half;

typedef struct writer {
    mr_random random;
    char *text;
    size_t length;
    uint32_t count;
    uint32_t cells[LOCKS][CELLS]; /* values of what the locks guard */
} writer;

static void say(writer *w, const char *thread, uint32_t number, const char *op, uint32_t operand)
{
    w->length += (size_t)sprintf(w->text + w->length, "%s%" PRIu32 "|%s%" PRIu32, thread, number,
                                 op, operand);
    w->count++;
}

static void end_line(writer *w, const char *rest)
{
    w->length += (size_t)sprintf(w->text + w->length, "%s\n", rest);
}

static void say_lock(writer *w, const char *thread, uint32_t number, const char *op, uint32_t lock)
{
    say(w, thread, number, op, lock);
    end_line(w, ")|0");
}

/* A section of a random lock, with some accesses. */
static void say_section(writer *w, const char *thread, uint32_t number)
{
    uint32_t lock = mr_random_below(&w->random, LOCKS);
    char rest[32];
    say_lock(w, thread, number, "acq(m", lock);
    for (uint32_t k = mr_random_range(&w->random, 1, 4); k; k--) {
        uint32_t cell = mr_random_below(&w->random, CELLS);
        bool write = mr_random_percent(&w->random, 40);
        if (write)
            w->cells[lock][cell] = mr_random_below(&w->random, VALUES);
        say(w, thread, number, write ? "w(g" : "r(g", lock * CELLS + cell);
        sprintf(rest, "=%" PRIu32 ")|%s", w->cells[lock][cell], write ? "2" : "1");
        end_line(w, rest);
    }
    say_lock(w, thread, number, "rel(m", lock);
}

static void say_own(writer *w, uint32_t worker)
{
    for (uint32_t k = mr_random_range(&w->random, 1, 8); k; k--) {
        say(w, "W", worker, "w(o", worker * OWN + mr_random_below(&w->random, OWN));
        end_line(w, "=1)|3");
    }
}

/* An access of the plant's variable x or y, at a location of its own. */
static void say_plant(writer *w, const half *h, const char *op, const char *value,
                      const char *location)
{
    const char *thread = h->second ? "B" : "A";
    say(w, thread, h->plant, op, h->plant);
    w->length +=
        (size_t)sprintf(w->text + w->length, "=%s)|p%" PRIu32 "%s\n", value, h->plant, location);
}

static void say_first(writer *w, const half *h, mr_plant_kind kind)
{
    if (kind != MR_PLANT_FREE)
        say_lock(w, "A", h->plant, "acq(l", h->plant);
    if (kind == MR_PLANT_SAME)
        say_plant(w, h, "r(y", "0", "r");
    say_plant(w, h, "w(x", "1", "a");
    if (kind == MR_PLANT_SAME)
        say_plant(w, h, "w(y", "0", "w");
    if (kind == MR_PLANT_TAKEN)
        say_plant(w, h, "w(y", "7", "w");
    if (kind != MR_PLANT_FREE)
        say_lock(w, "A", h->plant, "rel(l", h->plant);
}

static void say_second(writer *w, const half *h, mr_plant_kind kind)
{
    if (kind != MR_PLANT_FREE)
        say_lock(w, "B", h->plant, "acq(l", h->plant);
    if (kind == MR_PLANT_SAME) {
        say_plant(w, h, "r(y", "0", "s");
        say_plant(w, h, "w(y", "0", "v");
    }
    if (kind == MR_PLANT_TAKEN)
        say_plant(w, h, "r(y", "7", "s");
    if (kind == MR_PLANT_LOCKED)
        say_plant(w, h, "w(x", "2", "b");
    if (kind != MR_PLANT_FREE)
        say_lock(w, "B", h->plant, "rel(l", h->plant);
    if (kind != MR_PLANT_LOCKED)
        say_plant(w, h, "w(x", "2", "b");
}

static int compare_halves(const void *one, const void *two)
{
    const half *x = one, *y = two;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->plant != y->plant)
        return x->plant < y->plant ? -1 : 1;
    return (x->second > y->second) - (x->second < y->second);
}

static void write_all(writer *w, uint32_t events, const half *halves, uint32_t half_count,
                      const mr_plant *plants)
{
    uint32_t next = 0;
    while (w->count < events || next < half_count) {
        if (next < half_count && w->count >= halves[next].at) {
            const half *h = &halves[next++];
            say_section(w, h->second ? "B" : "A", h->plant);
            (h->second ? say_second : say_first)(w, h, plants[h->plant].kind);
            continue;
        }
        uint32_t worker = mr_random_below(&w->random, WORKERS);
        if (mr_random_percent(&w->random, 60))
            say_section(w, "W", worker);
        else
            say_own(w, worker);
    }
}

char *mr_generate_far(uint64_t seed, uint32_t events, const mr_plant *plants, uint32_t plant_count)
{
    writer w = {.random = {seed}};
    half *halves = calloc(2 * (size_t)plant_count + 1, sizeof *halves);
    w.text = malloc(((size_t)events + 16 * (size_t)plant_count + 64) * LINE_BYTES / 2);
    if (halves && w.text) {
        for (uint32_t i = 0; i < plant_count; i++) {
            halves[2 * i] = (half){.at = plants[i].first, .plant = i};
            halves[2 * i + 1] = (half){.at = plants[i].second, .plant = i, .second = true};
        }
        qsort(halves, 2 * (size_t)plant_count, sizeof *halves, compare_halves);
        write_all(&w, events, halves, 2 * plant_count, plants);
        w.text[w.length] = '\0';
    }
    free(halves);
    return w.text;
}
