/* The checker: right witnesses, one wrong witness per rule, and random damage against the
 * definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/definition.h"
#include "support/exhaustive.h"
#include "support/generate.h"
#include "support/sample.h"
#include "witness/checker.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EVENTS = 40, RF = MR_MODEL_RF, VALUE = MR_MODEL_VALUE, BRANCH = MR_MODEL_BRANCH };

static const char locks_and_forks[] = "A|w(x=1)|1\n"   /* 0 */
                                      "A|acq(l)|2\n"   /* 1 */
                                      "A|acq(l)|3\n"   /* 2 */
                                      "A|w(y=1)|4\n"   /* 3 */
                                      "A|rel(l)|5\n"   /* 4 */
                                      "A|rel(l)|6\n"   /* 5 */
                                      "A|fork(B)|7\n"  /* 6 */
                                      "B|begin()|8\n"  /* 7 */
                                      "B|acq(l)|9\n"   /* 8 */
                                      "B|r(y=1)|10\n"  /* 9 */
                                      "B|rel(l)|11\n"  /* 10 */
                                      "B|w(x=2)|12\n"  /* 11 */
                                      "A|w(x=3)|13\n"  /* 12 */
                                      "A|join(B)|14\n" /* 13 */
                                      "A|w(z=1)|15\n"  /* 14 */
                                      "C|acq(l)|16\n"  /* 15 */
                                      "C|w(z=2)|17\n"  /* 16 */
                                      "C|rel(l)|18\n"  /* 17 */
                                      "C|r(z=2)|19\n"  /* 18 */
                                      "C|fork(D)|20\n" /* 19 */
                                      "D|w(z=3)|21\n"; /* 20 */

static const char reads[] = "# skipped\n"
                            "A|r(x=0)|1\n"   /* 0, line 2 */
                            "A|w(x=1)|2\n"   /* 1 */
                            "B|w(x=1)|3\n"   /* 2 */
                            "C|r(x=1)|4\n"   /* 3 */
                            "C|w(v=1)|5\n"   /* 4 */
                            "D|w(v=2)|6\n"   /* 5 */
                            "A|w(x=0)|7\n"   /* 6 */
                            "D|r(x=0)|8\n"   /* 7 */
                            "D|w(u=1)|9\n"   /* 8 */
                            "C|w(u=5)|10\n"  /* 9 */
                            "C|r(u=5)|11\n"  /* 10 */
                            "C|w(p=1)|12\n"  /* 11 */
                            "E|w(p=2)|13\n"; /* 12 */

static const char by_source[] = "A|w(x)|1\n"    /* 0 */
                                "B|w(x=1)|2\n"  /* 1 */
                                "C|r(x=1)|3\n"  /* 2 */
                                "C|w(v=1)|4\n"  /* 3 */
                                "D|w(v=2)|5\n"; /* 4 */

static const char open_section[] = "A|acq(l)|1\n" /* 0 */
                                   "A|rel(l)|2\n" /* 1 */
                                   "A|w(x)|3\n"   /* 2 */
                                   "B|acq(l)|4\n" /* 3 */
                                   "B|w(x)|5\n";  /* 4 */

static const char shared_lock[] = "A|racq(l)|1\n" /* 0 */
                                  "B|racq(l)|2\n" /* 1 */
                                  "B|w(x=1)|3\n"  /* 2 */
                                  "B|rrel(l)|4\n" /* 3 */
                                  "A|rrel(l)|5\n" /* 4 */
                                  "C|acq(l)|6\n"  /* 5 */
                                  "C|w(x=2)|7\n"  /* 6 */
                                  "C|rel(l)|8\n"  /* 7 */
                                  "A|w(x=3)|9\n"; /* 8 */

static const char upgrade[] = "A|racq(l)|1\nA|acq(l)|2\nA|w(x)|3\nB|w(x)|4\n";

static const char semaphore[] = "A|w(x)|1\n"    /* 0 */
                                "A|post(s)|2\n" /* 1 */
                                "B|wait(s)|3\n" /* 2 */
                                "B|w(x)|4\n"    /* 3 */
                                "C|post(s)|5\n" /* 4 */
                                "A|w(x)|6\n";   /* 5 */

static const char atomics[] = "A|aw(x=1)|1\n"   /* 0 */
                              "B|au(x=1>2)|2\n" /* 1 */
                              "C|ar(x=2)|3\n"   /* 2 */
                              "C|w(y=1)|4\n"    /* 3 */
                              "B|w(x=5)|5\n"    /* 4 */
                              "D|w(y=2)|6\n";   /* 5 */

