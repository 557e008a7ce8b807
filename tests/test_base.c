/* base: arena, memory, error, thread. */
#define _GNU_SOURCE /* CPU_SET */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/slab.h"
#include "base/thread.h"
#include "support/random.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_arena(void **state)
{
    (void)state;
    mr_arena arena;
    mr_arena_init(&arena);
    for (int round = 0; round < 3; round++) {
        unsigned char *blocks[200];
        for (size_t i = 0; i < 200; i++) {
            size_t count = i * i * 7; /* up to more than a block */
            blocks[i] = mr_arena_alloc(&arena, count, 1);
            assert_non_null(blocks[i]);
            assert_int_equal((uintptr_t)blocks[i] % 16, 0);
            memset(blocks[i], (int)i, count);
        }
        for (size_t i = 1; i < 200; i++) { /* none overlaps another */
            assert_int_equal(blocks[i][0], i);
            assert_int_equal(blocks[i][i * i * 7 - 1], i);
        }
        unsigned char *zeros = mr_arena_zalloc(&arena, 1000, 1);
        for (size_t i = 0; i < 1000; i++)
            assert_int_equal(zeros[i], 0);
        mr_arena_reset(&arena);
        assert_int_equal(arena.in_use_bytes, 0);
    }
    assert_null(mr_arena_alloc(&arena, SIZE_MAX / 2, 3));
    mr_arena_free(&arena);
}

static void test_arena_marks(void **state)
{
    (void)state;
    mr_arena arena;
    mr_arena_init(&arena);
    mr_arena_mark start = mr_arena_get_mark(&arena);
    char *kept = mr_arena_alloc(&arena, 100, 1);
    strcpy(kept, "kept");
    mr_arena_mark mark = mr_arena_get_mark(&arena);
    void *first = mr_arena_alloc(&arena, 100, 1);
    for (int i = 0; i < 50; i++)
        memset(mr_arena_alloc(&arena, 10000, 1), 1, 10000);
    mr_arena_release(&arena, mark);
    assert_int_equal(arena.in_use_bytes, mark.in_use_bytes);
    assert_ptr_equal(mr_arena_alloc(&arena, 100, 1), first); /* the memory is used again */
    assert_string_equal(kept, "kept");
    mr_arena_release(&arena, start);
    assert_ptr_equal(mr_arena_alloc(&arena, 100, 1), kept);
    mr_arena_free(&arena);
}

/* Blocks of a slab, small and large, taken and given back in any order: none overlaps another. */
static void test_slab(void **state)
{
    (void)state;
    enum { PLACES = 100, STEPS = 20000, MOST_BYTES = 3000 };
    mr_random random = {7};
    mr_slab slab = {0};
    unsigned char *blocks[PLACES] = {NULL};
    size_t sizes[PLACES];
    for (int round = 0; round < 2; round++) {
        for (int step = 0; step < STEPS; step++) {
            size_t place = mr_random_below(&random, PLACES), i = 0;
            if (blocks[place]) {
                while (i < sizes[place] && blocks[place][i] == place)
                    i++;
                assert_int_equal(i, sizes[place]);
                mr_slab_give(&slab, blocks[place], sizes[place]);
                blocks[place] = NULL;
                continue;
            }
            uint32_t most = mr_random_percent(&random, 90) ? 300 : MOST_BYTES;
            sizes[place] = 1 + mr_random_below(&random, most);
            blocks[place] = mr_slab_take(&slab, sizes[place]);
            assert_non_null(blocks[place]);
            assert_int_equal((uintptr_t)blocks[place] % 16, 0);
            memset(blocks[place], (int)place, sizes[place]);
        }
        mr_slab_free(&slab);
        memset(blocks, 0, sizeof blocks);
    }
    mr_slab_give(&slab, NULL, 1);
    mr_memory_fail_after(1);
    assert_null(mr_slab_take(&slab, 1));
    assert_null(mr_slab_take(&slab, MOST_BYTES));
    mr_memory_fail_after(0);
}

static void test_memory(void **state)
{
    (void)state;
    assert_null(mr_malloc(SIZE_MAX, 1));
    assert_null(mr_realloc(NULL, SIZE_MAX / 2, 3));
    char *copy = mr_strndup("abcdef", 3);
    assert_string_equal(copy, "abc");
    free(copy);
    mr_u32s numbers = {0};
    for (uint32_t i = 0; i < 1000; i++)
        assert_true(mr_u32s_push(&numbers, i));
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(numbers.items[i], i);
    mr_memory_fail_after(1);
    while (numbers.count < numbers.capacity)
        assert_true(mr_u32s_push(&numbers, 7)); /* needs no memory */
    assert_false(mr_u32s_push(&numbers, 8));
    mr_memory_fail_after(0);
    assert_int_equal(numbers.items[numbers.count - 1], 7);
    mr_u32s_free(&numbers);
    assert_int_equal(numbers.capacity, 0);
}

