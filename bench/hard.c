#include "hard.h"

#include "base/assert.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

const mr_hard_shape mr_hard_large[] = {
    {"nested-20", MR_HARD_NESTED, 5000, 4, 20, 0, 2, false, 1},
    {"nested-30", MR_HARD_NESTED, 20000, 4, 30, 0, 2, false, 2},
    {"nested-60", MR_HARD_NESTED, 50000, 4, 60, 0, 2, false, 3},
    {"nested-any-20", MR_HARD_NESTED, 5000, 6, 20, 0, 8, true, 4},
    {"nested-any-30", MR_HARD_NESTED, 20000, 6, 30, 0, 8, true, 5},
    {"nested-any-60", MR_HARD_NESTED, 50000, 6, 60, 0, 8, true, 6},
    {"nested-500", MR_HARD_NESTED, 82000, 4, 500, 0, 2, false, 7},
    {"hot", MR_HARD_HOT, 110000, 4, 0, 400, 8, false, 8},
    {"spin", MR_HARD_SPIN, 3000000, 1, 0, 0, 2, false, 9},
    {"spin-3", MR_HARD_SPIN, 3000000, 3, 0, 0, 2, false, 9},
    {"wide-48", MR_HARD_WIDE, 100000, 48, 0, 0, 8, false, 10},
    {"ending-10000", MR_HARD_ENDING, 60000, 10000, 0, 0, 8, false, 11},
    {"ending-100000", MR_HARD_ENDING, 600000, 100000, 0, 0, 8, false, 12},
    {"adding", MR_HARD_ADDING, 40000, 4, 0, 128, 1000, false, 13},
    {"units", MR_HARD_UNITS, 40000, 8, 0, 8, 8, false, 14},
    {"reusing", MR_HARD_REUSING, 5000, 8, 0, 16, 4, false, 15},
    {"circles", MR_HARD_CIRCLES, 30000, 16, 50, 0, 4, true, 16},
    {"refcount", MR_HARD_REFCOUNT, 10000, 8, 0, 4, 4, false, 16},
    {"refcount-32", MR_HARD_REFCOUNT, 10000, 32, 0, 2, 4, false, 17},
    {"refcount-forked", MR_HARD_REFCOUNT, 3000, 250, 50, 0, 4, false, 18},
    {"refcount-forked-800", MR_HARD_REFCOUNT, 10000, 800, 100, 0, 4, false, 19},
    {"barrier-16", MR_HARD_BARRIER, 20000, 16, 0, 0, 100, false, 20},
};
const size_t mr_hard_large_count = sizeof mr_hard_large / sizeof *mr_hard_large;

const mr_hard_shape mr_hard_small[] = {
    {"nested", MR_HARD_NESTED, 24, 2, 3, 0, 2, false, 1},
    {"nested-any", MR_HARD_NESTED, 24, 3, 2, 0, 2, true, 2},
    {"hot", MR_HARD_HOT, 18, 3, 0, 2, 2, false, 3},
    {"spin", MR_HARD_SPIN, 18, 2, 0, 0, 2, false, 4},
    {"wide", MR_HARD_WIDE, 20, 5, 0, 0, 2, false, 5},
    {"ending", MR_HARD_ENDING, 20, 5, 0, 0, 2, false, 6},
    {"adding", MR_HARD_ADDING, 14, 3, 0, 3, 2, false, 7},
    {"units", MR_HARD_UNITS, 20, 3, 0, 2, 2, false, 8},
    {"reusing", MR_HARD_REUSING, 22, 2, 0, 4, 2, false, 9},
    {"circles", MR_HARD_CIRCLES, 22, 3, 2, 0, 2, true, 10},
    {"refcount", MR_HARD_REFCOUNT, 24, 2, 0, 1, 2, false, 10},
    {"refcount-forked", MR_HARD_REFCOUNT, 24, 4, 2, 0, 2, false, 11},
    {"barrier", MR_HARD_BARRIER, 24, 3, 0, 0, 2, false, 12},
};
const size_t mr_hard_small_count = sizeof mr_hard_small / sizeof *mr_hard_small;

