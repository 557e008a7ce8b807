/*
 * The reader on random input (fixed seeds): against a naive model of the rules, on mutated text,
 * and on a folder of real traces when MAXRACE_TRACES names one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/read.h"
#include "support/random.h"
#include "support/trace_reading.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- The naive model: each rule looks through the whole list of accepted events. --- */

enum { SOUPS = 1000, SOUP_EVENTS = 80, SOUP_THREADS = 4 };

typedef struct soup_event {
    mr_op op;
    int thread, operand;
} soup_event;

typedef struct soup_list {
    soup_event events[SOUP_EVENTS];
    int count;
    bool members; /* the variable x… belongs to the object o… */
} soup_list;

static int count_of(const soup_list *soup, mr_op op, int thread, int operand)
{
    int count = 0;
    for (int i = 0; i < soup->count; i++) {
        const soup_event *event = &soup->events[i];
        count += event->op == op && (thread < 0 || event->thread == thread) &&
                 (operand < 0 || event->operand == operand);
    }
    return count;
}

static int held(const soup_list *soup, int thread, int lock)
{
    return count_of(soup, MR_OP_ACQUIRE, thread, lock) -
           count_of(soup, MR_OP_RELEASE, thread, lock);
}

static int held_shared(const soup_list *soup, int thread, int lock)
{
    return count_of(soup, MR_OP_SHARED_ACQUIRE, thread, lock) -
           count_of(soup, MR_OP_SHARED_RELEASE, thread, lock);
}

static int events_of(const soup_list *soup, int thread)
{
    int count = 0;
    for (int i = 0; i < soup->count; i++)
        count += soup->events[i].thread == thread;
    return count;
}

static bool nobody_else_holds(const soup_list *soup, const soup_event *event, bool shared_too)
{
    for (int other = 0; other < SOUP_THREADS; other++) {
        if (other != event->thread && (held(soup, other, event->operand) ||
                                       (shared_too && held_shared(soup, other, event->operand))))
            return false;
    }
    return true;
}

/* Is the innermost open call of the thread the operand? */
static bool closes_innermost(const soup_list *soup, const soup_event *event)
{
    int closed = 0;
    for (int i = soup->count - 1; i >= 0; i--) {
        const soup_event *before = &soup->events[i];
        if (before->thread != event->thread)
            continue;
        if (before->op == MR_OP_CALL_END)
            closed++;
        else if (before->op == MR_OP_CALL_BEGIN && closed-- == 0)
            return before->operand == event->operand;
    }
    return false;
}

static int accesses_of(const soup_list *soup, int variable)
{
    int count = 0;
    for (int op = 0; op < MR_OP_COUNT; op++)
        if (mr_op_is_access((uint8_t)op))
            count += count_of(soup, (mr_op)op, -1, variable);
    return count;
}

static bool allowed(const soup_list *soup, const soup_event *event)
{
    int t = event->thread, x = event->operand;
    if (count_of(soup, MR_OP_END, t, -1) || count_of(soup, MR_OP_JOIN, -1, t))
        return false;
    switch ((mr_op)event->op) {
    case MR_OP_BEGIN:
        return !events_of(soup, t);
    case MR_OP_ACQUIRE:
        return nobody_else_holds(soup, event, true);
    case MR_OP_SHARED_ACQUIRE:
        return nobody_else_holds(soup, event, false);
    case MR_OP_RELEASE:
        return held(soup, t, x) > 0;
    case MR_OP_SHARED_RELEASE:
        return held_shared(soup, t, x) > 0;
    case MR_OP_FORK:
        return x != t && !events_of(soup, x) && !count_of(soup, MR_OP_FORK, -1, x);
    case MR_OP_JOIN:
        return x != t;
    case MR_OP_WAIT:
        return count_of(soup, MR_OP_POST, -1, x) > count_of(soup, MR_OP_WAIT, -1, x);
    case MR_OP_CALL_END:
        return closes_innermost(soup, event);
    case MR_OP_ALLOC:
        return !count_of(soup, MR_OP_ALLOC, -1, x) && !count_of(soup, MR_OP_FREE, -1, x) &&
               (!soup->members || !accesses_of(soup, x));
    case MR_OP_FREE:
        return !count_of(soup, MR_OP_FREE, -1, x);
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
    case MR_OP_END:
    case MR_OP_POST:
    case MR_OP_CALL_BEGIN:
    case MR_OP_BRANCH:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break;
    }
    return true;
}

