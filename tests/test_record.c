/* From the log of a recorded program to a trace: variables, values, locks, threads, calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/log_build.h"

#include "runtime/log.h"

#include <stdlib.h>
#include <string.h>

/* Nothing is mapped in these logs, so variables are named by their address. */
enum { X = 0x1000, CODE = 0x100 };

static void thread_event(mr_log_build *log, unsigned kind, uint32_t number)
{
    mr_log_object(log, kind, 0, 0, CODE, 0, number);
}

static void access(mr_log_build *log, uint32_t thread, unsigned kind, uint64_t address,
                   unsigned bytes, int64_t value)
{
    mr_log_switch(log, thread);
    mr_log_access(log, kind, address, bytes, CODE, value);
}

static void check(mr_log_build *log, bool keep_local, const char *events)
{
    mr_trace *trace = mr_log_converted(log, keep_local, NULL);
    mr_log_expect(trace, events);
    mr_trace_free(trace);
    mr_log_build_free(log);
}

static void test_threads(void **state)
{
    (void)state;
    mr_log_build log = {0};
    mr_log_switch(&log, 0);
    thread_event(&log, MR_LOG_BEGIN, 0);
    thread_event(&log, MR_LOG_FORK, 1);
    mr_log_switch(&log, 1);
    thread_event(&log, MR_LOG_BEGIN, 0);
    thread_event(&log, MR_LOG_END, 0);
    mr_log_switch(&log, 0);
    thread_event(&log, MR_LOG_JOIN, 1);
    check(&log, false, "T0|begin()\nT0|fork(T1)\nT1|begin()\nT1|end()\nT0|join(T1)\n");
}

/* An access of 8 bytes over accesses of 4 and 2: three pieces. */
static void test_pieces(void **state)
{
    (void)state;
    mr_log_build log = {0};
    access(&log, 0, MR_LOG_WRITE, X, 8, 0x1122334455667788);
    access(&log, 1, MR_LOG_WRITE, X, 4, -1);
    access(&log, 1, MR_LOG_READ, X + 6, 2, 0x1122);
    check(&log, false,
          "T0|w(0x1000=1432778632)\nT0|w(0x1006=4386)\nT1|w(0x1000=-1)\nT1|r(0x1006=4386)\n");
}

/* The same with everything: the piece in the middle is T0's alone. */
static void test_keep_local(void **state)
{
    (void)state;
    mr_log_build log = {0};
    access(&log, 0, MR_LOG_WRITE, X, 8, 0x1122334455667788);
    access(&log, 1, MR_LOG_WRITE, X, 4, -1);
    access(&log, 1, MR_LOG_READ, X + 6, 2, 0x1122);
    check(&log, true,
          "T0|w(0x1000=1432778632)\nT0|w(0x1004=13124)\nT0|w(0x1006=4386)\nT1|w(0x1000=-1)\n"
          "T1|r(0x1006=4386)\n");
}

/* What nobody writes is left out, and so is what one thread uses, in lines of 64 bytes. */
static void test_left_out(void **state)
{
    (void)state;
    mr_log_build log = {0};
    mr_record_summary summary;
    access(&log, 0, MR_LOG_READ, X, 4, 5);
    access(&log, 1, MR_LOG_READ, X, 4, 5);
    access(&log, 0, MR_LOG_WRITE, X + 64, 4, 6);
    access(&log, 1, MR_LOG_WRITE, X + 128, 4, 7);
    access(&log, 0, MR_LOG_READ, X + 128, 4, 7);
    mr_trace *trace = mr_log_converted(&log, false, &summary);
    mr_log_expect(trace, "T1|w(0x1080=7)\nT0|r(0x1080=7)\n");
    assert_int_equal(summary.accesses, 5);
    assert_int_equal(summary.left_out, 3);
    assert_int_equal(summary.strange_reads, 0);
    mr_trace_free(trace);
    mr_log_build_free(&log);
}

/* A long range that nobody accesses in part is one variable; equal contents have equal values. */
static void test_ranges(void **state)
{
    (void)state;
    static const char one[100] = "one", two[100] = "two";
    mr_log_build log = {0};
    mr_log_switch(&log, 0);
    mr_log_range(&log, MR_LOG_RANGE_WRITE, X, CODE, one, sizeof one);
    mr_log_switch(&log, 1);
    mr_log_range(&log, MR_LOG_RANGE_READ, X, CODE, one, sizeof one);
    mr_log_range(&log, MR_LOG_RANGE_WRITE, X, CODE, two, sizeof two);
    check(&log, false, "T0|w(0x1000=0)\nT1|r(0x1000=0)\nT1|w(0x1000=1)\n");
    mr_log_switch(&log, 0);
    mr_log_range(&log, MR_LOG_RANGE_WRITE, X, CODE, one, sizeof one);
    access(&log, 1, MR_LOG_READ, X + 2, 1, 'e');
    check(&log, false, "T0|w(0x1002=101)\nT1|r(0x1002=101)\n");
}