static const char branches[] = "A|w(x=1)|1\n"   /* 0 */
                               "B|r(x=1)|2\n"   /* 1 */
                               "B|w(y=1)|3\n"   /* 2 */
                               "D|r(y=1)|4\n"   /* 3 */
                               "D|branch()|5\n" /* 4 */
                               "B|branch()|6\n" /* 5 */
                               "B|w(z=1)|7\n"   /* 6 */
                               "C|w(y=2)|8\n"   /* 7 */
                               "C|w(z=2)|9\n"   /* 8 */
                               "D|w(z=3)|10\n"; /* 9 */

static const char forks[] = "B|r(x=1)|1\nA|w(x=2)|2\nB|fork(C)|3\nC|w(y)|4\nA|w(y)|5\n";

static const char opaque_calls[] = "A|mbegin(m:x)|1\n" /* 0 */
                                   "A|w(q)|2\n"        /* 1 */
                                   "A|mend(m)|3\n"     /* 2 */
                                   "B|w(x)|4\n"        /* 3 */
                                   "B|w(y)|5\n"        /* 4 */
                                   "C|mbegin(n:x)|6\n" /* 5 */
                                   "C|w(y)|7\n"        /* 6 */
                                   "C|mend(n)|8\n"     /* 7 */
                                   "D|w(x)|9\n";       /* 8 */

/* The outer call goes on after the inner one, for what either reaches. */
static const char nested_calls[] = "A|mbegin(m:x,o)|1\n" /* 0 */
                                   "A|mbegin(i:x)|2\n"   /* 1 */
                                   "B|w(q)|3\n"          /* 2 */
                                   "B|mbegin(n:o)|4\n"   /* 3 */
                                   "B|mend(n)|5\n"       /* 4 */
                                   "A|w(q)|6\n"          /* 5 */
                                   "A|mend(i)|7\n"       /* 6 */
                                   "A|w(q)|8\n"          /* 7 */
                                   "C|w(x)|9\n"          /* 8 */
                                   "C|w(y)|10\n"         /* 9 */
                                   "B|w(y)|11\n";        /* 10 */

static const char star[] = "B|w(q)|1\n"        /* 0 */
                           "A|w(p)|2\n"        /* 1 */
                           "A|mbegin(m:*)|3\n" /* 2 */
                           "A|mend(m)|4\n"     /* 3 */
                           "B|mbegin(n:o)|5\n" /* 4 */
                           "B|w(z)|6\n"        /* 5 */
                           "A|w(z)|7\n";       /* 6 */

static const char lives[] = "#@in o.x o\n#@in o.y o\n"
                            "A|alloc(o)|1\n"   /* 0 */
                            "A|w(p=1)|2\n"     /* 1 */
                            "B|r(p=1)|3\n"     /* 2 */
                            "B|w(o.x=1)|4\n"   /* 3 */
                            "A|free(o)|5\n"    /* 4 */
                            "C|ar(o.y=0)|6\n"  /* 5 */
                            "B|aw(o.y=0)|7\n"  /* 6 */
                            "C|w(q)|8\n"       /* 7 */
                            "D|w(q)|9\n"       /* 8 */
                            "E|r(o.x=1)|10\n"; /* 9 */

/* The free comes behind a window. */
static const char freed_later[] = "#@in o.x o\nA|alloc(o)|1\n" /* 0 */
                                  "B|w(o.x)|2\n"               /* 1 */
                                  "C|w(o.x)|3\n"               /* 2 */
                                  "A|free(o)|4\n";             /* 3 */

/* A free writes what the call reaches. */
static const char freed_reach[] = "#@in o.x o\n#@in o.y o\n"
                                  "A|mbegin(m:o.y)|1\n" /* 0 */
                                  "A|mend(m)|2\n"       /* 1 */
                                  "B|free(o)|3\n"       /* 2 */
                                  "C|mbegin(n:o.x)|4\n" /* 3 */
                                  "C|w(q)|5\n"          /* 4 */
                                  "D|w(q)|6\n"          /* 5 */
                                  "E|r(o.y)|7\n";       /* 6 */

typedef struct example {
    const char *text;
    int model;
    uint32_t start, end, first, second;
    const char *events;   /* "0 1 2" */
    const char *expected; /* NULL: accepted */
    uint64_t line;        /* of the error */
} example;

