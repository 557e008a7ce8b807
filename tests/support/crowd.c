#include "crowd.h"

#include <stdio.h>

enum { LOCKS = 12, NOBODY = -1 };

typedef struct crowd {
    mr_random random;
    uint32_t threads, variables, locks, locations;
    uint32_t lock_percent, read_percent, quiet_percent, fork_percent, join_percent;
    bool started[MR_CROWD_THREADS], over[MR_CROWD_THREADS];
    int holder[LOCKS];
    uint32_t holding[MR_CROWD_THREADS]; /* locks */
    uint32_t started_count, count;
    char *text;
    size_t length;
} crowd;

static void say(crowd *c, uint32_t thread, const char *op, char kind, uint32_t operand)
{
    c->length +=
        (size_t)snprintf(c->text + c->length, MR_CROWD_LINE_BYTES, "T%u|%s(%c%u)|%u\n", thread, op,
                         kind, operand, mr_random_below(&c->random, c->locations));
    c->count++;
}

/* A thread that runs; sometimes a new one. */
static uint32_t choose(crowd *c)
{
    for (;;) {
        uint32_t thread = mr_random_below(&c->random, c->threads);
        if (c->over[thread])
            continue;
        if (!c->started[thread]) {
            if (c->started_count && !mr_random_percent(&c->random, 5))
                continue;
            c->started[thread] = true;
            c->started_count++;
        }
        return thread;
    }
}

static bool try_lock(crowd *c, uint32_t thread)
{
    uint32_t lock = mr_random_below(&c->random, c->locks);
    if (c->holder[lock] == (int)thread) {
        c->holder[lock] = NOBODY;
        c->holding[thread]--;
        say(c, thread, "rel", 'l', lock);
        return true;
    }
    if (c->holder[lock] != NOBODY || c->holding[thread] == 3)
        return false;
    c->holder[lock] = (int)thread;
    c->holding[thread]++;
    say(c, thread, "acq", 'l', lock);
    return true;
}

static bool try_fork(crowd *c, uint32_t thread)
{
    uint32_t child = mr_random_below(&c->random, c->threads);
    if (c->started[child])
        return false;
    c->started[child] = true;
    c->started_count++;
    say(c, thread, "fork", 'T', child);
    return true;
}

static bool try_join(crowd *c, uint32_t thread)
{
    uint32_t child = mr_random_below(&c->random, c->threads);
    if (child == thread || child < 3 || !c->started[child] || c->holding[child])
        return false;
    c->over[child] = true;
    say(c, thread, "join", 'T', child);
    return true;
}

static void step(crowd *c)
{
    uint32_t thread = choose(c);
    if (mr_random_percent(&c->random, c->fork_percent) && try_fork(c, thread))
        return;
    if (mr_random_percent(&c->random, c->join_percent) && try_join(c, thread))
        return;
    if (mr_random_percent(&c->random, c->lock_percent) && try_lock(c, thread))
        return;
    /* Long times in which all threads read. */
    bool quiet = mr_random_percent(&c->random, c->quiet_percent) || c->count / 100 % 3 == 0;
    bool read = quiet || mr_random_percent(&c->random, c->read_percent);
    say(c, thread, read ? "r" : "w", 'x', mr_random_below(&c->random, c->variables));
}

size_t mr_crowd(uint64_t seed, uint32_t events, char *text)
{
    mr_random random = {seed};
    crowd c = {
        .threads = mr_random_range(&random, 4, MR_CROWD_THREADS),
        .variables = mr_random_percent(&random, 50) ? mr_random_range(&random, 1, 4)
                                                    : mr_random_range(&random, 20, 400),
        .locks = mr_random_range(&random, 1, LOCKS),
        .locations = mr_random_range(&random, 1, 60),
        .lock_percent = mr_random_percent(&random, 20) ? 0 : mr_random_range(&random, 5, 90),
        .read_percent = mr_random_range(&random, 10, 95),
        .quiet_percent = mr_random_percent(&random, 50) ? 0 : 90,
        .fork_percent = mr_random_below(&random, 10),
        .join_percent = mr_random_below(&random, 3),
        .text = text,
    };
    c.random = random;
    for (uint32_t lock = 0; lock < LOCKS; lock++)
        c.holder[lock] = NOBODY;
    text[0] = '\0';
    while (c.count < events)
        step(&c);
    return c.length;
}