/* Who waits when nobody can run: threads whose last record says so, whatever they waited for before. */
static void test_waiting(void **state)
{
    (void)state;
    mr_log_build log = {0};
    mr_record_summary summary;
    mr_error error;
    mr_trace *trace = NULL;
    size_t count;
    for (uint32_t thread = 0; thread < 3; thread++) {
        mr_log_switch(&log, thread);
        thread_event(&log, MR_LOG_BEGIN, 0);
        mr_log_object(&log, MR_LOG_BLOCKED, MR_LOG_ROLE_SEMAPHORE, X + 64, CODE, 0, 0);
        mr_log_object(&log, MR_LOG_ACQUIRE, MR_LOG_ROLE_MUTEX, X + 8 * thread, CODE, 0, 0);
    }
    mr_log_switch(&log, 0);
    mr_log_object(&log, MR_LOG_BLOCKED, MR_LOG_ROLE_MUTEX, X + 8, CODE, 0, 0);
    mr_log_switch(&log, 1);
    mr_log_object(&log, MR_LOG_BLOCKED, MR_LOG_ROLE_NONE, X + 128, CODE, 0, 2);
    mr_log_switch(&log, 2);
    mr_log_object(&log, MR_LOG_RELEASE, MR_LOG_ROLE_MUTEX, X + 16, CODE, 0, 0);
    mr_log_switch(&log, MR_LOG_THREADS_MAX); /* of a thread without an event, and far away */
    mr_log_object(&log, MR_LOG_BLOCKED, MR_LOG_ROLE_MUTEX, X + 8, CODE, 0, 0);
    char *bytes = mr_log_file(&log, &count);
    ((mr_log_header *)(void *)bytes)->state = MR_LOG_DEADLOCK;
    assert_int_equal(mr_log_try(bytes, count, NULL, &summary, &trace, &error), MR_OK);
    assert_int_equal(trace->ending.stop, MR_STOP_DEADLOCK);
    assert_string_equal(trace->ending.details,
                        "main (T0) waits for mutex 0x1008 at 0xff, held by main (T1) since 0xff\n"
                        "main (T1) waits for the end of main (T2) at 0xff\n");
    mr_trace_free(trace);
    free(bytes);
    mr_log_build_free(&log);
}

/* A semaphore that begins with many units has as many posts as are taken; single posts stay. */
static void test_many_units(void **state)
{
    (void)state;
    mr_log_build log = {0};
    mr_log_switch(&log, 0);
    mr_log_object(&log, MR_LOG_POST, MR_LOG_ROLE_SEMAPHORE, X, CODE, 65535, 0);
    mr_log_object(&log, MR_LOG_POST, MR_LOG_ROLE_SEMAPHORE, X, CODE, 1, 0);
    mr_log_object(&log, MR_LOG_WAIT, MR_LOG_ROLE_SEMAPHORE, X, CODE, 1, 0);
    mr_log_object(&log, MR_LOG_WAIT, MR_LOG_ROLE_SEMAPHORE, X, CODE, 1, 0);
    mr_log_object(&log, MR_LOG_POST, MR_LOG_ROLE_SEMAPHORE, X + 8, CODE, 65535, 0);
    check(&log, false,
          "T0|post(0x1000)\nT0|post(0x1000)\nT0|post(0x1000)\nT0|wait(0x1000)\n"
          "T0|wait(0x1000)\nT0|post(0x1008)\n");
}

/* A short log cannot become a long trace. */
static void test_units_without_end(void **state)
{
    (void)state;
    mr_log_build log = {0};
    mr_record_summary summary;
    mr_log_switch(&log, 0);
    for (int i = 0; i < 1000; i++) {
        mr_log_object(&log, MR_LOG_POST, MR_LOG_ROLE_SEMAPHORE, X, CODE, 65535, 0);
        mr_log_object(&log, MR_LOG_WAIT, MR_LOG_ROLE_SEMAPHORE, X, CODE, 65535, 0);
    }
    mr_trace *trace = mr_log_converted(&log, false, &summary);
    assert_true(trace->event_count < 1200000);
    assert_true(summary.damaged);
    mr_trace_free(trace);
    mr_log_build_free(&log);
}

/* Atomic accesses of memory that others access in part stay one. */
static void test_split_atomics(void **state)
{
    (void)state;
    mr_log_build log = {0};
    access(&log, 0, MR_LOG_ATOMIC_WRITE, X, 8, 1);
    access(&log, 1, MR_LOG_WRITE, X, 4, 2);
    mr_log_switch(&log, 0);
    mr_log_update(&log, X, 4, CODE, 2, 3);
    access(&log, 1, MR_LOG_READ, X + 4, 4, 0);
    check(&log, false,
          "T0|acq(0x1000.atomic)\nT0|aw.rlx(0x1000=1)\nT0|aw.rlx(0x1004=0)\nT0|rel(0x1000.atomic)\n"
          "T1|w(0x1000=2)\nT0|acq(0x1000.atomic)\nT0|au.rlx(0x1000=2>3)\nT0|rel(0x1000.atomic)\n"
          "T1|r(0x1004=0)\n");
}

