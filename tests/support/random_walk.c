#include "random_walk.h"

#include <stdio.h>

enum { LOCKS = 5, HELD = 8, SLOTS = 3, MOST_VARIABLES = 4 };

typedef struct walker {
    bool started, over, forked;
    bool said_begin;
    uint32_t held[HELD], held_count; /* one entry an acquire, inner ones included */
} walker;

typedef struct walk {
    mr_random random;
    uint32_t events, threads, variables, locks, locations;
    bool growing;
    uint32_t access_percent, read_percent, fork_percent, join_percent, hand_percent, stay_percent;
    uint32_t nested_percent;
    walker walkers[MR_RANDOM_WALK_THREADS];
    uint32_t owner[LOCKS], depth[LOCKS];
    uint32_t slots, life_percent; /* variable v belongs to what is in slot v % slots */
    uint32_t object[SLOTS];       /* in it + 1, 0: none so far */
    bool freed[SLOTS];
    uint32_t object_count;
    uint32_t count;
    char *text;
    size_t length;
} walk;

/* From a fixed set, from a set that grows, or a new one for each event. */
static uint32_t draw_location(walk *w)
{
    if (!w->locations)
        return w->count;
    uint32_t set = w->growing ? 1 + w->count * w->locations / w->events : w->locations;
    return mr_random_below(&w->random, set);
}

static void say(walk *w, uint32_t thread, const char *op, char kind, uint32_t operand)
{
    uint32_t location = draw_location(w);
    w->length += (size_t)snprintf(w->text + w->length, MR_RANDOM_WALK_LINE_BYTES,
                                  "T%u|%s(%c%u)|%u\n", thread, op, kind, operand, location);
    w->count++;
}

static bool try_access(walk *w, uint32_t thread)
{
    bool read = mr_random_percent(&w->random, w->read_percent);
    uint32_t variable = mr_random_below(&w->random, w->variables);
    if (w->slots && !w->object[variable % w->slots])
        return false;
    if (w->slots)
        variable += MOST_VARIABLES * w->object[variable % w->slots];
    say(w, thread, read ? "r" : "w", 'x', variable);
    return true;
}

/* A new object in the slot. */
static void fill_slot(walk *w, uint32_t slot)
{
    uint32_t object = w->object_count++;
    w->object[slot] = object + 1;
    w->freed[slot] = false;
    for (uint32_t variable = slot; variable < w->variables; variable += w->slots)
        w->length +=
            (size_t)snprintf(w->text + w->length, MR_RANDOM_WALK_LINE_BYTES, "#@in x%u o%u\n",
                             variable + MOST_VARIABLES * (object + 1), object);
}

static bool try_life(walk *w, uint32_t thread)
{
    uint32_t slot = mr_random_below(&w->random, w->slots);
    if (w->object[slot] && !w->freed[slot]) {
        w->freed[slot] = true;
        say(w, thread, "free", 'o', w->object[slot] - 1);
        return true;
    }
    fill_slot(w, slot);
    say(w, thread, "alloc", 'o', w->object[slot] - 1);
    return true;
}

static bool try_acquire(walk *w, uint32_t thread)
{
    walker *self = &w->walkers[thread];
    uint32_t lock = mr_random_below(&w->random, w->locks);
    if (self->held_count == HELD || (w->depth[lock] && w->owner[lock] != thread))
        return false;
    if (w->depth[lock] && !mr_random_percent(&w->random, w->nested_percent))
        return false;
    w->owner[lock] = thread;
    w->depth[lock]++;
    self->held[self->held_count++] = lock;
    say(w, thread, "acq", 'l', lock);
    return true;
}

static bool try_release(walk *w, uint32_t thread)
{
    walker *self = &w->walkers[thread];
    if (!self->held_count)
        return false;
    bool hand = mr_random_percent(&w->random, w->hand_percent);
    uint32_t i = hand ? mr_random_below(&w->random, self->held_count) : self->held_count - 1;
    uint32_t lock = self->held[i];
    for (self->held_count--; i < self->held_count; i++)
        self->held[i] = self->held[i + 1];
    w->depth[lock]--;
    say(w, thread, "rel", 'l', lock);
    return true;
}

static bool try_fork(walk *w, uint32_t thread)
{
    for (uint32_t child = 0; child < w->threads; child++) {
        if (w->walkers[child].started)
            continue;
        w->walkers[child].started = true;
        w->walkers[child].forked = true;
        say(w, thread, "fork", 'T', child);
        return true;
    }
    return false;
}