static void print_soup_event(const soup_event *event, char *text)
{
    int length = sprintf(text, "%c|%s%s(", 'A' + event->thread, mr_op_name(event->op),
                         event->op == MR_OP_FENCE ? ".rel" : "");
    switch (mr_op_operand_kind(event->op)) {
    case MR_OPERAND_VARIABLE:
        sprintf(text + length, "x%d)|1", event->operand);
        break;
    case MR_OPERAND_LOCK:
        sprintf(text + length, "l%d)|1", event->operand);
        break;
    case MR_OPERAND_THREAD:
        sprintf(text + length, "%c)|1", 'A' + event->operand);
        break;
    case MR_OPERAND_CALL:
        sprintf(text + length, "m%d%s)|1", event->operand,
                event->op == MR_OP_CALL_BEGIN ? ":" : "");
        break;
    case MR_OPERAND_OBJECT:
        sprintf(text + length, "o%d)|1", event->operand);
        break;
    case MR_OPERAND_NONE:
        strcpy(text + length, ")|1");
        break;
    }
}

static soup_event random_event(mr_random *random)
{
    soup_event event = {.op = (mr_op)mr_random_below(random, MR_OP_COUNT)};
    /* Few ends and joins, or nothing is left to happen. */
    if ((event.op == MR_OP_END || event.op == MR_OP_JOIN) && mr_random_below(random, 12))
        event.op = (mr_op)(MR_OP_ACQUIRE + mr_random_below(random, 4));
    event.thread = (int)mr_random_below(random, SOUP_THREADS);
    event.operand = (int)mr_random_below(
        random, mr_op_operand_kind(event.op) == MR_OPERAND_THREAD ? SOUP_THREADS : 2);
    if (mr_op_operand_kind(event.op) == MR_OPERAND_NONE)
        event.operand = 0;
    return event;
}

/* The n-th event (from 0) with this operation and operand; MR_NONE: there is none. */
static uint32_t nth_of(const soup_list *soup, mr_op op, int operand, int n)
{
    for (int i = 0; i < soup->count; i++)
        if (soup->events[i].op == op && soup->events[i].operand == operand && !n--)
            return (uint32_t)i;
    return MR_NONE;
}

/* The other end of the call that begins or ends at `event`. */
static uint32_t other_end(const soup_list *soup, int event)
{
    int step = soup->events[event].op == MR_OP_CALL_BEGIN ? 1 : -1, depth = 0;
    for (int i = event; i >= 0 && i < soup->count; i += step) {
        if (soup->events[i].thread != soup->events[event].thread)
            continue;
        depth += soup->events[i].op == MR_OP_CALL_BEGIN;
        depth -= soup->events[i].op == MR_OP_CALL_END;
        if (!depth)
            return (uint32_t)i;
    }
    return MR_NONE;
}

/* Of an acquire or release of a lock that is held as `holds` says. */
static uint32_t naive_lock_link(const soup_list *soup, int event, bool acquires,
                                int (*holds)(const soup_list *, int, int))
{
    const soup_event *e = &soup->events[event];
    soup_list before = *soup;
    before.count = event;
    if (holds(&before, e->thread, e->operand) > (acquires ? 0 : 1))
        return MR_NESTED;
    if (acquires) {
        for (before.count = event + 2; before.count <= soup->count; before.count++)
            if (!holds(&before, e->thread, e->operand))
                return (uint32_t)before.count - 1;
        return MR_NONE;
    }
    while (holds(&before, e->thread, e->operand))
        before.count--;
    return (uint32_t)before.count;
}

/* `link` as its definition in trace.h says, by looking through the trace. */
static uint32_t naive_link(const soup_list *soup, int event)
{
    const soup_event *e = &soup->events[event];
    soup_list before = *soup;
    before.count = event;
    switch ((mr_op)e->op) {
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_UPDATE:
        for (int i = event - 1; i >= 0; i--) {
            mr_op op = soup->events[i].op;
            if (soup->events[i].operand == e->operand &&
                (op == MR_OP_WRITE || op == MR_OP_ATOMIC_WRITE || op == MR_OP_ATOMIC_UPDATE))
                return (uint32_t)i;
        }
        return MR_NONE;
    case MR_OP_ACQUIRE:
    case MR_OP_RELEASE:
        return naive_lock_link(soup, event, e->op == MR_OP_ACQUIRE, held);
    case MR_OP_SHARED_ACQUIRE:
    case MR_OP_SHARED_RELEASE:
        return naive_lock_link(soup, event, e->op == MR_OP_SHARED_ACQUIRE, held_shared);
    case MR_OP_POST:
        return nth_of(soup, MR_OP_WAIT, e->operand, count_of(&before, MR_OP_POST, -1, e->operand));
    case MR_OP_WAIT:
        return nth_of(soup, MR_OP_POST, e->operand, count_of(&before, MR_OP_WAIT, -1, e->operand));
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
        return other_end(soup, event);
    case MR_OP_ALLOC:
        return nth_of(soup, MR_OP_FREE, e->operand, 0);
    case MR_OP_FREE:
        return nth_of(soup, MR_OP_ALLOC, e->operand, 0);
    case MR_OP_FORK:
    case MR_OP_JOIN:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_BRANCH:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break;
    }
    return MR_NONE;
}