/* A thread of the program: its step in what it does, and where it stands in it. */
typedef struct worker {
    uint32_t step, level;
    uint32_t locks;      /* circles: how many it wants */
    uint32_t block, old; /* reusing, refcount: numbers of blocks; 0: none */
} worker;

/* refcount: what is known of a block. */
typedef struct counted {
    uint32_t references, member;
} counted;

typedef struct generator {
    const mr_hard_shape *shape;
    FILE *out;
    uint64_t random;
    uint32_t events, blocks; /* blocks: of reusing and refcount */
    worker *workers;         /* owned */
    uint32_t *values;        /* owned; one a variable */
    uint32_t *holders;       /* owned; one a lock: thread + 1, 0: none */
    uint32_t *locks;         /* owned; nested, circles: `depth` a thread, those of its nest */
    counted *counted;        /* owned; refcount: one a block */
} generator;

/* splitmix64: a number below `limit` (> 0). */
static uint32_t below(generator *g, uint32_t limit)
{
    MR_ASSERT(limit > 0);
    uint64_t x = g->random += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((x ^ x >> 31) % limit);
}

static void access(generator *g, uint32_t thread, uint32_t variable, bool writes, uint32_t place)
{
    if (writes)
        g->values[variable] = below(g, g->shape->values);
    fprintf(g->out, "T%" PRIu32 "|%c(V%" PRIu32 "=%" PRIu32 ")|%" PRIu32 "\n", thread,
            writes ? 'w' : 'r', variable, g->values[variable], place);
    g->events++;
}

/* False: another thread holds the lock. */
static bool acquire(generator *g, uint32_t thread, uint32_t lock)
{
    if (g->holders[lock])
        return false;
    g->holders[lock] = thread + 1;
    fprintf(g->out, "T%" PRIu32 "|acq(L%" PRIu32 ")|%" PRIu32 "\n", thread, lock, 1000000 + lock);
    g->events++;
    return true;
}

static void release(generator *g, uint32_t thread, uint32_t lock)
{
    g->holders[lock] = 0;
    fprintf(g->out, "T%" PRIu32 "|rel(L%" PRIu32 ")|%" PRIu32 "\n", thread, lock, 2000000 + lock);
    g->events++;
}

static void fork_join(generator *g, const char *op, uint32_t thread)
{
    fprintf(g->out, "T0|%s(T%" PRIu32 ")|%d\n", op, thread, 3000000 + (*op == 'j'));
    g->events++;
}

/* One unit of semaphore S0, which holders[0] tells of. */
static void give_or_take(generator *g, const char *op, uint32_t thread)
{
    g->holders[0] = *op == 'w' ? thread + 1 : 0;
    fprintf(g->out, "T%" PRIu32 "|%s(S0)|%d\n", thread, op, 4000000 + (*op == 'w'));
    g->events++;
}

/* ---- one step of a thread; false: it waits for a lock ---- */

/* Chooses the locks of a nest: `depth` of twice as many, in ascending order unless threads back off. */
static void choose_locks(generator *g, uint32_t *locks)
{
    const mr_hard_shape *s = g->shape;
    uint32_t count = 0;
    for (uint32_t lock = 0; lock < 2 * s->depth; lock++)
        if (below(g, 2 * s->depth - lock) < s->depth - count)
            locks[count++] = lock;
    MR_ASSERT(count == s->depth);
    for (uint32_t i = s->backs_off ? count : 1; i-- > 1;) {
        uint32_t other = below(g, i + 1), lock = locks[i];
        locks[i] = locks[other];
        locks[other] = lock;
    }
}

/* Steps: 0 outside, 1 on the way in, 2 on the way out; level: how many locks it holds. */
static bool step_nested(generator *g, uint32_t thread)
{
    enum { VARIABLES = 4, PLACES = 8 };
    const mr_hard_shape *s = g->shape;
    worker *w = &g->workers[thread];
    uint32_t *locks = &g->locks[(size_t)thread * s->depth];
    if (w->step == 0) {
        if (below(g, 50) == 0 || s->events < 100)
            access(g, thread, below(g, VARIABLES), below(g, 5) < 2, 100 + below(g, PLACES));
        choose_locks(g, locks);
        w->step = 1;
    } else if (w->step == 1) {
        if (!acquire(g, thread, locks[w->level])) {
            w->step = s->backs_off ? 2 : 1;
            return false;
        }
        if (below(g, 10) < 3)
            access(g, thread, below(g, VARIABLES), below(g, 5) < 2, 200 + below(g, PLACES));
        if (++w->level < s->depth)
            return true;
        access(g, thread, below(g, VARIABLES), below(g, 2) == 0, 300 + below(g, PLACES));
        w->step = 2;
    } else {
        if (w->level)
            release(g, thread, locks[--w->level]);
        w->step = w->level ? 2 : 0;
    }
    return true;
}