/* Memory that is given back and given again is another variable, and its mutex another one. */
static void test_lives(void **state)
{
    (void)state;
    mr_log_build log = {0};
    for (int life = 0; life < 2; life++) {
        mr_log_switch(&log, 0);
        mr_log_object(&log, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, X, CODE, 0, 64);
        mr_log_object(&log, MR_LOG_ACQUIRE, MR_LOG_ROLE_MUTEX, X + 8, CODE, 0, 0);
        mr_log_object(&log, MR_LOG_RELEASE, MR_LOG_ROLE_MUTEX, X + 8, CODE, 0, 0);
        access(&log, 0, MR_LOG_WRITE, X, 4, life);
        access(&log, 1, MR_LOG_READ, X, 4, life);
        mr_log_object(&log, MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, X, CODE, 0, 64);
    }
    check(&log, false,
          "T0|alloc(0xff#1=0x1000+64)\nT0|ar(0xff#1+8=0)\nT0|acq(0xff#1+8)\n"
          "T0|ar(0xff#1+8=0)\nT0|rel(0xff#1+8)\nT0|w(0xff#1=0)\nT1|r(0xff#1=0)\n"
          "T1|free(0xff#1)\nT0|alloc(0xff#2=0x1000000001000+64)\nT0|ar(0xff#2+8=0)\n"
          "T0|acq(0xff#2+8)\nT0|ar(0xff#2+8=0)\nT0|rel(0xff#2+8)\nT0|w(0xff#2=1)\n"
          "T1|r(0xff#2=1)\nT1|free(0xff#2)\n");
}

static void memory(mr_log_build *log, unsigned kind, unsigned role, uint64_t address,
                   unsigned count, uint64_t bytes)
{
    mr_log_object(log, kind, role, address, CODE, count, bytes);
}

/* Who frees a block conflicts with who uses it, even if nobody else does; a thread that frees what
 * it alone has used does not. */
static void test_freed_by_other(void **state)
{
    (void)state;
    mr_log_build log = {0};
    for (uint32_t thread = 0; thread < 2; thread++) {
        mr_log_switch(&log, 0);
        memory(&log, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, X, 0, 64);
        access(&log, 0, MR_LOG_WRITE, X, 4, 1);
        mr_log_switch(&log, thread);
        memory(&log, MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, X, 0, 64);
    }
    check(&log, false, "T0|alloc(0xff#2=0x1000000001000+64)\nT0|w(0xff#2=1)\nT1|free(0xff#2)\n");
}

static void access_at(mr_log_build *log, uint32_t thread, uint64_t code, uint64_t address)
{
    mr_log_switch(log, thread);
    mr_log_access(log, MR_LOG_WRITE, address, 8, code, 1);
}

/* A thread that waits in a loop has one read for each write that it sees. */
static void test_repeats(void **state)
{
    (void)state;
    mr_log_build log = {0};
    for (int i = 0; i < 4; i++) {
        access(&log, 1, MR_LOG_ATOMIC_READ, X, 4, i / 2);
        access(&log, 1, MR_LOG_ATOMIC_READ, X, 4, i / 2);
        if (i == 1)
            access(&log, 0, MR_LOG_ATOMIC_WRITE, X, 4, 1);
        if (i == 2)
            access(&log, 1, MR_LOG_WRITE, X + 8, 4, 1);
    }
    access(&log, 0, MR_LOG_READ, X + 8, 4, 1);
    access(&log, 0, MR_LOG_READ, X + 8, 4, 1);
    check(&log, false,
          "T1|ar.rlx(0x1000=0)\nT0|aw.rlx(0x1000=1)\nT1|ar.rlx(0x1000=1)\nT1|w(0x1008=1)\n"
          "T1|ar.rlx(0x1000=1)\nT0|r(0x1008=1)\n");
}

/* Of a block that another thread frees, the accesses of one place have one event, up to the next
 * event of another kind. A guest's first access is such an event. */