static const example examples[] = {
    /* right */
    {locks_and_forks, RF, 0, 21, 11, 12, "0 1 2 3 4 5 6 7 8 9 10", NULL, 0},
    {locks_and_forks, VALUE, 0, 21, 14, 16, "15 0 1 2 3 4 5 6 7 8 9 10 11 12 13",
     "event 1 (A|acq(l), line 2): acquires a lock that thread C holds", 2},
    {locks_and_forks, VALUE, 0, 21, 14, 16, "0 1 2 3 4 5 6 7 8 9 10 11 12 13 15", NULL, 0},
    {locks_and_forks, VALUE, 9, 17, 14, 16, "9 10 11 12 13 15", NULL, 0},
    {reads, RF, 0, 13, 4, 5, "0 1 2 3", NULL, 0},
    {reads, VALUE, 0, 13, 4, 5, "2 3", NULL, 0},
    {reads, VALUE, 0, 13, 1, 3, "0", NULL, 0},
    {reads, VALUE, 0, 13, 8, 9, "5 7 0 1 3 4", NULL, 0},
    {by_source, VALUE, 0, 5, 3, 4, "1 2", NULL, 0},
    {open_section, RF, 0, 5, 2, 4, "0 1 3", NULL, 0},
    {open_section, RF, 2, 5, 2, 4, "3", NULL, 0},

    /* numbers */
    {reads, RF, 3, 2, 4, 5, "", "window [3, 2): is not part of the trace, which has 13 events", 0},
    {reads, RF, 0, 14, 4, 5, "", "window [0, 14): is not part of the trace, which has 13 events",
     0},
    {reads, 3, 0, 13, 4, 5, "", "model 3: is unknown", 0},
    {reads, RF, 0, 13, 4, 4000000000, "", "event 4000000000: lies outside the window [0, 13)", 0},
    {reads, RF, 5, 13, 4, 5, "", "event 4 (C|w(v=1), line 6): lies outside the window [5, 13)", 6},
    {reads, RF, 0, 5, 4, 5, "", "event 5 (D|w(v=2), line 7): lies outside the window [0, 5)", 7},
    {reads, RF, 0, 13, 4, 4, "", "event 4 (C|w(v=1), line 6): is named as both accesses", 6},
    {reads, RF, 0, 13, 5, 4, "",
     "event 5 (D|w(v=2), line 7): is named as the first access, but the second, event 4, comes "
     "before "
     "it in the trace",
     7},
    {reads, RF, 0, 13, 4, 5, "0 1 77", "event 77: lies outside the window [0, 13)", 0},
    {reads, RF, 1, 13, 4, 5, "0 1 2 3",
     "event 0 (A|r(x=0), line 2): lies outside the window [1, 13)", 2},
    {reads, RF, 0, 6, 4, 5, "0 1 2 3 6",
     "event 6 (A|w(x=0), line 8): lies outside the window [0, 6)", 8},
    {reads, RF, 0, 13, 4, 5, "0 1 2 2", "event 2 (B|w(x=1), line 4): is listed twice", 4},
    {reads, RF, 0, 13, 4, 5, "0 1 2 3 4",
     "event 4 (C|w(v=1), line 6): is one of the two accesses, which must not be listed", 6},

    /* conflict */
    {locks_and_forks, RF, 0, 21, 10, 11, "",
     "event 10 (B|rel(l), line 11): is not a read, a write or a free", 11},
    {locks_and_forks, RF, 0, 21, 11, 13, "",
     "event 13 (A|join(B), line 14): is not a read, a write or a free", 14},
    {locks_and_forks, RF, 0, 21, 0, 12, "",
     "event 12 (A|w(x=3), line 13): does not conflict with event 0: they are of the same thread",
     13},
    {locks_and_forks, RF, 0, 21, 0, 9, "",
     "event 9 (B|r(y=1), line 10): does not conflict with event 0: they access different variables",
     10},
    {reads, RF, 0, 13, 0, 3, "",
     "event 3 (C|r(x=1), line 5): does not conflict with event 0: both read", 5},

    /* program order */
    {locks_and_forks, RF, 0, 21, 11, 12, "0 1 3",
     "event 3 (A|w(y=1), line 4): comes before event 2 of its thread (program order)", 4},
    {locks_and_forks, RF, 9, 21, 11, 12, "10",
     "event 10 (B|rel(l), line 11): comes before event 9 of its thread (program order)", 11},
    {locks_and_forks, RF, 0, 21, 11, 12, "0 1 2 3 4 5 6 7 8 9",
     "event 11 (B|w(x=2), line 12): is not the next event of its thread: event 10 has not happened",
     12},
    {locks_and_forks, RF, 0, 21, 0, 11, "",
     "event 11 (B|w(x=2), line 12): is not the next event of its thread: event 7 has not happened",
     12},

    /* locks */
    {locks_and_forks, RF, 0, 21, 14, 16, "0 1 2 3 4 15",
     "event 15 (C|acq(l), line 16): acquires a lock that thread A holds", 16},
    {locks_and_forks, RF, 9, 21, 14, 16, "15",
     "event 15 (C|acq(l), line 16): acquires a lock that thread B holds", 16},

    /* fork and join */
    {locks_and_forks, RF, 0, 21, 11, 12, "0 7",
     "event 7 (B|begin(), line 8): its thread is forked by event 6, which has not happened", 8},
    {locks_and_forks, RF, 14, 21, 14, 20, "",
     "event 20 (D|w(z=3), line 21): its thread is forked by event 19, which has not happened", 21},
    {locks_and_forks, RF, 0, 21, 14, 16, "0 1 2 3 4 5 6 7 8 9 10 12 13",
     "event 13 (A|join(B), line 14): joins a thread whose event 11 has not happened", 14},

    /* reads */
    {reads, RF, 0, 13, 4, 5, "2 3", NULL, 0},
    {reads, RF, 0, 13, 4, 5, "2 0",
     "event 0 (A|r(x=0), line 2): reads the write of event 2, saw none", 2},
    {reads, RF, 0, 13, 4, 5, "0 3",
     "event 3 (C|r(x=1), line 5): reads no write, saw that of event 2", 5},
    {reads, RF, 0, 13, 4, 5, "0 1 3",
     "event 3 (C|r(x=1), line 5): reads the write of event 1, saw that of event 2", 5},
    {reads, VALUE, 0, 13, 4, 5, "0 1 6 3", "event 3 (C|r(x=1), line 5): reads 0, saw 1", 5},
    {reads, VALUE, 0, 13, 4, 5, "3", "event 3 (C|r(x=1), line 5): reads the initial value 0, saw 1",
     5},
    {reads, VALUE, 4, 13, 11, 12, "4 9 5 7", "event 7 (D|r(x=0), line 9): reads 1, saw 0", 9},
    {reads, VALUE, 4, 13, 11, 12, "4 9 5 6 7 8 10", "event 10 (C|r(u=5), line 12): reads 1, saw 5",
     12},
    {"A|w(u=5)|1\nB|r(u=5)|2\nB|w(v=1)|3\nA|w(v=2)|4\n", VALUE, 0, 4, 2, 3, "1",
     "event 1 (B|r(u=5), line 2): reads an initial value that is unknown, saw 5", 2},
    {by_source, VALUE, 0, 5, 3, 4, "1 0 2",
     "event 2 (C|r(x=1), line 3): reads the write of event 0, saw that of event 1", 3},

    /* shared locks */
    {shared_lock, RF, 0, 9, 2, 8, "0 4 1", NULL, 0},
    {shared_lock, RF, 0, 9, 6, 8, "0 1 2 3 4 5", NULL, 0},
    {shared_lock, RF, 0, 9, 2, 6, "1 5",
     "event 5 (C|acq(l), line 6): acquires a lock that 1 other thread holds shared", 6},
    {shared_lock, RF, 0, 9, 2, 6, "0 1 5",
     "event 5 (C|acq(l), line 6): acquires a lock that 2 other threads hold shared", 6},
    {shared_lock, RF, 1, 9, 6, 8, "5",
     "event 5 (C|acq(l), line 6): acquires a lock that 1 other thread holds shared", 6},
    {shared_lock, RF, 0, 9, 2, 6, "5 1",
     "event 1 (B|racq(l), line 2): acquires a lock that thread C holds", 2},
    {upgrade, RF, 0, 4, 2, 3, "0 1", NULL, 0},

    /* lives */
    {lives, RF, 0, 10, 3, 4, "0 1 2", NULL, 0},
    {lives, RF, 0, 10, 4, 5, "0 1", NULL, 0},
    {lives, VALUE, 1, 10, 4, 6, "1 2 3", NULL, 0},
    {lives, RF, 0, 10, 3, 9, "0 1 2", NULL, 0},
    {lives, RF, 0, 10, 7, 8, "0 1 2 3 4 5", NULL, 0},
    {lives, RF, 0, 10, 7, 8, "0 1 2 3 5 4 6", NULL, 0},
    {lives, RF, 0, 10, 3, 4, "5 0 1 2",
     "event 5 (C|ar(o.y=0), line 8): its object is allocated by event 0, which has not happened",
     8},
    {lives, RF, 0, 10, 7, 8, "0 1 4 5 2 3",
     "event 3 (B|w(o.x=1), line 6): its object was freed by event 4, which comes after it in the "
     "trace",
     6},
    {lives, RF, 0, 10, 3, 9, "0 1 4 2",
     "event 3 (B|w(o.x=1), line 6): its object was freed by event 4, which comes after it in the "
     "trace",
     6},
    {lives, RF, 0, 10, 3, 9, "",
     "event 3 (B|w(o.x=1), line 6): is not the next event of its thread: event 2 has not happened",
     6},
    {lives, RF, 0, 10, 4, 7, "",
     "event 7 (C|w(q), line 10): does not conflict with event 4: it is not the object of the "
     "variable that is freed",
     10},
    {lives, RF, 0, 10, 0, 3, "", "event 0 (A|alloc(o), line 3): is not a read, a write or a free",
     3},
    {freed_later, RF, 1, 3, 1, 2, "", NULL, 0},
    {freed_reach, RF, 0, 7, 2, 6, "0 1", NULL, 0},
    {freed_reach, RF, 0, 7, 2, 6, "0",
     "event 2 (B|free(o), line 5): an opaque call puts event 1 before it, which has not happened",
     5},
    {freed_reach, RF, 0, 7, 4, 5, "0 1 3",
     "event 3 (C|mbegin(n:o.x), line 6): an opaque call puts event 2 before it, which has not "
     "happened",
     6},

    /* semaphores */
    {semaphore, RF, 0, 6, 0, 3, "4 2", NULL, 0},
    {semaphore, RF, 2, 6, 3, 5, "2", NULL, 0},
    {semaphore, RF, 0, 6, 0, 3, "2 4",
     "event 2 (B|wait(s), line 3): takes a unit of a semaphore that has none", 3},

    /* atomics */
    {atomics, VALUE, 0, 6, 2, 4, "0 1", NULL, 0},
    {atomics, VALUE, 0, 6, 3, 5, "0 1 2", NULL, 0},
    {atomics, RF, 0, 6, 3, 5, "0 1 2", NULL, 0},
    {atomics, VALUE, 0, 6, 0, 1, "",
     "event 1 (B|au(x=1>2), line 2): does not conflict with event 0: both are atomic", 2},
    {atomics, VALUE, 0, 6, 0, 2, "",
     "event 2 (C|ar(x=2), line 3): does not conflict with event 0: both are atomic", 3},
    {atomics, VALUE, 0, 6, 3, 5, "0 2", "event 2 (C|ar(x=2), line 3): reads 1, saw 2", 3},
    {atomics, VALUE, 0, 6, 2, 4, "1",
     "event 1 (B|au(x=1>2), line 2): reads an initial value that is unknown, saw 1", 2},
    {atomics, RF, 0, 6, 3, 5, "0 2",
     "event 2 (C|ar(x=2), line 3): reads the write of event 0, saw that of event 1", 3},

    /* branches */
    {branches, BRANCH, 0, 10, 2, 7, "1", NULL, 0},
    {branches, BRANCH, 0, 10, 8, 9, "0 1 2 3 4 7", NULL, 0},
    {branches, VALUE, 0, 10, 2, 7, "1",
     "event 1 (B|r(x=1), line 2): reads an initial value that is unknown, saw 1", 2},
    {branches, BRANCH, 0, 10, 6, 8, "1 2 5 7",
     "event 5 (B|branch(), line 6): depends on what event 1 of its thread read, which is not what "
     "it "
     "saw in the trace",
     6},
    {branches, BRANCH, 0, 10, 8, 9, "1 2 3 4 7",
     "event 4 (D|branch(), line 5): depends on what event 3 of its thread read, which is not what "
     "it "
     "saw in the trace",
     5},
    {forks, BRANCH, 0, 5, 3, 4, "1 0 2",
     "event 2 (B|fork(C), line 3): depends on what event 0 of its thread read, which is not what "
     "it "
     "saw in the trace",
     3},
    {forks, BRANCH, 0, 5, 3, 4, "0 1 2", NULL, 0},

    /* opaque calls */
    {opaque_calls, RF, 0, 9, 4, 6, "0 1 2 3 5", NULL, 0},
    {opaque_calls, RF, 1, 9, 4, 6, "1 2 3 5", NULL, 0},
    {opaque_calls, RF, 0, 9, 4, 6, "3",
     "event 3 (B|w(x), line 4): an opaque call puts event 0 before it, which has not happened", 4},
    {opaque_calls, RF, 0, 9, 4, 6, "0 1 3",
     "event 3 (B|w(x), line 4): an opaque call puts event 2 before it, which has not happened", 4},
    {opaque_calls, RF, 0, 9, 4, 6, "0 1 2 5",
     "event 5 (C|mbegin(n:x), line 6): an opaque call puts event 3 before it, which has not "
     "happened",
     6},
    {nested_calls, RF, 0, 11, 9, 10, "0 1 5",
     "event 5 (A|w(q), line 6): an opaque call puts event 4 before it, which has not happened", 6},
    {nested_calls, RF, 0, 11, 9, 10, "0 1 2 3 4 5 6 8",
     "event 8 (C|w(x), line 9): an opaque call puts event 7 before it, which has not happened", 9},
    {nested_calls, RF, 0, 11, 9, 10, "0 1 2 3 4 5 6 7 8", NULL, 0},
    {star, RF, 0, 7, 5, 6, "0 4",
     "event 4 (B|mbegin(n:o), line 5): an opaque call puts event 3 before it, which has not "
     "happened",
     5},
    {opaque_calls, RF, 0, 9, 3, 8, "0 1 2",
     "event 8 (D|w(x), line 9): an opaque call puts event 5 before it, which has not happened", 9},
};