/* Chooses two to four of `depth` locks, in any order. */
static uint32_t choose_few(generator *g, uint32_t *locks)
{
    uint32_t all = g->shape->depth, count = 2 + below(g, all > 4 ? 3 : all - 1), chosen = 0;
    while (chosen < count) {
        uint32_t k = 0;
        locks[chosen] = below(g, all);
        while (locks[k] != locks[chosen])
            k++;
        chosen += k == chosen;
    }
    return count;
}

/* Steps: 0 outside, 1 on the way in, 2 on the way out; level: how many locks it holds. */
static bool step_circles(generator *g, uint32_t thread)
{
    const mr_hard_shape *s = g->shape;
    worker *w = &g->workers[thread];
    uint32_t *locks = &g->locks[(size_t)thread * s->depth];
    if (w->step == 0) {
        if (below(g, s->events < 100 ? 4 : 500) == 0)
            access(g, thread, below(g, s->depth), false, 10);
        w->locks = choose_few(g, locks);
        w->step = 1;
    } else if (w->step == 1) {
        if (!acquire(g, thread, locks[w->level])) {
            w->step = w->level ? 2 : 0;
            return false;
        }
        access(g, thread, locks[w->level], false, 11);
        if (++w->level < w->locks)
            return true;
        if (below(g, 2) == 0)
            access(g, thread, locks[w->level - 1], true, 12);
        w->step = 2;
    } else {
        release(g, thread, locks[--w->level]);
        w->step = w->level ? 2 : 0;
    }
    return true;
}

static bool step_hot(generator *g, uint32_t thread)
{
    worker *w = &g->workers[thread];
    bool writes = below(g, 2) == 0;
    uint32_t place = below(g, g->shape->places) + (writes ? 10000 : 20000);
    if (w->step == 0 && below(g, 20) == 0) {
        access(g, thread, 0, writes, place);
        return true;
    }
    if (w->step == 0) {
        if (!acquire(g, thread, 0))
            return false;
        w->step = 1 + below(g, 40);
        return true;
    }
    access(g, thread, 0, writes, place);
    if (--w->step == 0)
        release(g, thread, 0);
    return true;
}

/* Variable 0 is the flag; steps: 0 before a round, 1 in it, 2 the flag was set, 3 done. */
static bool step_spin(generator *g, uint32_t thread)
{
    worker *w = &g->workers[thread];
    if (w->step == 0) {
        if (!acquire(g, thread, 0))
            return false;
        w->step = 1;
    } else if (w->step == 1) {
        access(g, thread, 0, false, 10);
        w->step = g->values[0] ? 2 : 0;
        release(g, thread, 0);
    } else {
        access(g, thread, 1 + below(g, 2), below(g, 2) == 0, 20 + w->step);
        w->step++;
    }
    return true;
}

static bool step_wide(generator *g, uint32_t thread)
{
    worker *w = &g->workers[thread];
    enum { LOCKS = 24, EACH = 4 };
    bool is_small = g->shape->events < 100;
    uint32_t first = w->level * EACH;
    if (w->step == 0) {
        w->level = below(g, is_small ? 2 : LOCKS);
        if (below(g, 1000) < (is_small ? 300 : 30))
            access(g, thread, w->level * EACH + below(g, EACH), below(g, 3) == 0,
                   w->level * EACH + below(g, EACH));
        else if (acquire(g, thread, w->level))
            w->step = 1 + below(g, 5);
        else
            return false;
        return true;
    }
    access(g, thread, first + below(g, EACH), below(g, 3) == 0, 1000 + first + below(g, EACH));
    if (--w->step == 0)
        release(g, thread, w->level);
    return true;
}