static void test_sparse(void **state)
{
    (void)state;
    mr_log_build log = {0};
    mr_log_switch(&log, 0);
    memory(&log, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, X, 0, 64);
    for (uint64_t i = 0; i < 8; i++) {
        access_at(&log, 0, CODE, X + 8 * i);
        if (i % 4 == 3)
            access_at(&log, 0, CODE + 1, X);
    }
    mr_log_object(&log, MR_LOG_POST, MR_LOG_ROLE_OWN, 0x9000, CODE, 0, 0);
    access_at(&log, 0, CODE, X);
    access_at(&log, 0, CODE, X);
    mr_log_switch(&log, 1);
    memory(&log, MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, X, 0, 64);
    mr_log_switch(&log, 0);
    memory(&log, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, X, 0, 64);
    for (int i = 0; i < 4; i++)
        access_at(&log, 1, CODE, X + 8);
    memory(&log, MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, X, 0, 64);
    check(&log, false,
          "T0|alloc(0xff#1=0x1000+64)\nT0|w(0xff#1=1)\nT0|w(0xff#1=1)\nT0|post(0x9000)\n"
          "T0|w(0xff#1=1)\nT1|free(0xff#1)\nT0|alloc(0xff#2=0x1000000001000+64)\nT1|w(0xff#2+8=1)\n"
          "T1|w(0xff#2+8=1)\nT1|free(0xff#2)\n");
}

/* What is freed is kept for a while: an access then is one of the dead block. Later it is one of
 * memory that nobody is known to have. */
static void test_dead(void **state)
{
    (void)state;
    mr_log_build log = {0};
    mr_log_switch(&log, 0);
    memory(&log, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, X, 0, 64);
    memory(&log, MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, X, MR_LOG_TAKEN_KEPT, 72);
    access(&log, 0, MR_LOG_WRITE, X + 8, 4, 1);
    memory(&log, MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, X, MR_LOG_TAKEN_AGAIN, 72);
    memory(&log, MR_LOG_FORGOTTEN, MR_LOG_MEMORY_HEAP, X, 0, 0);
    access(&log, 0, MR_LOG_WRITE, X + 8, 4, 1);
    mr_trace *trace = mr_log_converted(&log, false, NULL);
    mr_log_expect(trace, "T0|alloc(0xff#1=0x1000+64)\nT0|free(0xff#1)\nT0|w(0xff#1+8=1)\n"
                         "T0|w(0xff#1)\n");
    assert_int_equal(trace->ending.misuse_count, 1);
    assert_int_equal(trace->ending.misuses->kind, MR_MISUSE_DOUBLE_FREE);
    assert_int_equal(trace->ending.misuses->event, 3);
    mr_trace_free(trace);
    mr_log_build_free(&log);
}

/* A mapping that ends in parts: each part is an object, and so is the rest. */
static void test_parts(void **state)
{
    (void)state;
    mr_log_build log = {0};
    mr_log_switch(&log, 0);
    memory(&log, MR_LOG_GIVEN, MR_LOG_MEMORY_MAP, X, 0, 0x3000);
    access(&log, 0, MR_LOG_WRITE, X + 0x1000 - 4, 8, 0x500000004);
    access(&log, 1, MR_LOG_READ, X + 0x2000, 4, 0);
    mr_log_switch(&log, 1);
    memory(&log, MR_LOG_TAKEN, MR_LOG_MEMORY_MAP, X + 0x1000, 0, 0x1000);
    mr_log_switch(&log, 0);
    memory(&log, MR_LOG_TAKEN, MR_LOG_MEMORY_MAP, X, 0, 0x1000);
    check(&log, false,
          "T0|alloc(0xff#1=0x1000+4096)\nT0|alloc(0xff#1+4096=0x2000+4096)\n"
          "T0|alloc(0xff#1#2=0x1000+12288)\nT0|w(0xff#1+4092=4)\nT0|w(0xff#1+4096=5)\n"
          "T1|r(0xff#1+8192=0)\nT1|free(0xff#1+4096)\nT0|free(0xff#1)\n");
}

/* The stack of a thread lives from its begin to its end; that of main for ever. */
static void test_stack_lives(void **state)
{
    (void)state;
    mr_log_build log = {0};
    mr_log_switch(&log, 0);
    memory(&log, MR_LOG_GIVEN, MR_LOG_MEMORY_STACK, 0x8000, 0, 0x1000);
    thread_event(&log, MR_LOG_BEGIN, 0);
    thread_event(&log, MR_LOG_FORK, 1);
    mr_log_switch(&log, 1);
    memory(&log, MR_LOG_GIVEN, MR_LOG_MEMORY_STACK, X, 0, 0x1000);
    thread_event(&log, MR_LOG_BEGIN, 0);
    access(&log, 1, MR_LOG_WRITE, X + 8, 4, 1);
    access(&log, 0, MR_LOG_READ, X + 8, 4, 1);
    access(&log, 1, MR_LOG_WRITE, 0x8000, 4, 1);
    access(&log, 0, MR_LOG_WRITE, 0x8000, 4, 1);
    mr_log_switch(&log, 1);
    thread_event(&log, MR_LOG_END, 0);
    check(&log, false,
          "T0|begin()\nT0|fork(T1)\nT1|begin()\nT1|alloc(T1.stack=0x1000+4096)\n"
          "T1|w(T1.stack-4088=1)\nT0|r(T1.stack-4088=1)\nT1|w(T0.stack-4096=1)\n"
          "T0|w(T0.stack-4096=1)\nT1|free(T1.stack)\nT1|end()\n");
}