/* Joining ends a thread that may still hold locks; it may be joined again, by others too. */
static bool try_join(walk *w, uint32_t thread)
{
    uint32_t child = mr_random_below(&w->random, w->threads);
    walker *other = &w->walkers[child];
    if (child == thread || !other->started)
        return false;
    other->over = true;
    say(w, thread, "join", 'T', child);
    return true;
}

static bool step(walk *w, uint32_t thread)
{
    walker *self = &w->walkers[thread];
    if (self->over)
        return false;
    if (self->forked && !self->said_begin && mr_random_percent(&w->random, 10)) {
        self->said_begin = true;
        say(w, thread, "begin", 'T', thread);
        return true;
    }
    self->said_begin = true;
    if (mr_random_percent(&w->random, w->fork_percent) && try_fork(w, thread))
        return true;
    if (mr_random_percent(&w->random, w->join_percent) && try_join(w, thread))
        return true;
    if (w->life_percent && mr_random_percent(&w->random, w->life_percent))
        return try_life(w, thread);
    if (mr_random_percent(&w->random, w->access_percent))
        return try_access(w, thread);
    return mr_random_percent(&w->random, 50) ? try_acquire(w, thread) : try_release(w, thread);
}

static void draw_parameters(walk *w)
{
    mr_random *random = &w->random;
    w->threads = mr_random_range(random, 2, MR_RANDOM_WALK_THREADS);
    w->variables = mr_random_range(random, 1, 4);
    w->locks = mr_random_range(random, 1, LOCKS);
    w->locations = mr_random_percent(random, 60) ? mr_random_range(random, 1, 5) : 0;
    w->access_percent = mr_random_range(random, 20, 60);
    w->read_percent = mr_random_range(random, 20, 80);
    w->fork_percent = mr_random_percent(random, 60) ? 15 : 0;
    w->join_percent = mr_random_percent(random, 50) ? 4 : 0;
    w->hand_percent = mr_random_percent(random, 40) ? 60 : 0;
    w->stay_percent = mr_random_below(random, 90);
    w->nested_percent = mr_random_percent(random, 30) ? 70 : 0;
    bool tree = w->fork_percent && mr_random_percent(random, 50);
    for (uint32_t thread = 0; thread < w->threads; thread++)
        w->walkers[thread].started =
            thread == 0 || (!tree && (!w->fork_percent || mr_random_percent(random, 50)));
}

static void draw_hot_parameters(walk *w)
{
    draw_parameters(w);
    w->variables = mr_random_range(&w->random, 1, 2);
    w->locations = mr_random_range(&w->random, 2, 20);
    w->growing = mr_random_percent(&w->random, 60);
    w->access_percent = mr_random_range(&w->random, 85, 100);
    w->fork_percent /= 5;
    w->join_percent /= 4;
    for (uint32_t thread = 0; thread < w->threads; thread += 2)
        w->walkers[thread].started = true;
}

static size_t run(walk *w)
{
    uint32_t thread = 0;
    for (uint32_t tries = 0; w->count < w->events && tries < w->events * 20; tries++) {
        if (!mr_random_percent(&w->random, w->stay_percent))
            thread = mr_random_below(&w->random, w->threads);
        if (w->walkers[thread].started)
            step(w, thread);
    }
    return w->length;
}

size_t mr_random_walk(uint64_t seed, uint32_t events, char *text)
{
    walk w = {.random = {seed}, .events = events, .text = text};
    text[0] = '\0';
    draw_parameters(&w);
    return run(&w);
}

size_t mr_random_walk_hot(uint64_t seed, uint32_t events, char *text)
{
    walk w = {.random = {seed}, .events = events, .text = text};
    text[0] = '\0';
    draw_hot_parameters(&w);
    return run(&w);
}

size_t mr_random_walk_lives(uint64_t seed, uint32_t events, char *text)
{
    walk w = {.random = {seed ^ UINT64_C(0x6c69766573)}, .events = events, .text = text};
    text[0] = '\0';
    mr_random_percent(&w.random, 50) ? draw_parameters(&w) : draw_hot_parameters(&w);
    w.slots = mr_random_range(&w.random, 1, SLOTS);
    w.variables = mr_random_range(&w.random, w.slots, MOST_VARIABLES);
    w.life_percent = mr_random_range(&w.random, 1, 8);
    for (uint32_t slot = 0; slot < w.slots; slot++)
        if (mr_random_percent(&w.random, 50))
            fill_slot(&w, slot);
    return run(&w);
}