static bool step_units(generator *g, uint32_t thread)
{
    enum { VARIABLES = 6 };
    worker *w = &g->workers[thread];
    bool is_small = g->shape->events < 100;
    uint32_t variable = below(g, is_small ? 2 : VARIABLES);
    if (w->step == 0 && below(g, 1000) < (is_small ? 300 : 20)) {
        access(g, thread, variable, false, 30 + below(g, 4));
        return true;
    }
    if (w->step == 0) {
        if (g->holders[0])
            return false;
        w->step = 1 + below(g, 4);
        give_or_take(g, "wait", thread);
        return true;
    }
    access(g, thread, variable, below(g, 5) < 2, 10 + below(g, g->shape->places));
    if (--w->step == 0)
        give_or_take(g, "post", thread);
    return true;
}

/* Slots are variables and locks 0 …. In `values`: SLOT … the block of each slot, USED … the block at each address. */
enum { SLOTS = 4, SLOT = 10, USED = 20, BLOCK_BYTES = 16, ADDRESS = 4096 };

static uint32_t address_of(const generator *g, uint32_t block)
{
    for (uint32_t i = 0; i < g->shape->places; i++)
        if (g->values[USED + i] == block)
            return i;
    MR_REQUIRE(false);
    return 0;
}

static void use_block(generator *g, uint32_t thread, char op, uint32_t block, uint32_t place)
{
    fprintf(g->out, "T%" PRIu32 "|%c(B%" PRIu32 "=%" PRIu32 ")|%" PRIu32 "\n", thread, op, block,
            block % g->shape->values, place);
    g->events++;
}

/* The slot's pointer. */
static void use_slot(generator *g, uint32_t thread, char op, uint32_t slot, uint32_t place)
{
    uint32_t block = g->values[SLOT + slot];
    uint32_t value = block ? ADDRESS + BLOCK_BYTES * address_of(g, block) : 0;
    fprintf(g->out, "T%" PRIu32 "|%c(V%" PRIu32 "=%" PRIu32 ")|%" PRIu32 "\n", thread, op, slot,
            value, place);
    g->events++;
}

static bool take_block(generator *g, uint32_t thread)
{
    uint32_t i = below(g, g->shape->places), block = g->blocks + 1;
    if (g->values[USED + i])
        return false;
    g->values[USED + i] = g->workers[thread].block = g->blocks = block;
    fprintf(g->out,
            "#@in B%" PRIu32 " o%" PRIu32 "\nT%" PRIu32 "|alloc(o%" PRIu32 "=%" PRIu32 "+%d)|10\n",
            block, block, thread, block, ADDRESS + BLOCK_BYTES * i, BLOCK_BYTES);
    g->events++;
    use_block(g, thread, 'w', block, 11);
    return true;
}

static void free_old(generator *g, uint32_t thread)
{
    worker *w = &g->workers[thread];
    use_block(g, thread, 'r', w->old, 20);
    fprintf(g->out, "T%" PRIu32 "|free(o%" PRIu32 ")|21\n", thread, w->old);
    g->values[USED + address_of(g, w->old)] = 0;
    g->events++;
    w->old = 0;
}

static void use_what_is_there(generator *g, uint32_t thread, uint32_t slot)
{
    use_slot(g, thread, 'r', slot, 30);
    if (!g->values[SLOT + slot])
        return;
    fprintf(g->out, "T%" PRIu32 "|deref(V%" PRIu32 ")|31\n", thread, slot);
    g->events++;
    use_block(g, thread, 'r', g->values[SLOT + slot], 32 + below(g, 3));
}