static void test_retired(void **state)
{
    (void)state;
    mr_log_build log = {0};
    mr_log_switch(&log, 0);
    mr_log_object(&log, MR_LOG_ACQUIRE, MR_LOG_ROLE_MUTEX, X, CODE, 0, 0);
    mr_log_object(&log, MR_LOG_RELEASE, MR_LOG_ROLE_MUTEX, X, CODE, 0, 0);
    mr_log_object(&log, MR_LOG_RETIRED, MR_LOG_ROLE_MUTEX, X, CODE, MR_LOG_RETIRED_KNOWN, 0);
    mr_log_object(&log, MR_LOG_ACQUIRE, MR_LOG_ROLE_MUTEX, X, CODE, 0, 0);
    check(&log, false, "T0|acq(0x1000)\nT0|rel(0x1000)\nT0|acq(0x1000#2)\n");
}

static void retire(mr_log_build *log, mr_log_role role, mr_log_retired how)
{
    mr_log_object(log, MR_LOG_RETIRED, role, X, CODE, how, 0);
}

static void lock(mr_log_build *log, unsigned kind)
{
    mr_log_object(log, kind, MR_LOG_ROLE_MUTEX, X, CODE, 0, 0);
}

/* A lock is a variable: written where it is initialised and destroyed, read where it is used. */
static void test_uses(void **state)
{
    (void)state;
    mr_log_build log = {0};
    mr_log_switch(&log, 0);
    retire(&log, MR_LOG_ROLE_MUTEX, MR_LOG_RETIRED_INITIALISED);
    mr_log_switch(&log, 1);
    lock(&log, MR_LOG_ACQUIRE);
    lock(&log, MR_LOG_RELEASE);
    mr_log_switch(&log, 0);
    retire(&log, MR_LOG_ROLE_MUTEX, MR_LOG_RETIRED_DESTROYED);
    check(&log, false,
          "T0|w(0x1000=256)\nT1|ar(0x1000=256)\nT1|acq(0x1000)\nT1|ar(0x1000=256)\n"
          "T1|rel(0x1000)\nT0|w(0x1000=257)\n");
}

/* Who returns from a barrier reads it again, and who has woken a thread the condition variable; who was woken does not. */
static void test_uses_of_units(void **state)
{
    (void)state;
    mr_log_build log = {0};
    mr_log_switch(&log, 0);
    retire(&log, MR_LOG_ROLE_BARRIER_IN, MR_LOG_RETIRED_INITIALISED);
    mr_log_switch(&log, 1);
    mr_log_object(&log, MR_LOG_POST, MR_LOG_ROLE_BARRIER_OUT, X, CODE, 1, 3);
    mr_log_object(&log, MR_LOG_POST, MR_LOG_ROLE_WAKE, X, CODE, 1, 4);
    check(&log, false,
          "T0|w(0x1000=256)\nT1|post(0x1000.3.out)\nT1|ar(0x1000=256)\nT1|post(0x1000.wake.4)\nT1|"
          "ar(0x1000=256)\n");
}

/* What main writes before it starts the only other thread, and after that has ended, is ordered
 * with all that the thread does. */
static void test_alone(void **state)
{
    (void)state;
    mr_log_build log = {0};
    access(&log, 0, MR_LOG_WRITE, X, 4, 1);
    thread_event(&log, MR_LOG_FORK, 1);
    access(&log, 1, MR_LOG_READ, X, 4, 1);
    mr_log_switch(&log, 0);
    thread_event(&log, MR_LOG_JOIN, 1);
    access(&log, 0, MR_LOG_WRITE, X, 4, 2);
    check(&log, false, "T0|fork(T1)\nT0|join(T1)\n");
    access(&log, 0, MR_LOG_WRITE, X, 4, 1);
    thread_event(&log, MR_LOG_FORK, 1);
    access(&log, 1, MR_LOG_READ, X, 4, 1);
    access(&log, 0, MR_LOG_WRITE, X, 4, 2);
    check(&log, false, "T0|w(0x1000=1)\nT0|fork(T1)\nT1|r(0x1000=1)\nT0|w(0x1000=2)\n");
}

/* Units that another process gave are given just before they are taken. */
static void test_units(void **state)
{
    (void)state;
    mr_log_build log = {0};
    mr_record_summary summary;
    mr_log_switch(&log, 0);
    mr_log_object(&log, MR_LOG_POST, MR_LOG_ROLE_SEMAPHORE, X, CODE, 2, 0);
    mr_log_object(&log, MR_LOG_WAIT, MR_LOG_ROLE_SEMAPHORE, X, CODE, 3, 0);
    mr_log_object(&log, MR_LOG_POST, MR_LOG_ROLE_WAKE, X, CODE, 1, 4);
    mr_log_object(&log, MR_LOG_WAIT, MR_LOG_ROLE_BARRIER_OUT, X, CODE, 0, 5);
    mr_trace *trace = mr_log_converted(&log, false, &summary);
    mr_log_expect(trace, "T0|post(0x1000)\nT0|post(0x1000)\nT0|wait(0x1000)\nT0|wait(0x1000)\n"
                         "T0|post(0x1000)\nT0|wait(0x1000)\nT0|post(0x1000.wake.4)\n"
                         "T0|post(0x1000.5.out)\nT0|wait(0x1000.5.out)\n");
    assert_int_equal(summary.inferred_posts, 2);
    mr_trace_free(trace);
    mr_log_build_free(&log);
}

