/* From the log of a recorded program to a trace: what threads did against the rules, what is noted
 * of them, and what they were told of states. */
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
    mr_log_switch(&log, 0); /* a recursive mutex that nobody holds, or another thread */
    mr_log_object(&log, MR_LOG_USED, MR_LOG_ROLE_MUTEX, X, CODE, MR_LOG_USED_NOT_HELD, 0);
    expect_misuse(&log, MR_MISUSE_UNLOCK_FREE, 0, MR_MISUSE_NO_EVENT);
    mr_log_switch(&log, 1); /* 0: read, 1: acquire, 2: read */
    lock(&log, MR_LOG_ACQUIRE);
    mr_log_switch(&log, 0);
    mr_log_object(&log, MR_LOG_USED, MR_LOG_ROLE_MUTEX, X, CODE, MR_LOG_USED_NOT_HELD, 0);
    expect_misuse(&log, MR_MISUSE_UNLOCK_BY_OTHER, 2, 1);
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

static void expect(mr_log_build *log, const char *events)
{
    mr_trace *trace = mr_log_converted(log, false, NULL);
    mr_log_expect(trace, events);
    mr_trace_free(trace);
    mr_log_build_free(log);
}

/* Each takes and releases the mutex. `how`: what the acquire says. */
static void section(mr_log_build *log, uint32_t thread, unsigned how, bool makes_good)
{
    mr_log_switch(log, thread);
    mr_log_object(log, MR_LOG_ACQUIRE, MR_LOG_ROLE_MUTEX, X, CODE, how, 0);
    if (makes_good)
        mr_log_object(log, MR_LOG_USED, MR_LOG_ROLE_MUTEX, X, CODE, MR_LOG_USED_CONSISTENT, 0);
    lock(log, MR_LOG_RELEASE);
}

static void dies(mr_log_build *log, uint32_t thread)
{
    mr_log_switch(log, thread);
    lock(log, MR_LOG_ACQUIRE);
    mr_log_object(log, MR_LOG_RELEASE, MR_LOG_ROLE_MUTEX, X, CODE, MR_LOG_BY_END, 0);
}

/* The owner of a robust mutex dies twice. It is made good, then not. What T2 finds of the owner that died in another process
 * at first has no event. */
static void test_owner(void **state)
{
    (void)state;
    mr_log_build log = {0};
    section(&log, 2, MR_LOG_OWNER_DIED, true);
    dies(&log, 0);
    section(&log, 1, MR_LOG_OWNER_DIED | MR_LOG_TRIED, true);
    section(&log, 2, 0, false);
    dies(&log, 0);
    section(&log, 1, MR_LOG_OWNER_DIED, false);
    mr_log_switch(&log, 2);
    mr_log_object(&log, MR_LOG_USED, MR_LOG_ROLE_MUTEX, X, CODE, MR_LOG_USED_LOST, 0);
    expect(&log, "T2|acq(0x1000)\nT2|rel(0x1000)\n"
                 "T0|acq(0x1000)\nT0|ar.rlx(0x1000.owner=0)\n"
                 "T0|aw.rlx(0x1000.owner=1)\nT0|rel(0x1000)\n"
                 "T1|acq.try(0x1000)\nT1|ar.rlx(0x1000.owner=1)\n"
                 "T1|aw.rlx(0x1000.owner=0)\nT1|rel(0x1000)\n"
                 "T2|acq(0x1000)\nT2|ar.rlx(0x1000.owner=0)\nT2|rel(0x1000)\n"
                 "T0|acq(0x1000)\nT0|ar.rlx(0x1000.owner=0)\n"
                 "T0|aw.rlx(0x1000.owner=1)\nT0|rel(0x1000)\n"
                 "T1|acq(0x1000)\nT1|ar.rlx(0x1000.owner=1)\n"
                 "T1|aw.rel(0x1000.owner=2)\nT1|rel(0x1000)\n"
                 "T2|ar.acq(0x1000.owner=2)\n");
}

/* The program asks how many units a semaphore has, and whether a signal is pending: one that is taken is not. Of signal 11 nobody asks,
 * and nobody sends signal 12. */
static void test_asked(void **state)
{
    (void)state;
    enum { SEM = MR_LOG_ROLE_SEMAPHORE, SIGNAL = MR_LOG_ROLE_SIGNAL };
    mr_log_build log = {0};
    mr_log_switch(&log, 0);
    mr_log_object(&log, MR_LOG_USED, SEM, X, CODE, MR_LOG_USED_ASKED, 0);
    mr_log_object(&log, MR_LOG_AFTER, SIGNAL, 10, CODE, MR_LOG_NOT_YET, 0);
    mr_log_object(&log, MR_LOG_AFTER, SIGNAL, 12, CODE, MR_LOG_NOT_YET, 0);
    mr_log_switch(&log, 1);
    mr_log_object(&log, MR_LOG_POST, SEM, X, CODE, 1, 0);
    mr_log_object(&log, MR_LOG_BEFORE, SIGNAL, 10, CODE, 0, 0);
    mr_log_object(&log, MR_LOG_BEFORE, SIGNAL, 11, CODE, 0, 0);
    mr_log_switch(&log, 0);
    mr_log_object(&log, MR_LOG_USED, SEM, X, CODE, MR_LOG_USED_ASKED, 0);
    mr_log_object(&log, MR_LOG_AFTER, SIGNAL, 10, CODE, 0, 0);
    mr_log_object(&log, MR_LOG_AFTER, SIGNAL, 10, CODE, MR_LOG_NOT_YET, 0);
    mr_log_object(&log, MR_LOG_AFTER, SIGNAL, 11, CODE, 0, 0);
    expect(&log, "T0|ar.acq(0x1000.units=0)\nT0|ar(signal.10=0)\n"
                 "T1|au.rel(0x1000.units=0>1)\nT1|post(0x1000)\nT1|au(signal.10=0>1)\n"
                 "T1|au(signal.11=0>1)\nT0|ar.acq(0x1000.units=1)\nT0|au(signal.10=1>2)\n"
                 "T0|ar(signal.10=2)\nT0|ar(signal.11=1)\n");
}

/* A join gives up, the thread ends, and is joined. Nobody gives up T2. */
static void test_not_ended(void **state)
{
    (void)state;
    mr_log_build log = {0};
    mr_log_switch(&log, 0);
    mr_log_object(&log, MR_LOG_AFTER, MR_LOG_ROLE_ENDED, 1, CODE, MR_LOG_NOT_ENDED, 0);
    for (uint32_t thread = 1; thread <= 2; thread++) {
        mr_log_switch(&log, thread);
        mr_log_object(&log, MR_LOG_END, 0, 0, CODE, 0, 0);
    }
    expect(&log, "T0|ar(T1.ended=0)\nT1|aw(T1.ended=1)\nT1|end()\nT2|end()\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misuse), cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_notes),  cmocka_unit_test(test_owner),
        cmocka_unit_test(test_asked),  cmocka_unit_test(test_not_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