/* Steps: 0 outside, 1 with a new block, 2 in the section of the slot, 3 with a block to free, 4 in a section to read. */
static bool step_reusing(generator *g, uint32_t thread)
{
    worker *w = &g->workers[thread];
    uint32_t slots = g->shape->events < 100 ? 1 : SLOTS;
    if (w->step == 0 && below(g, 20) == 0) {
        use_slot(g, thread, 'r', below(g, slots), 40);
    } else if (w->step == 0 && below(g, 4) == 0) {
        w->level = below(g, slots);
        if (!acquire(g, thread, w->level))
            return false;
        w->step = 4;
    } else if (w->step == 0) {
        if (!take_block(g, thread))
            return false;
        w->level = below(g, slots);
        w->step = 1;
    } else if (w->step == 1) {
        if (!acquire(g, thread, w->level))
            return false;
        w->step = 2;
    } else if (w->step == 2) {
        use_slot(g, thread, 'r', w->level, 12);
        w->old = g->values[SLOT + w->level];
        g->values[SLOT + w->level] = w->block;
        use_slot(g, thread, 'w', w->level, 13);
        release(g, thread, w->level);
        w->step = w->old ? 3 : 0;
    } else if (w->step == 3) {
        free_old(g, thread);
        w->step = 0;
    } else {
        use_what_is_there(g, thread, w->level);
        release(g, thread, w->level);
        w->step = 0;
    }
    return true;
}

/* Locks 0 … are those of slots, this one is that of all members. */
enum { LOCK_OF_MEMBERS = 50 };

static void count_references(generator *g, uint32_t thread, uint32_t block, bool up, uint32_t place)
{
    uint32_t *references = &g->counted[block].references, before = *references;
    *references = up ? before + 1 : before - 1;
    fprintf(g->out, "T%" PRIu32 "|au(C%" PRIu32 "=%" PRIu32 ">%" PRIu32 ")|%" PRIu32 "\n", thread,
            block, before, *references, place);
    g->events++;
}

static void use_member(generator *g, uint32_t thread, uint32_t block, char op, uint32_t place)
{
    uint32_t *member = &g->counted[block].member;
    *member = op == 'w' ? below(g, g->shape->values) : *member;
    fprintf(g->out, "T%" PRIu32 "|%c(M%" PRIu32 "=%" PRIu32 ")|%" PRIu32 "\n", thread, op, block,
            *member, place);
    g->events++;
}

/* A new block, with one reference. */
static uint32_t make_counted(generator *g, uint32_t thread)
{
    uint32_t block = ++g->blocks;
    g->counted[block] = (counted){.references = 1};
    fprintf(g->out,
            "#@in C%" PRIu32 " o%" PRIu32 "\n#@in M%" PRIu32 " o%" PRIu32 "\nT%" PRIu32
            "|alloc(o%" PRIu32 "=%" PRIu32 "+%d)|10\nT%" PRIu32 "|w(C%" PRIu32 "=1)|11\n",
            block, block, block, block, thread, block, ADDRESS + BLOCK_BYTES * block, BLOCK_BYTES,
            thread, block);
    g->events += 2;
    use_member(g, thread, block, 'w', 12);
    return block;
}

/* The last one frees the block. */
static void drop_reference(generator *g, uint32_t thread, uint32_t block)
{
    count_references(g, thread, block, false, 20);
    if (g->counted[block].references)
        return;
    use_member(g, thread, block, 'w', 21);
    fprintf(g->out, "T%" PRIu32 "|free(o%" PRIu32 ")|22\n", thread, block);
    g->events++;
}

/* The pointer of a slot. */
static void point(generator *g, uint32_t thread, char op, uint32_t slot, uint32_t place)
{
    uint32_t block = g->values[slot];
    fprintf(g->out, "T%" PRIu32 "|%c(V%" PRIu32 "=%" PRIu32 ")|%" PRIu32 "\n", thread, op, slot,
            block ? ADDRESS + BLOCK_BYTES * block : 0, place);
    g->events++;
}

/* Adds to the member under its lock; 2 of 100 only read it, without the lock. False: the lock is held. */
static bool use_counted(generator *g, uint32_t thread, uint32_t block)
{
    if (below(g, g->shape->events < 100 ? 3 : 50) == 0) {
        use_member(g, thread, block, 'r', 30);
        return true;
    }
    if (!acquire(g, thread, LOCK_OF_MEMBERS))
        return false;
    use_member(g, thread, block, 'r', 31);
    use_member(g, thread, block, 'w', 32);
    release(g, thread, LOCK_OF_MEMBERS);
    return true;
}