/* Tries that fail: the state of the lock is a variable. A failure that says again what the last event of its thread said, and
 * one of a lock that nobody holds in the log, have no event. Of X + 8 no try fails. */
static void test_failed_tries(void **state)
{
    (void)state;
    enum { MUTEX = MR_LOG_ROLE_MUTEX, RWLOCK = MR_LOG_ROLE_RWLOCK, SEM = MR_LOG_ROLE_SEMAPHORE };
    mr_log_build log = {0};
    mr_log_switch(&log, 0);
    mr_log_object(&log, MR_LOG_ACQUIRE, MUTEX, X, CODE, 0, 0);
    mr_log_object(&log, MR_LOG_ACQUIRE, MUTEX, X, CODE, 0, 0);
    mr_log_object(&log, MR_LOG_ACQUIRE, MUTEX, X + 8, CODE, 0, 0);
    mr_log_switch(&log, 1);
    mr_log_object(&log, MR_LOG_USED, MUTEX, X, CODE, MR_LOG_USED_BUSY, 0);
    mr_log_object(&log, MR_LOG_USED, MUTEX, X, CODE, MR_LOG_USED_BUSY, 0);
    mr_log_switch(&log, 0);
    mr_log_object(&log, MR_LOG_RELEASE, MUTEX, X, CODE, 0, 0);
    mr_log_object(&log, MR_LOG_RELEASE, MUTEX, X, CODE, 0, 0);
    mr_log_object(&log, MR_LOG_SHARED_ACQUIRE, RWLOCK, X + 16, CODE, 0, 0);
    mr_log_switch(&log, 1);
    mr_log_object(&log, MR_LOG_USED, MUTEX, X, CODE, MR_LOG_USED_BUSY, 0);
    mr_log_object(&log, MR_LOG_USED, RWLOCK, X + 16, CODE, MR_LOG_USED_BUSY, 0);
    mr_log_object(&log, MR_LOG_USED, RWLOCK, X + 16, CODE, MR_LOG_USED_BUSY_SHARED, 0);
    mr_log_object(&log, MR_LOG_USED, SEM, X + 24, CODE, MR_LOG_USED_BUSY, 0);
    mr_log_object(&log, MR_LOG_POST, SEM, X + 24, CODE, 1, 0);
    mr_log_object(&log, MR_LOG_USED, SEM, X + 24, CODE, MR_LOG_USED_BUSY, 0);
    mr_log_object(&log, MR_LOG_WAIT, SEM, X + 24, CODE, 1, 0);
    check(&log, false,
          "T0|acq(0x1000)\nT0|aw.rlx(0x1000.held=1)\nT0|acq(0x1000)\nT0|acq(0x1008)\n"
          "T1|ar.rlx(0x1000.held=1)\nT0|rel(0x1000)\nT0|aw.rlx(0x1000.held=0)\n"
          "T0|rel(0x1000)\nT0|racq(0x1010)\nT0|au.rlx(0x1010.held=0>2)\n"
          "T1|ar.rlx(0x1010.held=2)\nT1|ar.rlx(0x1018.units=0)\nT1|au.rel(0x1018.units=0>1)\n"
          "T1|post(0x1018)\nT1|wait(0x1018)\nT1|au.rlx(0x1018.units=1>0)\n");
}

/* A barrier is destroyed while a thread leaves it, a condition variable while who was woken does. */
static void test_units_outlive(void **state)
{
    (void)state;
    mr_log_build log = {0};
    mr_log_switch(&log, 0);
    mr_log_object(&log, MR_LOG_POST, MR_LOG_ROLE_BARRIER_OUT, X, CODE, 1, 3);
    mr_log_object(&log, MR_LOG_POST, MR_LOG_ROLE_WAKE, X, CODE, 1, 4);
    retire(&log, MR_LOG_ROLE_BARRIER_IN, MR_LOG_RETIRED_KNOWN);
    mr_log_switch(&log, 1);
    mr_log_object(&log, MR_LOG_WAIT, MR_LOG_ROLE_WAKE, X, CODE, 1, 4);
    mr_log_object(&log, MR_LOG_WAIT, MR_LOG_ROLE_BARRIER_OUT, X, CODE, 1, 3);
    check(&log, false,
          "T0|post(0x1000.3.out)\nT0|post(0x1000.wake.4)\n"
          "T1|wait(0x1000.wake.4)\nT1|wait(0x1000.3.out)\n");
}