static uint32_t parse_events(const char *text, uint32_t *events)
{
    uint32_t count = 0;
    char *end;
    for (; *text; text = *end ? end + 1 : end)
        events[count++] = (uint32_t)strtoul(text, &end, 10);
    return count;
}

static void test_examples(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const example *x = &examples[i];
        mr_trace *trace = mr_sample_trace(x->text);
        assert_non_null(trace);
        mr_checker *checker = mr_checker_new(trace, MR_OPAQUE_PAIR);
        assert_non_null(checker);
        uint32_t events[MOST_EVENTS];
        mr_witness witness = {.first = x->first,
                              .second = x->second,
                              .window_start = x->start,
                              .window_end = x->end,
                              .model = (mr_model)x->model,
                              .events = events,
                              .event_count = parse_events(x->events, events)};
        mr_error error = {0};
        mr_status status = mr_checker_check(checker, &witness, &error);
        if (status != (x->expected ? MR_ERR_INTERNAL : MR_OK) || error.status != status ||
            strcmp(error.text, x->expected ? x->expected : "") != 0 || error.line != x->line) {
            print_error("example %zu: status %d, line %" PRIu64 "\n  found    %s\n  expected %s\n",
                        i, status, error.line, error.text, x->expected ? x->expected : "accepted");
            wrong++;
        }
        mr_checker_free(checker);
        mr_trace_free(trace);
    }
    assert_int_equal(wrong, 0);
}