/* Steps: 0 outside, 1 in the section to take a reference, 2 with one, 3 with a new block, 4 in the section to put it there. */
static bool step_refcount(generator *g, uint32_t thread)
{
    worker *w = &g->workers[thread];
    if (w->step == 0) {
        w->level = below(g, g->shape->places);
        w->step = below(g, 4) == 0 || !g->values[w->level] ? 3 : 1;
        if (w->step == 3)
            w->block = make_counted(g, thread);
        else if (!acquire(g, thread, w->level))
            w->step = 0;
        return w->step;
    }
    if (w->step == 1) {
        point(g, thread, 'r', w->level, 40);
        w->block = g->values[w->level];
        count_references(g, thread, w->block, true, 41);
        release(g, thread, w->level);
        w->step = 2;
    } else if (w->step == 2 && below(g, 2)) {
        return use_counted(g, thread, w->block);
    } else if (w->step == 2) {
        drop_reference(g, thread, w->block);
        w->step = 0;
    } else if (w->step == 3) {
        if (!acquire(g, thread, w->level))
            return false;
        w->step = 4;
    } else {
        uint32_t old = g->values[w->level];
        point(g, thread, 'r', w->level, 42);
        g->values[w->level] = w->block;
        point(g, thread, 'w', w->level, 43);
        release(g, thread, w->level);
        w->block = old;
        w->step = old ? 2 : 0;
    }
    return true;
}

/* Steps of a thread that was given a reference: 0 it is not there, 1 it uses the block, 2 it drops it, 3 it is done. */
static bool step_counted_thread(generator *g, uint32_t thread)
{
    worker *w = &g->workers[thread];
    if (w->step == 1 && !use_counted(g, thread, w->block))
        return false;
    if (w->step == 2)
        drop_reference(g, thread, w->block);
    w->step++;
    return true;
}

static bool step_adding(generator *g, uint32_t thread)
{
    uint32_t place = below(g, g->shape->places);
    access(g, thread, 0, false, place);
    access(g, thread, 0, true, place);
    return true;
}

/* Steps: 0 writes its own variable, seldom reads the next one; 1 arrives (V0), 2 waits (V1); 3 reads, 4 and 5 as 1 and 2. */
static bool step_barrier(generator *g, uint32_t thread)
{
    uint32_t *step = &g->workers[thread].step, sense = *step < 3, *arrived = g->values;
    bool writes = sense && below(g, g->shape->events < 100 ? 4 : 500), arrives = *step % 3 == 1;
    bool last = arrives && *arrived + 1 == g->shape->threads;
    if (*step % 3 == 2 && g->values[1] != sense)
        return false;
    if (*step % 3 == 0)
        access(g, thread, 2 + (writes ? thread : thread % g->shape->threads + 1), writes,
               50 + (writes ? 0 : 1 + sense));
    else if (arrives)
        fprintf(g->out, "T%u|au(V0=%u>%u)|53\n", thread, *arrived, *arrived + 1);
    if (last)
        fprintf(g->out, "T%u|aw(V0=0)|54\nT%u|aw(V1=%u)|55\n", thread, thread, sense);
    if (*step % 3 == 2)
        fprintf(g->out, "T%u|ar(V1=%u)|56\n", thread, sense);
    g->values[1] = last ? sense : g->values[1];
    *arrived = last ? 0 : *arrived + arrives;
    *step = (*step + 1) % 6;
    g->events++;
    return true;
}

/* ---- programs ---- */

/* Runs threads 1 … threads by turns of a few steps until `events` are there. */
static void run_threads(generator *g, bool (*step)(generator *g, uint32_t thread))
{
    const mr_hard_shape *s = g->shape;
    uint32_t turn = 1, left = 0;
    while (g->events < s->events) {
        if (!left) {
            turn = 1 + below(g, s->threads);
            left = 1 + below(g, s->events < 100 ? 3 : 40);
        }
        left = step(g, turn) ? left - 1 : 0;
    }
}