static void test_fail_after(void **state)
{
    (void)state;
    mr_memory_fail_after(3);
    void *first = mr_malloc(1, 0), *second = mr_calloc(1, 1);
    assert_non_null(first);
    assert_non_null(second);
    for (int i = 0; i < 3; i++)
        assert_null(mr_malloc(1, 0));
    assert_null(mr_realloc(first, 2, 1));
    mr_memory_fail_after(0);
    free(first);
    free(second);
}

static void test_error_lines(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        uint64_t line;
        const char *expected;
    } cases[] = {
        {"a.std", 12, "a.std:12: bad x"},
        {"a.std", 0, "a.std: bad x"},
        {NULL, 0, "bad x"},
        {NULL, 5, "bad x"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr_error error;
        char line[64], cut[6];
        assert_int_equal(
            mr_error_set(&error, MR_ERR_TRACE, cases[i].file, cases[i].line, "bad %s", "x"),
            MR_ERR_TRACE);
        mr_error_line(&error, line, sizeof line);
        assert_string_equal(line, cases[i].expected);
        mr_error_line(&error, cut, sizeof cut);
        assert_memory_equal(cut, cases[i].expected, 5);
        assert_int_equal(cut[5], '\0');
    }
    assert_int_equal(mr_error_memory(NULL, "testing"), MR_ERR_MEMORY);
}

static void test_long_errors(void **state)
{
    (void)state;
    mr_error error;
    char text[2000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    mr_error_set(&error, MR_ERR_IO, text, 1, "%s", text);
    assert_int_equal(strlen(error.file), sizeof error.file - 1);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
}

static void test_statuses(void **state)
{
    (void)state;
    assert_int_equal(mr_status_exit(MR_OK), 0);
    assert_int_equal(mr_status_exit(MR_ERR_USAGE), 2);
    assert_int_equal(mr_status_exit(MR_ERR_CONFIG), 2);
    assert_int_equal(mr_status_exit(MR_ERR_TRACE), 3);
    assert_int_equal(mr_status_exit(MR_ERR_UNSUPPORTED), 3);
    assert_int_equal(mr_status_exit(MR_ERR_IO), 4);
    assert_int_equal(mr_status_exit(MR_ERR_MEMORY), 4);
    assert_int_equal(mr_status_exit(MR_ERR_INTERNAL), 4);
}

static void break_require(int value)
{
    MR_REQUIRE(value > 2);
}

static void break_assert(int value)
{
    MR_ASSERT(value > 3);
}

static void break_costly(int value)
{
    MR_ASSERT_COSTLY(value > 4);
}

/* Runs `fails` in a child; its standard error goes to `text`. The child's status. */
static int run_in_child(void (*fails)(int), int value, char *text, size_t size)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        fails(value);
        _exit(7);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t more;
    while (length + 1 < size && (more = read(ends[0], text + length, size - 1 - length)) > 0)
        length += (size_t)more;
    text[length] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void test_assertions(void **state)
{
    (void)state;
    static const struct {
        void (*fails)(int);
        const char *end;
        bool costly;
    } kinds[] = {
        {break_require, ": caller's mistake: value > 2\n", false},
        {break_assert, ": own bug: value > 3\n", false},
        {break_costly, ": own bug (costly check): value > 4\n", true},
    };
#ifdef MR_COSTLY_CHECKS
    bool costly_too = true;
#else
    bool costly_too = false;
#endif
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char text[500];
        int status = run_in_child(kinds[i].fails, 5, text, sizeof text);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
        assert_string_equal(text, "");
        status = run_in_child(kinds[i].fails, 1, text, sizeof text);
        if (kinds[i].costly && !costly_too) {
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
            continue;
        }
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        size_t length = strlen(text), end = strlen(kinds[i].end);
        assert_non_null(strstr(text, "tests/test_base.c:"));
        assert_true(length > end && strcmp(text + length - end, kinds[i].end) == 0);
    }
}

/* A process that may run on one processor has one, whatever the machine has. */
static void test_thread_cores(void **state)
{
    (void)state;
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_int_equal(mr_thread_cores(), CPU_COUNT(&before));
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; core++)
        if (CPU_ISSET(core, &before))
            CPU_SET(core, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    unsigned cores = mr_thread_cores();
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(cores, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena),       cmocka_unit_test(test_arena_marks),
        cmocka_unit_test(test_slab),        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_fail_after),  cmocka_unit_test(test_error_lines),
        cmocka_unit_test(test_long_errors), cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_assertions),  cmocka_unit_test(test_thread_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
