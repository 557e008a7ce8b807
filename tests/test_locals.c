/* What variables on stacks are called. The functions are those of this very program, which is built
 * with -g; where their frames lie, and who uses them, is made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/log_build.h"
#include "support/own_module.h"

#include <string.h>

/* A stack of 64 KiB for each thread. */
enum { STACKS = 0x100000, STACK_BYTES = 0x10000, PLACE = 0x8000, CALLER = 0x100, CODE = 0x200 };

/* A function with a variable of 16 bytes: how its frame and that lie to its stack pointer. */
typedef struct home {
    uint64_t code, variable, frame;
} home;

static __attribute__((noinline)) home home_of(const void *variable)
{
    const uintptr_t *below = __builtin_frame_address(0);
    uintptr_t stack = (uintptr_t)__builtin_dwarf_cfa();
    home self = {(uint64_t)(uintptr_t)__builtin_return_address(0),
                 (uint64_t)((uintptr_t)variable - stack), below[0] - stack};
    __asm__ volatile("" : : "r"(variable) : "memory");
    return self;
}

/* No redzones, which would lie around its variable. */
#define PLAIN __attribute__((noinline, no_sanitize("address")))

static PLAIN void load(home *self)
{
    _Alignas(16) int to[4] = {0};
    *self = home_of(to);
}

static PLAIN void save(home *self)
{
    _Alignas(16) int from[8] = {0}; /* or it would be merged with load */
    *self = home_of(from);
}

static void put_module(mr_log_build *log)
{
    enum { PATH_WORDS = 2 };
    static const char path[PATH_WORDS * sizeof(uint64_t)] = "/proc/self/exe";
    mr_own_module self = mr_own_module_find();
    mr_log_module module = {.bias = self.bias, .start = self.start, .end = self.end};
    uint64_t words[sizeof module / sizeof(uint64_t) + PATH_WORDS];
    module.head = mr_log_head(MR_LOG_MODULE, 0, sizeof words / sizeof *words);
    memcpy(words, &module, sizeof module);
    memcpy((char *)words + sizeof module, path, sizeof path);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        mr_log_put(log, words[i]);
}

static uint64_t stack_of(uint32_t thread)
{
    return STACKS + (uint64_t)thread * STACK_BYTES;
}

/* A log in which the threads have their stacks. */
static mr_log_build begin(uint32_t threads)
{
    mr_log_build log = {0};
    put_module(&log);
    for (uint32_t i = 0; i < threads; i++) {
        mr_log_switch(&log, i);
        mr_log_object(&log, MR_LOG_GIVEN, MR_LOG_MEMORY_STACK, stack_of(i), CODE, 0, STACK_BYTES);
    }
    return log;
}

/* The thread enters the function, whose variable then lies at the place of its stack. */
static void enter(mr_log_build *log, uint32_t thread, const home *self, uint64_t place)
{
    uint64_t stack = stack_of(thread) + place - self->variable;
    mr_log_switch(log, thread);
    mr_log_enter(log, CALLER, self->code, stack, stack + self->frame);
}

static void leave(mr_log_build *log, uint32_t thread)
{
    mr_log_switch(log, thread);
    mr_log_put(log, mr_log_head(MR_LOG_LEAVE, 0, 1));
}

/* The thread adds to the third element at a place of the stack of another, or of its own. */
static void add(mr_log_build *log, uint32_t thread, uint32_t owner, uint64_t place)
{
    mr_log_switch(log, thread);
    mr_log_access(log, MR_LOG_WRITE, stack_of(owner) + place + 8, 4, CODE, 1);
}

/* Thread 0 uses its own stack, and thread 1 the same. */
static void share(mr_log_build *log, uint64_t place)
{
    add(log, 0, 0, place);
    add(log, 1, 0, place);
}

/* The texts of the variables, in order, each followed by a blank; "-": none. */
static void check(mr_log_build *log, const char *expected)
{
    char texts[512] = "";
    mr_trace *trace = mr_log_converted(log, false, NULL);
    for (uint32_t i = 0; i < trace->variables.count; i++) {
        const char *text = trace->variables.items[i].display;
        size_t used = strlen(texts);
        snprintf(texts + used, sizeof texts - used, "%s ", text ? text : "-");
    }
    assert_string_equal(texts, expected);
    mr_trace_free(trace);
    mr_log_build_free(log);
}