/* By windows, as for the whole trace. */
static void test_by_window(void **state)
{
    int asked = 0;
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const example *x = &examples[i];
        mr_trace *trace = mr_sample_trace(x->text);
        assert_non_null(trace);
        bool fits = x->model == RF && trace->calls.count == 0 && x->end <= trace->event_count;
        mr_checker *checker = fits ? mr_checker_new_by_window(trace) : NULL;
        for (int round = 0; fits && round < 2; round++) {
            uint32_t events[MOST_EVENTS];
            mr_witness witness = {.first = x->first,
                                  .second = x->second,
                                  .window_start = x->start,
                                  .window_end = x->end,
                                  .model = MR_MODEL_RF,
                                  .events = events,
                                  .event_count = parse_events(x->events, events)};
            mr_error error = {0};
            mr_status status = mr_checker_check(checker, &witness, &error);
            assert_string_equal(error.text, x->expected ? x->expected : "");
            assert_int_equal(status, x->expected ? MR_ERR_INTERNAL : MR_OK);
            asked++;
        }
        mr_checker_free(checker);
        mr_trace_free(trace);
    }
    assert_true(asked > 40);
}

/* One checker, windows forth and back: a check leaves no trace behind. */
static void test_any_order_of_windows(void **state)
{
    (void)state;
    mr_trace *trace = mr_sample_trace(locks_and_forks);
    assert_non_null(trace);
    mr_checker *checker = mr_checker_new(trace, MR_OPAQUE_PAIR);
    assert_non_null(checker);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
            const example *x = &examples[i];
            if (x->text != locks_and_forks)
                continue;
            uint32_t events[MOST_EVENTS];
            mr_witness witness = {.first = x->first,
                                  .second = x->second,
                                  .window_start = x->start,
                                  .window_end = x->end,
                                  .model = (mr_model)x->model,
                                  .events = events,
                                  .event_count = parse_events(x->events, events)};
            mr_status status = mr_checker_check(checker, &witness, NULL);
            assert_int_equal(status, x->expected ? MR_ERR_INTERNAL : MR_OK);
        }
    }
    mr_checker_free(checker);
    mr_trace_free(trace);
}

