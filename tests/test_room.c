/* room: who holds how much, who waits and who is refused; arenas that are charged for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/resident.h"
#include "base/room.h"
#include "support/random.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What the process is said to hold. */
static atomic_uint_least64_t measured;

static uint64_t measure(void *context)
{
    (void)context;
    return measured;
}

static mr_room *new_room(uint64_t limit_bytes)
{
    measured = 0;
    mr_room *room = mr_room_new(&(mr_room_options){.limit_bytes = limit_bytes, .measure = measure});
    assert_non_null(room);
    return room;
}

/* Time for another thread to do what it must not do. */
static void let_others_run(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
}

static void test_counts(void **state)
{
    (void)state;
    mr_room *room = new_room(100);
    mr_room_share share;
    mr_room_hold(room, MR_ROOM_WITNESSES, 10);
    mr_room_hold(room, MR_ROOM_STORE, 5);
    assert_int_equal(mr_room_left(room), 85);
    mr_room_share_open(&share, room, MR_ROOM_WINDOWS, 20);
    assert_int_equal(mr_room_left(room), 65);
    assert_int_equal(mr_room_held(room, MR_ROOM_WINDOWS), 0);
    assert_true(mr_room_share_try(&share, 30)); /* 10 more than it was granted */
    assert_int_equal(mr_room_left(room), 55);
    assert_int_equal(mr_room_held(room, MR_ROOM_WINDOWS), 30);
    mr_room_share_give(&share, 25); /* what was granted at first, it keeps */
    assert_int_equal(mr_room_left(room), 65);
    assert_int_equal(mr_room_held(room, MR_ROOM_WINDOWS), 5);
    assert_false(mr_room_share_try(&share, 81));
    assert_true(mr_room_share_try(&share, 80));
    assert_int_equal(mr_room_left(room), 0);
    mr_room_share_close(&share);
    mr_room_give(room, MR_ROOM_WITNESSES, 10);
    assert_int_equal(mr_room_left(room), 95);
    assert_int_equal(mr_room_held(room, MR_ROOM_STORE), 5);
    mr_room_free(room);
}

/* What nobody announced counts as well, but not twice. */
static void test_measured(void **state)
{
    (void)state;
    mr_room *room = new_room(100);
    mr_room_share share;
    mr_room_share_open(&share, room, MR_ROOM_WINDOWS, 20);
    measured = 60;
    assert_int_equal(mr_room_left(room), 20);
    assert_true(mr_room_share_try(&share, 15)); /* may be in the 60 already */
    assert_int_equal(mr_room_left(room), 35);
    measured = 200;
    assert_int_equal(mr_room_left(room), 0);
    assert_true(mr_room_share_try(&share, 5)); /* granted long ago */
    assert_false(mr_room_share_try(&share, 1));
    mr_room_share_close(&share);
    mr_room_free(room);
}