static void test_one(void **state)
{
    (void)state;
    home it;
    load(&it);
    mr_log_build log = begin(2);
    enter(&log, 0, &it, PLACE);
    share(&log, PLACE);
    mr_trace *trace = mr_log_converted(&log, false, NULL);
    assert_string_equal(trace->variables.items[0].text, "T0.stack-32760");
    mr_trace_free(trace);
    check(&log, "load.to[2] ");
}

/* Calls in each other have their own; so do threads, whose number then comes first. */
static void test_several(void **state)
{
    (void)state;
    home it;
    load(&it);
    mr_log_build log = begin(3);
    for (uint64_t place = PLACE; place > PLACE - 0x3000; place -= 0x1000) {
        enter(&log, 0, &it, place);
        share(&log, place);
    }
    check(&log, "load.to[2] load.to[2]#2 load.to[2]#3 ");
    log = begin(3);
    for (uint32_t thread = 0; thread < 2; thread++) {
        enter(&log, thread, &it, PLACE);
        add(&log, thread, thread, PLACE);
        add(&log, 2, thread, PLACE);
    }
    check(&log, "T0.load.to[2] T1.load.to[2] ");
}

/* A call after the other at the same place: one variable of the trace. */
static void test_again(void **state)
{
    (void)state;
    home one, other;
    load(&one);
    save(&other);
    mr_log_build log = begin(2);
    for (int i = 0; i < 3; i++) {
        enter(&log, 0, i == 1 ? &other : &one, PLACE);
        share(&log, PLACE);
        leave(&log, 0);
    }
    check(&log, "load.to[2]/save.from[2] ");
}

/* What only the thread itself has had there does not matter, known or not. */
static void test_private(void **state)
{
    (void)state;
    home one, other;
    load(&one);
    save(&other);
    mr_log_build log = begin(2);
    add(&log, 0, 0, PLACE);
    enter(&log, 0, &other, PLACE);
    add(&log, 0, 0, PLACE);
    leave(&log, 0);
    enter(&log, 0, &one, PLACE);
    share(&log, PLACE);
    leave(&log, 0);
    add(&log, 0, 0, PLACE);
    check(&log, "load.to[2] ");
}

/* What another thread uses in no known frame, or beside all variables, has no name. */
static void test_unknown(void **state)
{
    (void)state;
    home it;
    load(&it);
    mr_log_build log = begin(2);
    enter(&log, 0, &it, PLACE);
    share(&log, PLACE);
    leave(&log, 0);
    add(&log, 1, 0, PLACE);
    check(&log, "- ");
    log = begin(2);
    enter(&log, 0, &it, PLACE);
    share(&log, PLACE + 0x4000);
    share(&log, PLACE - 0x4000);
    check(&log, "- - ");
}

/* Locks on stacks; the text goes on as the name does. */
static void test_locks(void **state)
{
    (void)state;
    home it;
    load(&it);
    mr_log_build log = begin(2);
    enter(&log, 0, &it, PLACE);
    for (int i = 0; i < 2; i++) {
        mr_log_object(&log, MR_LOG_ACQUIRE, MR_LOG_ROLE_SPIN, stack_of(0) + PLACE + 4, CODE, 0, 0);
        mr_log_object(&log, MR_LOG_RELEASE, MR_LOG_ROLE_SPIN, stack_of(0) + PLACE + 4, CODE, 0, 0);
        mr_log_object(&log, MR_LOG_RETIRED, MR_LOG_ROLE_MUTEX, stack_of(0) + PLACE + 4, CODE, 0, 0);
    }
    mr_trace *trace = mr_log_converted(&log, false, NULL);
    assert_int_equal(trace->locks.count, 2);
    assert_string_equal(mr_names_display(&trace->locks, 0), "load.to[1]");
    assert_string_equal(mr_names_display(&trace->locks, 1), "load.to[1]#2");
    mr_trace_free(trace);
    mr_log_build_free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),     cmocka_unit_test(test_several),
        cmocka_unit_test(test_again),   cmocka_unit_test(test_private),
        cmocka_unit_test(test_unknown), cmocka_unit_test(test_locks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