/* Who is cancelled acts on it after the first pthread_cancel, whoever else cancels it, too. It passed
 * its cancellation points before. Nobody cancels T0. */
static void test_cancelled(void **state)
{
    (void)state;
    mr_log_build log = {0};
    mr_log_switch(&log, 2);
    mr_log_object(&log, MR_LOG_AFTER, MR_LOG_ROLE_CANCEL, 2, CODE, MR_LOG_NOT_CANCELLED, 0);
    mr_log_switch(&log, 0);
    mr_log_object(&log, MR_LOG_AFTER, MR_LOG_ROLE_CANCEL, 0, CODE, MR_LOG_NOT_CANCELLED, 0);
    mr_log_object(&log, MR_LOG_BEFORE, MR_LOG_ROLE_CANCEL, 2, CODE, 0, 0);
    mr_log_switch(&log, 1);
    mr_log_object(&log, MR_LOG_BEFORE, MR_LOG_ROLE_CANCEL, 2, CODE, 0, 0);
    mr_log_switch(&log, 2);
    mr_log_object(&log, MR_LOG_AFTER, MR_LOG_ROLE_CANCEL, 2, CODE, 0, 0);
    check(&log, false,
          "T2|ar(T2.cancel=0)\nT0|aw(T2.cancel=1)\nT1|aw(T2.cancel=1)\nT2|ar(T2.cancel=1)\n");
}

static void test_annotated_order(void **state)
{
    (void)state;
    mr_log_build log = {0};
    mr_log_switch(&log, 0);
    mr_log_object(&log, MR_LOG_AFTER, 0, X, CODE, 0, 0);
    mr_log_object(&log, MR_LOG_BEFORE, 0, X, CODE, 0, 0);
    mr_log_object(&log, MR_LOG_BEFORE, 0, X, CODE, 0, 0);
    mr_log_switch(&log, 1);
    mr_log_object(&log, MR_LOG_AFTER, 0, X, CODE, 0, 0);
    check(&log, false, "T0|au(0x1000.order=0>1)\nT0|au(0x1000.order=1>2)\nT1|ar(0x1000.order=2)\n");
}

/* A call reaches what lies in its memory, used before or after; what it may write has no values. */
static void test_calls(void **state)
{
    (void)state;
    mr_log_build log = {0};
    access(&log, 0, MR_LOG_WRITE, X, 4, 1);
    mr_log_switch(&log, 1);
    mr_log_object(&log, MR_LOG_CALL_BEGIN, 0, 0, CODE, 2, 7);
    mr_log_object(&log, MR_LOG_CALL_REACH, 0, X, CODE, 0, 8);
    mr_log_object(&log, MR_LOG_CALL_REACH, 0, X + 64, CODE, 0, 64);
    mr_log_object(&log, MR_LOG_CALL_END, 0, 0, CODE, 0, 7);
    access(&log, 0, MR_LOG_READ, X + 4, 4, 9);
    access(&log, 0, MR_LOG_READ, X + 8, 4, 9);
    mr_log_object(&log, MR_LOG_ACQUIRE, MR_LOG_ROLE_MUTEX, X + 70, CODE, 0, 0);
    check(&log, false,
          "T0|w(0x1000)\nT1|mbegin(call.7:0x1000,0x1004,0x1040,0x1046,0x1047,0x1046)\nT1|mend(call."
          "7)\n"
          "T0|r(0x1004)\nT0|ar(0x1046)\nT0|acq(0x1046)\n");
    mr_log_switch(&log, 1);
    mr_log_object(&log, MR_LOG_CALL_BEGIN, 0, 0, CODE, 0, 7);
    access(&log, 0, MR_LOG_READ, X, 4, 9);
    check(&log, false, "T1|mbegin(call.7:*)\nT0|r(0x1000)\n");
}

/* A read that sees what nobody wrote is counted; what breaks a rule of traces is left out. */
static void test_strange(void **state)
{
    (void)state;
    mr_log_build log = {0};
    mr_record_summary summary;
    access(&log, 0, MR_LOG_WRITE, X, 4, 1);
    access(&log, 1, MR_LOG_READ, X, 4, 2);
    access(&log, 1, MR_LOG_READ, X, 4, 2);
    access(&log, 0, MR_LOG_WRITE, X + 64, 4, 1);
    access(&log, 0, MR_LOG_READ, X + 64, 4, 2);
    mr_log_object(&log, MR_LOG_RELEASE, MR_LOG_ROLE_MUTEX, X + 8, CODE, 0, 0);
    mr_trace *trace = mr_log_converted(&log, false, &summary);
    mr_log_expect(trace, "T0|w(0x1000=1)\nT1|r(0x1000=2)\n");
    assert_int_equal(summary.strange_reads, 1);
    assert_string_equal(summary.strange_variable, "0x1000");
    assert_int_equal(summary.dropped, 1);
    mr_trace_free(trace);
    mr_log_build_free(&log);
}