static void run_spin(generator *g)
{
    run_threads(g, step_spin);
    if (!g->holders[0] && acquire(g, 0, 0)) {
        access(g, 0, 1, true, 31);
        fprintf(g->out, "T0|w(V0=1)|30\n");
        g->values[0] = 1;
        release(g, 0, 0);
    }
    for (uint32_t round = 0; round < 8; round++)
        for (uint32_t thread = 1; thread <= g->shape->threads; thread++)
            if (g->workers[thread].step < 4)
                step_spin(g, thread);
}

static void run_ending(generator *g)
{
    const mr_hard_shape *s = g->shape;
    for (uint32_t thread = 1; thread <= s->threads + 4; thread++) {
        if (thread > 4)
            fork_join(g, "join", thread - 4);
        if (thread > s->threads)
            continue;
        fork_join(g, "fork", thread);
        acquire(g, thread, 0);
        access(g, thread, 0, true, 10);
        release(g, thread, 0);
        if (below(g, s->threads < 100 ? 2 : 100) == 0)
            access(g, thread, 0, below(g, 2) == 0, 20 + below(g, 4));
    }
}

/* Rounds of `depth` threads, each of which the main thread gives a reference to one block. Then it drops its own. */
static void run_forked_references(generator *g)
{
    const mr_hard_shape *s = g->shape;
    uint32_t first = 1, forked = 0, ended = 0, block = 0;
    for (; first + s->depth <= s->threads + 1; first += s->depth, forked = ended = 0, block = 0) {
        while (ended < s->depth) {
            uint32_t thread = first + (forked ? below(g, forked) : 0);
            if (!block) {
                block = make_counted(g, 0);
            } else if (forked < s->depth && (!forked || below(g, 4) == 0)) {
                thread = first + forked++;
                count_references(g, 0, block, true, 41);
                fork_join(g, "fork", thread);
                g->workers[thread] = (worker){.step = 1, .block = block};
                if (forked == s->depth)
                    drop_reference(g, 0, block);
            } else if (g->workers[thread].step < 3 && step_counted_thread(g, thread)) {
                ended += g->workers[thread].step == 3;
            }
        }
        for (uint32_t thread = first; thread < first + s->depth; thread++)
            fork_join(g, "join", thread);
    }
}

static void run(generator *g)
{
    switch (g->shape->family) {
    case MR_HARD_NESTED:
        run_threads(g, step_nested);
        break;
    case MR_HARD_HOT:
        run_threads(g, step_hot);
        break;
    case MR_HARD_SPIN:
        run_spin(g);
        break;
    case MR_HARD_WIDE:
        run_threads(g, step_wide);
        break;
    case MR_HARD_ENDING:
        run_ending(g);
        break;
    case MR_HARD_ADDING:
        run_threads(g, step_adding);
        break;
    case MR_HARD_UNITS:
        give_or_take(g, "post", 0);
        run_threads(g, step_units);
        break;
    case MR_HARD_REUSING:
        run_threads(g, step_reusing);
        break;
    case MR_HARD_CIRCLES:
        run_threads(g, step_circles);
        break;
    case MR_HARD_BARRIER:
        run_threads(g, step_barrier);
        break;
    case MR_HARD_REFCOUNT:
        if (g->shape->places)
            run_threads(g, step_refcount);
        else
            run_forked_references(g);
        break;
    }
}

bool mr_hard_write(const mr_hard_shape *shape, FILE *out)
{
    enum { MOST_VARIABLES = 100, MOST_LOCKS = 1000 };
    generator g = {.shape = shape,
                   .out = out,
                   .random = shape->seed,
                   .workers = mr_calloc((size_t)shape->threads + 1, sizeof *g.workers),
                   .values = mr_calloc(MOST_VARIABLES, sizeof *g.values),
                   .holders = mr_calloc(MOST_LOCKS, sizeof *g.holders),
                   .locks = mr_calloc(((size_t)shape->threads + 1) * shape->depth, sizeof *g.locks),
                   .counted = mr_calloc((size_t)shape->events + 1, sizeof *g.counted)};
    MR_REQUIRE(shape->depth <= MOST_LOCKS / 2 && shape->values > 0);
    bool ok = g.workers && g.values && g.holders && g.locks && g.counted;
    if (ok)
        run(&g);
    free(g.workers);
    free(g.values);
    free(g.holders);
    free(g.locks);
    free(g.counted);
    return ok;
}