/* ---- random damage ---- */

static void damage_list(mr_random *random, mr_witness *w, uint32_t event_count)
{
    uint32_t n = w->event_count;
    uint32_t i = mr_random_below(random, n), j = mr_random_below(random, n);
    switch (mr_random_below(random, 4)) {
    case 0: /* swap */
        if (n) {
            uint32_t event = w->events[i];
            w->events[i] = w->events[j];
            w->events[j] = event;
        }
        break;
    case 1: /* drop */
        if (n) {
            memmove(w->events + i, w->events + i + 1, (n - i - 1) * sizeof *w->events);
            w->event_count--;
        }
        break;
    case 2: /* move */
        if (n) {
            uint32_t event = w->events[i];
            memmove(w->events + i, w->events + i + 1, (n - i - 1) * sizeof *w->events);
            memmove(w->events + j + 1, w->events + j, (n - j - 1) * sizeof *w->events);
            w->events[j] = event;
        }
        break;
    default: /* insert or duplicate */
        i = mr_random_below(random, n + 1);
        memmove(w->events + i + 1, w->events + i, (n - i) * sizeof *w->events);
        w->events[i] = mr_random_below(random, event_count + 1);
        w->event_count++;
        break;
    }
}

static void damage(mr_random *random, mr_witness *w, uint32_t event_count)
{
    switch (mr_random_below(random, 12)) {
    case 0:
        w->first = mr_random_below(random, event_count + 1);
        break;
    case 1:
        w->second = mr_random_below(random, event_count + 1);
        break;
    case 2:
        w->window_start = mr_random_below(random, event_count + 1);
        break;
    case 3:
        w->window_end = mr_random_below(random, event_count + 2);
        break;
    case 4:
        w->model = (mr_model)mr_random_below(random, 3);
        break;
    default:
        damage_list(random, w, event_count);
        break;
    }
}