static void test_really_measured(void **state)
{
    (void)state;
    enum { BYTES = 1 << 27 };
    mr_room *room = mr_room_new(&(mr_room_options){.limit_bytes = (uint64_t)1 << 40});
    assert_non_null(room);
    uint64_t before = mr_room_left(room);
    char *memory = malloc(BYTES);
    assert_non_null(memory);
    memset(memory, 1, BYTES);
    assert_in_range(before - mr_room_left(room), BYTES / 10 * 9, BYTES / 10 * 11);
    assert_int_equal(memory[BYTES / 2], 1);
    free(memory);
    mr_room_free(room);
    assert_true(mr_machine_bytes() >= BYTES);
    assert_true(mr_machine_bytes() <=
                (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
}

static void test_no_room_no_limit(void **state)
{
    (void)state;
    mr_room_share share;
    mr_watched watched;
    mr_room_hold(NULL, MR_ROOM_STORE, 1);
    mr_room_share_open(&share, NULL, MR_ROOM_FAR, UINT64_MAX);
    assert_true(mr_room_share_try(&share, UINT64_MAX));
    mr_room_share_must(&share, UINT64_MAX);
    mr_room_share_renew(&share);
    mr_room_share_close(&share);
    mr_room_watch(NULL, &watched);
    assert_false(mr_room_is_over(&watched));
    mr_room_unwatch(&watched);
    assert_true(mr_room_left(NULL) == UINT64_MAX);
}

/* One that opens a share in a thread of its own, and says what it saw. */
typedef struct opener {
    pthread_t thread;
    mr_room *room;
    mr_room_share share;
    uint64_t bytes;
    atomic_int *clock; /* ticks at each event that the test looks at */
    atomic_int about_to, opened_at;
} opener;

static void *open_and_close(void *argument)
{
    opener *self = argument;
    self->about_to = 1;
    mr_room_share_open(&self->share, self->room, MR_ROOM_WINDOWS, self->bytes);
    self->opened_at = ++*self->clock;
    mr_room_share_close(&self->share);
    return NULL;
}

static void start(opener *self, mr_room *room, uint64_t bytes, atomic_int *clock)
{
    self->room = room;
    self->bytes = bytes;
    self->clock = clock;
    self->about_to = self->opened_at = 0;
    assert_int_equal(pthread_create(&self->thread, NULL, open_and_close, self), 0);
    while (!self->about_to)
        let_others_run();
    let_others_run();
}

static void test_opening_waits(void **state)
{
    (void)state;
    mr_room *room = new_room(100);
    mr_room_share share, other;
    atomic_int clock = 0;
    opener large, small;
    mr_room_share_open(&share, room, MR_ROOM_WINDOWS, 60);
    mr_room_share_open(&other, room, MR_ROOM_WINDOWS, 1);
    start(&large, room, 95,
          &clock); /* then nothing else fits: it closes before the small one opens */
    start(&small, room, 10, &clock); /* would fit, but must not pass the large one */
    mr_room_share_renew(&other);     /* behind the large one, but it is open: it goes on */
    mr_room_share_must(&other, 5);
    int closed_at = ++clock;
    assert_int_equal(closed_at, 1);
    mr_room_share_close(&other);
    mr_room_share_close(&share);
    pthread_join(large.thread, NULL);
    pthread_join(small.thread, NULL);
    assert_int_equal(large.opened_at, 2);
    assert_int_equal(small.opened_at, 3);
    mr_room_free(room);
}

static void test_small_one_opens_beside(void **state)
{
    (void)state;
    mr_room *room = new_room(100);
    mr_room_share share;
    atomic_int clock = 0;
    opener small;
    mr_room_share_open(&share, room, MR_ROOM_WINDOWS, 60);
    start(&small, room, 40, &clock);
    pthread_join(small.thread, NULL);
    assert_int_equal(small.opened_at, 1);
    mr_room_share_close(&share);
    mr_room_free(room);
}

/* The heap shrinks without telling anybody. */
static void test_waits_for_the_measure(void **state)
{
    (void)state;
    mr_room *room = new_room(100);
    mr_room_share share;
    atomic_int clock = 0;
    opener other;
    mr_room_share_open(&share, room, MR_ROOM_WINDOWS, 10);
    measured = 95;
    start(&other, room, 20, &clock);
    assert_int_equal(++clock, 1);
    measured = 50;
    pthread_join(other.thread, NULL);
    assert_int_equal(other.opened_at, 2);
    mr_room_share_close(&share);
    mr_room_free(room);
}

static void test_first_never_waits(void **state)
{
    (void)state;
    mr_room *room = new_room(100);
    mr_room_share one, two;
    mr_room_share_open(&one, room, MR_ROOM_WINDOWS, 300); /* alone: over the limit at once */
    mr_room_share_close(&one);
    mr_room_share_open(&one, room, MR_ROOM_WINDOWS, 50);
    mr_room_share_open(&two, room, MR_ROOM_WINDOWS, 50);
    mr_room_share_must(&one, 90);
    assert_int_equal(mr_room_held(room, MR_ROOM_WINDOWS), 90);
    assert_false(mr_room_share_try(&one, 1)); /* only its questions are refused */
    assert_true(mr_room_share_try(&two, 50)); /* what was granted stays granted */
    mr_room_share_renew(&one);
    mr_room_share_must(&two, 70); /* now the first */
    assert_int_equal(mr_room_held(room, MR_ROOM_WINDOWS), 210);
    mr_room_share_close(&one);
    mr_room_share_close(&two);
    mr_room_free(room);
}

/* A worker without a window is not waited for, wherever its share stands. */
static void test_resting_is_passed(void **state)
{
    (void)state;
    mr_room *room = new_room(100);
    mr_room_share one, two;
    mr_room_share_open(&one, room, MR_ROOM_WINDOWS, 60);
    mr_room_share_open(&two, room, MR_ROOM_WINDOWS, 40);
    mr_room_share_rest(&one); /* stands first, and comes to no other window */
    mr_room_share_must(&two, 90);
    assert_int_equal(mr_room_held(room, MR_ROOM_WINDOWS), 90);
    mr_room_share_rest(&two);
    mr_room_share_renew(&one); /* both had rested */
    mr_room_share_must(&one, 80);
    assert_int_equal(mr_room_held(room, MR_ROOM_WINDOWS), 170);
    mr_room_share_close(&two); /* a share may be closed while it rests */
    mr_room_share_close(&one);
    assert_int_equal(mr_room_left(room), 100);
    mr_room_free(room);
}

/* Workers whose windows do not fit, alone or together: all come to their end. */
enum { WORKERS = 6, WINDOWS = 60, LIMIT = 1000 };

typedef struct worker {
    pthread_t thread;
    mr_room *room;
    uint64_t seed;
    uint64_t refused;
} worker;

static void *work(void *argument)
{
    worker *self = argument;
    mr_random random = {self->seed};
    mr_room_share share;
    mr_room_share_open(&share, self->room, MR_ROOM_WINDOWS, LIMIT / WORKERS);
    for (int window = 0; window < WINDOWS; window++) {
        uint64_t used = 0;
        for (int step = 0; step < 5; step++) {
            uint64_t bytes = 1 + mr_random_below(&random, LIMIT / 2);
            mr_room_share_must(&share, bytes);
            used += bytes;
            uint64_t more = 1 + mr_random_below(&random, LIMIT / 10);
            bool granted = mr_room_share_try(&share, more);
            used += granted ? more : 0;
            self->refused += !granted;
        }
        mr_room_share_give(&share, used);
        mr_room_share_rest(&share);
        if (mr_random_percent(&random, 20))
            let_others_run();
        mr_room_share_renew(&share);
    }
    mr_room_share_close(&share);
    return NULL;
}

static void test_everybody_ends(void **state)
{
    (void)state;
    mr_room *room = new_room(LIMIT);
    worker workers[WORKERS];
    uint64_t refused = 0;
    for (uint64_t i = 0; i < WORKERS; i++) {
        workers[i] = (worker){.room = room, .seed = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(workers[i].thread, NULL);
        refused += workers[i].refused;
    }
    assert_true(refused > 0);
    assert_int_equal(mr_room_held(room, MR_ROOM_WINDOWS), 0);
    assert_int_equal(mr_room_left(room), LIMIT);
    mr_room_free(room);
}

static void test_youngest_is_over(void **state)
{
    (void)state;
    mr_room *room = new_room(100);
    mr_watched old, young;
    mr_room_watch(room, &old);
    mr_room_watch(room, &young);
    measured = 100;
    assert_false(mr_room_is_over(&young));
    measured = 101;
    assert_true(mr_room_is_over(&young));
    assert_false(mr_room_is_over(&old));
    mr_room_unwatch(&young);
    assert_true(mr_room_is_over(&old));
    mr_room_watch(room, &young);
    mr_room_unwatch(&old); /* not the youngest */
    assert_true(mr_room_is_over(&young));
    mr_room_unwatch(&young);
    mr_room_free(room);
}

/* ---- arenas ---- */

enum { MIB = 1 << 20 };

static void test_arena_is_charged(void **state)
{
    (void)state;
    mr_room *room = new_room(4 * MIB);
    mr_room_share share;
    mr_arena arena;
    mr_arena_init(&arena);
    mr_room_share_open(&share, room, MR_ROOM_WINDOWS, MIB);
    arena.share = &share;
    assert_non_null(mr_arena_alloc(&arena, 3 * MIB, 1));
    assert_in_range(mr_room_held(room, MR_ROOM_WINDOWS), 3 * MIB, 3 * MIB + MIB / 8);
    assert_false(arena.refused);
    assert_null(mr_arena_alloc(&arena, 2 * MIB, 1));
    assert_true(arena.refused);
    arena.refused = false;
    assert_non_null(mr_arena_alloc(&arena, 100, 1)); /* what is there can be had */
    mr_arena_reset(&arena);
    assert_non_null(mr_arena_alloc(&arena, 3 * MIB, 1)); /* the same block */
    assert_null(mr_arena_alloc(&arena, 2 * MIB, 1));
    assert_true(arena.refused);
    arena.waits = true; /* the first in line gets it in any case */
    assert_non_null(mr_arena_alloc(&arena, 2 * MIB, 1));
    assert_true(mr_room_held(room, MR_ROOM_WINDOWS) >= 5 * MIB);
    mr_arena_reset(&arena);
    mr_arena_trim(&arena, MIB);
    assert_true(mr_room_held(room, MR_ROOM_WINDOWS) <= MIB);
    assert_non_null(mr_arena_alloc(&arena, 2 * MIB, 1));
    mr_arena_free(&arena);
    assert_int_equal(mr_room_held(room, MR_ROOM_WINDOWS), 0);
    mr_room_share_close(&share);
    mr_room_free(room);
}

/* A system without memory is something else. */
static void test_arena_without_memory(void **state)
{
    (void)state;
    mr_room *room = new_room(4 * MIB);
    mr_room_share share;
    mr_arena arena;
    mr_arena_init(&arena);
    mr_room_share_open(&share, room, MR_ROOM_WINDOWS, MIB);
    arena.share = &share;
    mr_memory_fail_after(1);
    assert_null(mr_arena_alloc(&arena, MIB, 1));
    mr_memory_fail_after(0);
    assert_false(arena.refused);
    assert_int_equal(mr_room_held(room, MR_ROOM_WINDOWS), 0);
    mr_arena_free(&arena);
    mr_room_share_close(&share);
    mr_room_free(room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_measured),
        cmocka_unit_test(test_really_measured),
        cmocka_unit_test(test_no_room_no_limit),
        cmocka_unit_test(test_opening_waits),
        cmocka_unit_test(test_small_one_opens_beside),
        cmocka_unit_test(test_waits_for_the_measure),
        cmocka_unit_test(test_first_never_waits),
        cmocka_unit_test(test_resting_is_passed),
        cmocka_unit_test(test_everybody_ends),
        cmocka_unit_test(test_youngest_is_over),
        cmocka_unit_test(test_arena_is_charged),
        cmocka_unit_test(test_arena_without_memory),
    };
    alarm(100); /* who waits forever, fails */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