/* A write whose value did not come to pass has none. */
static void test_no_value(void **state)
{
    (void)state;
    mr_log_build log = {0};
    access(&log, 0, MR_LOG_WRITE, X, 4, 1);
    log.words[log.count - 2] |= MR_LOG_NO_VALUE << 8;
    access(&log, 1, MR_LOG_READ, X, 4, 2);
    check(&log, false, "T0|w(0x1000)\nT1|r(0x1000=2)\n");
}

/* Stacks: calls are return addresses; those of one thread do not concern another. */
static void test_stacks(void **state)
{
    (void)state;
    mr_log_build log = {0};
    mr_log_switch(&log, 0);
    mr_log_enter(&log, 0x200, 0x300, 0x9000, 0);
    mr_log_switch(&log, 1);
    mr_log_access(&log, MR_LOG_WRITE, X, 4, 0x300, 1);
    mr_log_switch(&log, 0);
    mr_log_enter(&log, 0x201, 0x300, 0x8000, 0);
    mr_log_enter(&log, 0x400, 0x300, 0x7000, 0);
    mr_log_put(&log, mr_log_head(MR_LOG_LEAVE, 0, 1));
    mr_log_access(&log, MR_LOG_WRITE, X, 4, 0x301, 2);
    mr_log_put(&log, mr_log_head(MR_LOG_LEAVE, 0, 9));
    mr_log_access(&log, MR_LOG_WRITE, X, 4, 0x301, 2);
    mr_trace *trace = mr_log_converted(&log, false, NULL);
    assert_int_equal(trace->event_count, 3);
    assert_non_null(trace->stack);
    const mr_stack *inner = &trace->stacks[trace->stack[1]];
    assert_string_equal(trace->frames.items[inner->frame].text, "\t0x300");
    inner = &trace->stacks[inner->caller];
    assert_string_equal(trace->frames.items[inner->frame].text, "\t0x200");
    inner = &trace->stacks[inner->caller];
    assert_string_equal(trace->frames.items[inner->frame].text, "\t0x1ff");
    assert_int_equal(inner->caller, 0);
    assert_int_equal(trace->stacks[trace->stack[0]].caller, 0);
    assert_int_equal(trace->stacks[trace->stack[2]].caller, 0);
    assert_string_equal(trace->locations.items[trace->location[1]].text, "0x300");
    mr_trace_free(trace);
    mr_log_build_free(&log);
}

/* A lock with the role of an order, an order with that of a lock, and one of no role. */
static void test_wrong_roles(void **state)
{
    (void)state;
    static const struct {
        unsigned kind, role;
        uint64_t number;
    } rows[] = {
        {MR_LOG_ACQUIRE, MR_LOG_ROLE_SIGNAL, 0}, {MR_LOG_BEFORE, MR_LOG_ROLE_MUTEX, 0},
        {MR_LOG_WAIT, MR_LOG_ROLE_UNITS + 1, 0}, {MR_LOG_ACQUIRE, MR_LOG_ROLE_WRONG, 0},
        {MR_LOG_USED, MR_LOG_ROLE_WRONG, 1},     {MR_LOG_RELEASE, MR_LOG_ROLE_MUTEX, 1ull << 56},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mr_log_build log = {0};
        mr_record_summary summary;
        access(&log, 0, MR_LOG_WRITE, X, 4, 1);
        access(&log, 1, MR_LOG_WRITE, X, 4, 2);
        mr_log_object(&log, rows[i].kind, rows[i].role, X + 64, CODE, 0, rows[i].number);
        mr_trace *trace = mr_log_converted(&log, false, &summary);
        mr_log_expect(trace, "T0|w(0x1000=1)\nT1|w(0x1000=2)\n");
        assert_true(summary.damaged);
        mr_trace_free(trace);
        mr_log_build_free(&log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_keep_local),     cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_ranges),         cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_many_units),     cmocka_unit_test(test_units_without_end),
        cmocka_unit_test(test_split_atomics),  cmocka_unit_test(test_lives),
        cmocka_unit_test(test_retired),        cmocka_unit_test(test_units),
        cmocka_unit_test(test_failed_tries),   cmocka_unit_test(test_units_outlive),
        cmocka_unit_test(test_cancelled),      cmocka_unit_test(test_annotated_order),
        cmocka_unit_test(test_calls),          cmocka_unit_test(test_strange),
        cmocka_unit_test(test_no_value),       cmocka_unit_test(test_stacks),
        cmocka_unit_test(test_wrong_roles),    cmocka_unit_test(test_uses),
        cmocka_unit_test(test_uses_of_units),  cmocka_unit_test(test_alone),
        cmocka_unit_test(test_freed_by_other), cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_repeats),        cmocka_unit_test(test_dead),
        cmocka_unit_test(test_parts),          cmocka_unit_test(test_stack_lives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