typedef struct verdicts {
    size_t accepted, rejected;
} verdicts;

/* A trace, its checker, the one by windows, and which calls keep their order. */
typedef struct judged {
    const char *text;
    mr_trace *trace;
    mr_checker *checker, *by_window; /* the latter for model rf; NULL: the trace has calls */
    mr_opaque opaque;
} judged;

static void compare(const judged *j, const mr_witness *w, verdicts *count)
{
    mr_error error = {0};
    bool accepted = mr_checker_check(j->checker, w, &error) == MR_OK;
    if (accepted != mr_definition_accepts(j->trace, w, j->opaque)) {
        print_error("%s\n", j->text);
        for (uint32_t i = 0; i < w->event_count; i++)
            print_error("%" PRIu32 " ", w->events[i]);
        fail_msg("%s, opaque %d, window [%" PRIu32 ", %" PRIu32 "), accesses %" PRIu32 " %" PRIu32
                 ": the checker says '%s', the definition %s",
                 mr_model_name(w->model), (int)j->opaque, w->window_start, w->window_end, w->first,
                 w->second, accepted ? "accepted" : error.text, accepted ? "no" : "yes");
    }
    if (j->by_window && w->model == MR_MODEL_RF)
        assert_int_equal(mr_checker_check(j->by_window, w, &error) == MR_OK, accepted);
    count->accepted += accepted;
    count->rejected += !accepted;
}

