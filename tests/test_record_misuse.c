/* From the log of a recorded program to a trace: what threads did against the rules, and what is noted
 * of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/log_build.h"

#include "runtime/log.h"

/* Nothing is mapped in these logs, so variables are named by their address. */
enum { X = 0x1000, CODE = 0x100 };

static void memory(mr_log_build *log, unsigned kind, unsigned role, uint64_t address,
                   unsigned count, uint64_t bytes)
{
    mr_log_object(log, kind, role, address, CODE, count, bytes);
}

static void retire(mr_log_build *log, mr_log_role role, mr_log_retired how)
{
    mr_log_object(log, MR_LOG_RETIRED, role, X, CODE, how, 0);
}

static void lock(mr_log_build *log, unsigned kind)
{
    mr_log_object(log, kind, MR_LOG_ROLE_MUTEX, X, CODE, 0, 0);
}

static void expect_misuse(mr_log_build *log, mr_misuse_kind kind, uint64_t event, uint64_t other)
{
    mr_trace *trace = mr_log_converted(log, false, NULL);
    assert_int_equal(trace->ending.misuse_count, kind ? 1 : 0);
    if (kind) {
        const mr_misuse *misuse = trace->ending.misuses;
        assert_int_equal(misuse->kind, kind);
        assert_int_equal(misuse->event, event);
        assert_true(misuse->other == other);
    }
    mr_trace_free(trace);
    mr_log_build_free(log);
}

static void test_misuse(void **state)
{
    (void)state;
    mr_log_build log = {0};
    mr_log_switch(&log, 0); /* 0: read, 1: acquire, 2: read of the release by T1 */
    lock(&log, MR_LOG_ACQUIRE);
    mr_log_switch(&log, 1);
    lock(&log, MR_LOG_RELEASE);
    mr_log_switch(&log, 0);
    lock(&log, MR_LOG_RELEASE);
    expect_misuse(&log, MR_MISUSE_UNLOCK_BY_OTHER, 2, 1);
    mr_log_switch(&log, 0);
    lock(&log, MR_LOG_ACQUIRE);
    lock(&log, MR_LOG_RELEASE);
    lock(&log, MR_LOG_RELEASE);
    expect_misuse(&log, MR_MISUSE_UNLOCK_FREE, 4, MR_MISUSE_NO_EVENT);
    mr_log_switch(&log, 0); /* taken before the log begins */
    lock(&log, MR_LOG_RELEASE);
    expect_misuse(&log, MR_MISUSE_NONE, 0, 0);
    mr_log_switch(&log, 0);
    lock(&log, MR_LOG_ACQUIRE);
    retire(&log, MR_LOG_ROLE_MUTEX, MR_LOG_RETIRED_REFUSED);
    expect_misuse(&log, MR_MISUSE_DESTROY_HELD, 2, 1);
    mr_log_switch(&log, 0);
    retire(&log, MR_LOG_ROLE_MUTEX, MR_LOG_RETIRED_DESTROYED);
    mr_log_object(&log, MR_LOG_USED, MR_LOG_ROLE_MUTEX, X, CODE, 1, 0);
    expect_misuse(&log, MR_MISUSE_USE_AFTER_DESTROY, 1, 0);
    mr_log_switch(&log, 0); /* it can be locked: it was initialised by assignment */
    retire(&log, MR_LOG_ROLE_MUTEX, MR_LOG_RETIRED_DESTROYED);
    lock(&log, MR_LOG_ACQUIRE);
    expect_misuse(&log, MR_MISUSE_NONE, 0, 0);
    mr_log_switch(&log, 0);
    retire(&log, MR_LOG_ROLE_SEMAPHORE, MR_LOG_RETIRED_DESTROYED);
    mr_log_object(&log, MR_LOG_POST, MR_LOG_ROLE_SEMAPHORE, X, CODE, 1, 0);
    expect_misuse(&log, MR_MISUSE_USE_AFTER_DESTROY, 1, 0);
    mr_log_switch(&log, 0);
    retire(&log, MR_LOG_ROLE_SEMAPHORE, MR_LOG_RETIRED_DESTROYED);
    mr_log_access(&log, MR_LOG_WRITE, X, 4, CODE, 0);
    mr_log_object(&log, MR_LOG_POST, MR_LOG_ROLE_SEMAPHORE, X, CODE, 1, 0);
    expect_misuse(&log, MR_MISUSE_NONE, 0, 0);
    mr_log_switch(&log, 0);
    mr_log_object(&log, MR_LOG_USED, MR_LOG_ROLE_MUTEX, X, CODE, 1, 0);
    expect_misuse(&log, MR_MISUSE_NOT_INITIALISED, 0, MR_MISUSE_NO_EVENT);
}

/* Wrong uses of a lock of the program's own count as far as the lock is held in its memory's life. */
static void test_wrong(void **state)
{
    (void)state;
    static const struct {
        mr_log_wrong how;
        mr_misuse_kind held, not_held;
    } rows[] = {
        {MR_LOG_WRONG_ACQUIRE, MR_MISUSE_LOCK_HELD, MR_MISUSE_NONE},
        {MR_LOG_WRONG_RELEASE, MR_MISUSE_UNLOCK_BY_OTHER, MR_MISUSE_UNLOCK_FREE},
        {MR_LOG_WRONG_MODE, MR_MISUSE_UNLOCK_MODE, MR_MISUSE_NONE},
        {MR_LOG_WRONG_DESTROY, MR_MISUSE_DESTROY_HELD, MR_MISUSE_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mr_log_build log = {0};
        mr_log_switch(&log, 0);
        mr_log_object(&log, MR_LOG_ACQUIRE, MR_LOG_ROLE_OWN, X, CODE, 0, 0);
        mr_log_object(&log, MR_LOG_USED, MR_LOG_ROLE_WRONG, X, CODE, rows[i].how, 0);
        expect_misuse(&log, rows[i].held, 1, 0);
        mr_log_switch(&log, 0);
        memory(&log, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, X, 0, 16);
        mr_log_object(&log, MR_LOG_ACQUIRE, MR_LOG_ROLE_OWN, X, CODE, 0, 0);
        memory(&log, MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, X, 0, 16);
        memory(&log, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, X, 0, 16);
        mr_log_object(&log, MR_LOG_USED, MR_LOG_ROLE_WRONG, X, CODE, rows[i].how, 0);
        expect_misuse(&log, rows[i].not_held, 1, MR_MISUSE_NO_EVENT);
    }
}

/* Threads of which something is noted, those that were started at one place in one sentence. */
static void test_notes(void **state)
{
    (void)state;
    mr_log_build log = {0};
    mr_log_switch(&log, 0);
    for (uint64_t thread = 1; thread <= 3; thread++)
        mr_log_object(&log, MR_LOG_FORK, 0, 0, CODE, 0, thread);
    for (uint64_t thread = 3; thread >= 1; thread--)
        mr_log_object(&log, MR_LOG_NOTE, 0, 0, 0, MR_LOG_NOTE_LEFT, thread);
    mr_log_object(&log, MR_LOG_NOTE, 0, 0, 0, MR_LOG_NOTE_IGNORES, 0);
    mr_log_object(&log, MR_LOG_NOTE, 0, 0, 0, 77, 0);
    mr_trace *trace = mr_log_converted(&log, false, NULL);
    assert_string_equal(trace->ending.details,
                        "T1, started at 0xff, ended and was neither joined nor detached; so did 2 "
                        "others that were started there\n"
                        "T0 ended while it asked that its events are not recorded\n");
    mr_trace_free(trace);
    mr_log_build_free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