static void check_soup(const mr_trace *trace, const soup_list *kept)
{
    char expected[64], printed[MR_TEST_LINE_SIZE];
    assert_int_equal(trace->event_count, kept->count);
    for (int i = 0; i < kept->count; i++) {
        print_soup_event(&kept->events[i], expected);
        assert_string_equal(mr_test_event(trace, (uint32_t)i, printed), expected);
        assert_int_equal(trace->link[i], naive_link(kept, i));
    }
}

static void test_against_naive_model(void **state)
{
    (void)state;
    mr_random random = {1};
    uint64_t kept_events = 0;
    for (int round = 0; round < SOUPS; round++) {
        static const char member_lines[] = "#@in x0 o0\n#@in x1 o1\n";
        soup_list kept = {.members = round % 2};
        char text[SOUP_EVENTS * 32] = "", line[64], kept_text[SOUP_EVENTS * 32] = "";
        int first_bad = 0;
        if (kept.members)
            strcpy(kept_text, strcpy(text, member_lines));
        for (int i = 0; i < SOUP_EVENTS; i++) {
            soup_event event = random_event(&random);
            bool good = allowed(&kept, &event);
            print_soup_event(&event, line);
            strcat(strcat(text, line), "\n");
            if (good) {
                kept.events[kept.count++] = event;
                strcat(strcat(kept_text, line), "\n");
            } else if (!first_bad) {
                first_bad = i + 1 + (kept.members ? 2 : 0);
            }
        }
        mr_trace *trace = mr_test_read(text, true);
        check_soup(trace, &kept);
        assert_int_equal(trace->dropped_count, SOUP_EVENTS - kept.count);
        assert_int_equal(trace->first_dropped.line, first_bad);
        mr_trace_free(trace);
        trace = mr_test_read(kept_text, false); /* what repair leaves is valid */
        check_soup(trace, &kept);
        mr_trace_free(trace);
        kept_events += (uint64_t)kept.count;
    }
    assert_true(kept_events > SOUPS * SOUP_EVENTS / 4); /* or the test says little */
}

/* --- Mutated text --- */

static char *whole_text(const mr_trace *trace)
{
    size_t size = 16;
    char line[MR_TEST_LINE_SIZE];
    for (uint32_t event = 0; event < trace->event_count; event++)
        size += strlen(mr_test_event(trace, event, line)) + 1;
    char *text = malloc(size), *at = text + 2;
    assert_non_null(text);
    strcpy(text, "#\n"); /* what looks like a byte order mark must not come first */
    for (uint32_t event = 0; event < trace->event_count; event++)
        at += sprintf(at, "%s\n", mr_test_event(trace, event, line));
    return text;
}

static const char seed_text[] = "#@var x a.b\n#@loc 1 a.c:1\n"
                                "A|begin()|1\nA|fork(B)|2\nA|w(x=1)|3\nA|acq(l)|4\nA|acq(l)|5\n"
                                "B|begin()|1\nB|r(x=1)|6\nB|ar(y=-3)|7\nA|rel(l)|8\nA|rel(l)|9\n"
                                "B|racq(l)|10\nA|racq(l)|10\nB|rrel(l)|11\nA|post(s)|1\n\n"
                                "B|wait(s)|2\nB|au(x=1>2)|3\r\nA|mbegin(m:x,l,B)|4\nA|mend(m)|5\n"
                                "# comment\nB|branch()|6\nB|end()|7\nA|join(B)|8\nA|r(x=2)|9\n"
                                "A|end()|10\n#@in z o\nC|alloc(o=0x50+8)|1\nC|w(z=1)|2\n"
                                "C|aw.rel(y=1)|3\nC|fence.acq()|4\nC|deref(z)|5\nC|free(o)|6\n";