/* Compares the witness, and what random damage makes of it. */
static void damage_witness(mr_random *random, const judged *j, const mr_witness *right,
                           verdicts *count)
{
    compare(j, right, count);
    for (int round = 0; round < 12; round++) {
        uint32_t events[MOST_EVENTS];
        mr_witness wrong = *right;
        wrong.events = events;
        memcpy(events, right->events, right->event_count * sizeof *events);
        for (uint32_t n = mr_random_range(random, 1, 3); n > 0; n--)
            damage(random, &wrong, j->trace->event_count);
        compare(j, &wrong, count);
    }
}

enum { LONGER_PATHS = 6 };

/* The shortest witness of each race, and ways to any states, which are longer. */
static void damage_witnesses(mr_random *random, const judged *j, verdicts *count)
{
    const mr_trace *trace = j->trace;
    uint32_t start = mr_random_below(random, trace->event_count / 2);
    mr_exhaustive_options options = {.model = (mr_model)mr_random_below(random, 3),
                                     .opaque = j->opaque};
    mr_exhaustive search;
    assert_true(mr_exhaustive_find_with(trace, &options, start, trace->event_count, &search));
    for (size_t i = 0; i < search.race_count + LONGER_PATHS; i++) {
        mr_witness right;
        uint32_t state = mr_random_below(random, (uint32_t)search.state_count);
        if (i < search.race_count)
            assert_true(mr_exhaustive_witness(&search, i, &right));
        else
            assert_true(mr_exhaustive_path(&search, state, start, trace->event_count - 1, &right));
        for (uint32_t a = start; i >= search.race_count && a < trace->event_count; a++) {
            uint32_t b = mr_random_below(random, trace->event_count);
            if (a < b && mr_exhaustive_conflict(trace, a, b)) {
                right.first = a;
                right.second = b;
                damage_witness(random, j, &right, count);
            }
        }
        if (i < search.race_count)
            damage_witness(random, j, &right, count);
        mr_witness_free(&right);
    }
    mr_exhaustive_free(&search);
}

static void test_same_as_the_definition(void **state)
{
    (void)state;
    mr_random random = {42};
    for (int shape = 0; shape < MR_SHAPE_ALL; shape++) {
        verdicts count = {0};
        for (uint64_t seed = 5000; seed < (shape < MR_SHAPE_COUNT ? 5080 : 5400); seed++) {
            judged j = {.text = mr_generate_trace(seed, (mr_shape)shape),
                        .opaque = (mr_opaque)(seed % 3)};
            assert_non_null(j.text);
            j.trace = mr_sample_trace(j.text);
            assert_non_null(j.trace);
            j.checker = mr_checker_new(j.trace, j.opaque);
            assert_non_null(j.checker);
            if (j.trace->calls.count == 0)
                j.by_window = mr_checker_new_by_window(j.trace);
            damage_witnesses(&random, &j, &count);
            mr_checker_free(j.checker);
            mr_checker_free(j.by_window);
            mr_trace_free(j.trace);
            free((char *)j.text);
        }
        assert_true(count.accepted > 50 && count.rejected > 100);
    }
}

static void test_out_of_memory(void **state)
{
    (void)state;
    mr_trace *trace = mr_sample_trace(opaque_calls);
    assert_non_null(trace);
    uint32_t events[] = {0, 1, 2, 3, 5};
    mr_witness witness = {.first = 4,
                          .second = 6,
                          .window_end = 9,
                          .model = MR_MODEL_RF,
                          .events = events,
                          .event_count = 5};
    mr_status status = MR_ERR_MEMORY;
    for (uint64_t n = 1; status == MR_ERR_MEMORY; n++) {
        mr_error error = {0};
        mr_memory_fail_after(n);
        mr_checker *checker = mr_checker_new(trace, MR_OPAQUE_PAIR);
        if (checker)
            status = mr_checker_check(checker, &witness, &error);
        mr_memory_fail_after(0);
        if (checker && status == MR_ERR_MEMORY)
            assert_int_equal(mr_checker_check(checker, &witness, &error), MR_OK);
        mr_checker_free(checker);
        assert_true(n < 100);
    }
    assert_int_equal(status, MR_OK);
    mr_checker_free(NULL);
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_by_window),
        cmocka_unit_test(test_any_order_of_windows),
        cmocka_unit_test(test_same_as_the_definition),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