static void mutate(mr_random *random, char *text, size_t *length)
{
    static const char alphabet[] = "|()=>:,#@\n\r-09AxBl \x01\xFF";
    uint32_t changes = 1 + mr_random_below(random, 6);
    for (uint32_t i = 0; i < changes; i++) {
        size_t at = mr_random_below(random, (uint32_t)*length);
        size_t count = 1 + mr_random_below(random, 12);
        if (count > *length - at)
            count = *length - at;
        switch (mr_random_below(random, 4)) {
        case 0:
            text[at] = alphabet[mr_random_below(random, sizeof alphabet)]; /* also NUL */
            break;
        case 1:
            text[at] = (char)mr_random_below(random, 256);
            break;
        case 2: /* move a piece to another place */
            memmove(text + mr_random_below(random, (uint32_t)(*length - count + 1)), text + at,
                    count);
            break;
        default:
            memmove(text + at, text + at + count, *length - at - count);
            *length = *length > 40 ? *length - count : *length;
            break;
        }
    }
}

enum { MUTATIONS = 5000 };

static void test_mutations(void **state)
{
    (void)state;
    mr_random random = {2};
    char text[sizeof seed_text];
    mr_read_options options = {.repair = true};
    int refused = 0;
    for (int round = 0; round < MUTATIONS; round++) {
        size_t length = sizeof seed_text - 1;
        memcpy(text, seed_text, sizeof seed_text);
        mutate(&random, text, &length);
        mr_trace *strict, *repaired;
        mr_error error;
        mr_status status = mr_trace_read_text("t", text, length, NULL, &strict, &error);
        assert_true(status == MR_OK || (status == MR_ERR_TRACE && error.line > 0));
        assert_int_equal(mr_trace_read_text("t", text, length, &options, &repaired, NULL), MR_OK);
        assert_int_equal(repaired->dropped_count == 0, status == MR_OK);
        char *printed = whole_text(repaired);
        mr_trace *again = mr_test_read(printed, false); /* what repair leaves is valid */
        assert_int_equal(again->event_count, repaired->event_count);
        assert_memory_equal(again->op, repaired->op, again->event_count);
        assert_memory_equal(again->link, repaired->link, 4 * (size_t)again->event_count);
        refused += status != MR_OK;
        mr_trace_free(strict);
        mr_trace_free(repaired);
        mr_trace_free(again);
        free(printed);
    }
    assert_true(refused > MUTATIONS / 2 && refused < MUTATIONS);
}

static void test_random_bytes(void **state)
{
    (void)state;
    mr_random random = {3};
    char bytes[600];
    for (int round = 0; round < 1000; round++) {
        size_t length = mr_random_below(&random, sizeof bytes);
        for (size_t i = 0; i < length; i++)
            bytes[i] = (char)mr_random_below(&random, 256);
        static const char *const magics[] = {"", "\x1F\x8B\x08", "\x28\xB5\x2F\xFD"};
        const char *magic = magics[round % 3];
        if (length > strlen(magic))
            memcpy(bytes, magic, strlen(magic));
        mr_read_options options = {.repair = round % 2};
        mr_trace *trace;
        mr_error error;
        char *path = mr_test_file(bytes, length);
        if (mr_trace_read(path, &options, &trace, &error))
            assert_int_equal(error.status, MR_ERR_TRACE);
        mr_trace_free(trace);
        unlink(path);
        free(path);
    }
}

/* --- Real traces --- */

static void test_folder_of_traces(void **state)
{
    (void)state;
    const char *folder = getenv("MAXRACE_TRACES");
    if (!folder || !*folder)
        skip();
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    enum { SMALL_BYTES = 100000 };
    for (struct dirent *entry; (entry = readdir(entries));) {
        char path[1024], line[MR_TEST_LINE_SIZE];
        struct stat about;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (!strstr(entry->d_name, "std") || stat(path, &about) || about.st_size > SMALL_BYTES)
            continue;
        mr_trace *trace;
        mr_error error;
        if (mr_trace_read(path, NULL, &trace, &error)) {
            mr_error_line(&error, line, sizeof line);
            fail_msg("%s", line);
        }
        mr_trace_free(trace);
    }
    closedir(entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_naive_model),
        cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_random_bytes),
        cmocka_unit_test(test_folder_of_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
