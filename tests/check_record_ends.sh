#!/usr/bin/env bash
# Programs that end badly: what record, run and predict say of it, and their exit statuses. Prints "[       OK ] name", or the
# reason and "[  FAILED  ] name".
set -u
cd "$(dirname "$0")/.." || exit 1
maxrace=$(realpath "${BUILD:-build/release}/maxrace")
sources=$(realpath tests/programs)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. tests/support/check.sh
cd "$scratch" || exit 1
unset MAXRACE_CC MAXRACE_CXX

# ends STATUS COMMAND…: out is what the command prints, err its standard error.
ends() {
    local expected=$1 status
    shift
    timeout 60 "$@" >out 2>err </dev/null
    status=$?
    [ $status -eq "$expected" ] && return
    echo "$*: status $status instead of $expected"
    cat out err
    return 1
}

# prints FILE PATTERN…: each has a line in the file.
prints() {
    local file=$1 pattern
    shift
    for pattern in "$@"; do
        grep -q -- "$pattern" "$file" || { echo "no '$pattern' in $file:"; cat "$file"; return 1; }
    done
}

crashes() {
    local how number name
    while read -r how number name; do
        ends $((128 + number)) "$maxrace" record -o end.mrt ./ending "$how" && ends 6 "$maxrace" predict end.mrt &&
            prints out "^the program was ended by signal $number ($name)$" "^no race in the [0-9]* events up to signal $number ($name)$" &&
            ends 6 "$maxrace" run ./ending "$how" && prints out "^the program was ended by signal $number ($name)$" &&
            ends 6 "$maxrace" run --format json ./ending "$how" && prints out "\"ending\":{\"signal\":$number,\"bad\":true,\"details\":\[\]}" &&
            ends 0 "$maxrace" convert end.mrt - && prints out "^#@end signal $number$" || return 1
    done <<'END'
assert 6 Aborted
segv 11 Segmentation fault
END
    # Below a shell, which says that as its own status, the log knows that the program did not come to its end.
    ends 6 "$maxrace" run -- sh -c './ending segv; exit 0' && prints out '^the program was ended by a signal$'
}

# Nobody calls these a crash.
other_ends() {
    ends 0 "$maxrace" run ./ending term && prints out '^the program was ended by signal 15 (Terminated)$' '^no race .* up to signal 15' &&
        ends 0 "$maxrace" run ./ending three && prints out '^the program ended with status 3$' '^no race .* of the trace$' &&
        ends 0 "$maxrace" run ./ending well && ! grep -q '^the ' out && prints out '^no race in the [0-9]* events of the trace$' &&
        ends 0 "$maxrace" run ./ending exec && prints out '^the recording ended at the exec of another program$' &&
        ends 0 "$maxrace" run --max-events 2000 ./ending long && prints out '^the recording ended at --max-events$' '^no race .* up to --max-events$' &&
        ends 0 "$maxrace" run --timeout 1 ./ending sleep && prints out '^the program was ended by signal 9 (Killed); the recording ended at --timeout$'
}

# Threads without end that nobody joins: they get turns when main ends, and do not fill the trace.
loops() {
    ends 0 "$maxrace" record -o loops.mrt ./ending loops && prints err '^maxrace: loops.mrt: [0-9]* events of 4 threads' &&
        local events && events=$(sed -n 's/^maxrace: loops.mrt: \([0-9]*\) events.*/\1/p' err) && [ "$events" -gt 1000 ] && [ "$events" -lt 200000 ] || { cat err; return 1; }
}

# Two mutexes, in both orders: who waits for which, held by whom, since where.
deadlocks() {
    local start=$SECONDS
    ends 6 "$maxrace" record -o dead.mrt ./deadlock mutex && prints err 'nobody could run for 2 s' && ends 6 "$maxrace" predict dead.mrt &&
        prints out '^the program ended with status 6; the recording ended at a deadlock$' '^  main (T0) waits for the end of left (T1) at deadlock.c:[0-9]*:[0-9]*$' \
            '^  left (T1) waits for mutex b at deadlock.c:12:5, held by right (T2) since deadlock.c:19:5$' \
            '^  right (T2) waits for mutex a at deadlock.c:21:5, held by left (T1) since deadlock.c:10:5$' '^no race in the [0-9]* events up to a deadlock$' &&
        [ $((SECONDS - start)) -lt 20 ] || return 1
    ends 6 "$maxrace" run --runs 2 --format json ./deadlock mutex && [ "$(grep -c '"stopped":"deadlock"' out)" = 2 ] && prints out 'left (T1) waits for mutex b' || return 1
    ends 6 "$maxrace" run --runs 2 ./deadlock mutex && [ "$(tail -n 1 out)" = '0 races in 2 runs, a crash or a deadlock in 2' ] || { tail -n 1 out; return 1; }
    ends 6 "$maxrace" run ./deadlock self && prints out 'main (T0) waits for mutex a at deadlock.c:[0-9:]*, held by main (T0) since deadlock.c:' &&
        ends 6 "$maxrace" run ./deadlock cond && prints out 'main (T0) waits for condition variable ready at' &&
        ends 6 "$maxrace" run ./deadlock semaphore && prints out 'main (T0) waits for semaphore units at' &&
        ends 6 "$maxrace" run ./deadlock barrier && prints out 'main (T0) waits for barrier gate at' &&
        ends 6 "$maxrace" run ./deadlock rwlock && prints out 'reader.* waits for read-write lock rw at .*, held by main (T0) since' &&
        ends 6 "$maxrace" run ./deadlock lost && prints out 'waits for the end of left (T1)'
}

# A timer's handler may end it; and who asks for it waits for ever.
no_deadlocks() {
    ends 0 "$maxrace" record -o alive.mrt ./deadlock alarm && prints err 'wait for each other' &&
        ends 137 "$maxrace" record -o wait.mrt --on-deadlock wait --timeout 4 ./deadlock mutex && ends 0 "$maxrace" predict wait.mrt &&
        prints out 'the recording ended at --timeout$' '^  left (T1) waits for mutex b' && ends 2 "$maxrace" run --on-deadlock never ./deadlock && prints err "'never' is not stop or wait"
}

# A program whose threads are in its child: one line, or traces of their own. A daemon goes on when the program has ended.
forks() {
    ends 0 "$maxrace" record ./forks wait && prints err '^maxrace: 1 child process with 2 threads was not recorded; --follow-forks does it$' &&
        ends 0 "$maxrace" predict forks.mrt && prints out '^1 child process with threads was not recorded$' &&
        ends 0 "$maxrace" record ./forks daemon && prints err '^maxrace: a child process ([0-9]*) goes on and is not recorded; --follow-forks does it$' && [ ! -e forks.1.mrt ] || return 1
    local how
    for how in quick raw; do # libc and the kernel end it without a word to the runtime
        ends 3 "$maxrace" record ./forks $how && ends 0 "$maxrace" predict forks.mrt && prints out '^the program ended with status 3$' &&
            ends 0 "$maxrace" run ./forks $how && rm forks.mrt || return 1
    done
    for how in wait daemon libc pty; do
        ends 0 "$maxrace" record --follow-forks ./forks $how && prints err '^maxrace: forks.mrt: ' '^maxrace: forks.1.mrt: [0-9]* events of 3 threads' && ! grep -q 'not recorded' err &&
            ends 1 "$maxrace" predict forks.1.mrt && prints out '^the program ended with status 4$' '^Race 1 of 1 on x$' &&
            ends 0 "$maxrace" predict forks.mrt && rm forks.mrt forks.1.mrt || return 1
    done
    ends 5 "$maxrace" run --runs 3 ./forks told && prints out '2 of 3 runs were not started' 'Race 1 of 1 on x$' || return 1
    ends 1 "$maxrace" run --follow-forks ./forks twice && prints out '^Run 1 of 1, seed 1$' '^Run 1 of 1, seed 1, child 1$' '^Run 1 of 1, seed 1, child 1.1$' \
        '^./forks (seed 1, child 1.1): ' '^1 race known from earlier runs$' '^1 race in 1 run$' && prints err '^maxrace: seed 1, child 1.1: ' &&
        ends 0 "$maxrace" run ./forks wait && prints err '^maxrace: 1 child process with 2 threads was not recorded; --follow-forks does it$' && ! grep -q '^Run 1' out &&
        ends 1 "$maxrace" run --follow-forks --quick --traces kept ./forks twice && prints out '^1 static race of shb' && ends 1 "$maxrace" predict kept/seed-1.1.1.mrt &&
        ends 1 "$maxrace" run --follow-forks --format json ./forks wait && prints out ',"child":"1","exit_status":4,' || return 1
    ends 0 "$maxrace" record --follow-forks ./forks twice && ends 1 "$maxrace" predict forks.1.mrt && ends 1 "$maxrace" predict forks.1.1.mrt && rm forks.*mrt || return 1
    ends 0 "$maxrace" record --follow-forks --timeout 2 ./forks endless && ends 1 "$maxrace" predict forks.1.mrt && ! pgrep -f './forks endless$' && rm forks.*mrt || return 1
    "$maxrace" cc -g -pthread "$sources/clone-child-safe.c" -o cloned && ends 0 "$maxrace" record --follow-forks ./cloned && ends 0 "$maxrace" predict cloned.1.mrt &&
        prints out '^the program ended with status 5$' && rm cloned.*mrt || return 1
    ends 0 "$maxrace" record ./shares && prints out '^150000 turns, 2$' &&
        prints err '^maxrace: recording ended where clone made a thread that shares memory; the program went on$' &&
        ends 1 "$maxrace" predict shares.mrt && prints out '^the recording ended at a clone that shares memory$' && ends 0 timeout 30 "$maxrace" record ./shares locks && prints out '^7500 turns, 2$' && rm shares.mrt || return 1
    ! ls maxrace-log* 2>/dev/null
}

# A script that starts several programs, and a program that starts others: those after the first are as children of it.
programs() {
    local others='^maxrace: 1 child process with 2 threads was not recorded; --follow-forks does it$'
    printf '#!/bin/sh\n./forks %s\n./forks %s\nexit 0\n' alone crowd >first.sh && printf '#!/bin/sh\n./forks %s\n./forks %s\nexit 0\n' crowd alone >last.sh && chmod +x ./*.sh
    ends 0 "$maxrace" record -o first.mrt ./first.sh && prints err "$others" && ends 0 "$maxrace" predict first.mrt && prints out '^1 child process with threads was not recorded$' &&
        ends 0 "$maxrace" record -o last.mrt ./last.sh && ! grep 'not recorded' err && ends 1 "$maxrace" predict last.mrt && ! ls ./*.1.mrt 2>/dev/null || return 1
    ends 0 "$maxrace" record --follow-forks -o first.mrt ./first.sh && ! grep 'not recorded' err && ends 0 "$maxrace" predict first.mrt && ends 1 "$maxrace" predict first.1.mrt &&
        ends 0 "$maxrace" record ./forks starts && prints err '^maxrace: 2 child processes with 4 threads were not recorded; --follow-forks does it$' &&
        ends 0 "$maxrace" record --follow-forks ./forks starts && ends 1 "$maxrace" predict forks.1.mrt && ends 1 "$maxrace" predict forks.2.mrt &&
        ends 1 "$maxrace" run --follow-forks ./first.sh && prints out '^Run 1 of 1, seed 1, child 1$' '^1 race in 1 run$' || return 1
    rm ./*.mrt && ! ls maxrace-log* 2>/dev/null
}

# Threads that nobody joins or detaches, and one that asks not to be recorded up to its end: no errors, but worth a line.
threads() {
    ends 0 "$maxrace" run ./threads && prints out '^  work (T1), started at threads.c:17:9, ended and was neither joined nor detached; so did 1 other that was started there$' \
        '^  ignoring (T4), started at threads.c:19:5, ended while it asked that its events are not recorded$' '^no race in the [0-9]* events of the trace$' &&
        [ "$(grep -c 'ended ' out)" = 2 ]
}

cat >threads.c <<'END'
#include <pthread.h>
#include <unistd.h>
void AnnotateIgnoreReadsBegin(const char *file, int line);
static void *work(void *unused) { return unused; }
static void *ignoring(void *unused)
{
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread, 0, work, 0);
    pthread_create(&thread, &detached, work, 0);
    pthread_create(&thread, 0, ignoring, 0);
    pthread_join(thread, 0);
    for (int i = 0; i < 1; i++)
        pthread_create(&thread, 0, work, 0);
    pthread_detach(thread);
    sleep(1); /* all have ended */
    return 0;
}
END
cat >shares.c <<'END'
/* Threads of clone that share everything, also the thread-local variables: the runtime cannot tell them
 * apart. The race on value comes before them, what they write is not seen. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 2, ROUNDS = 50000, STACK = 1 << 16 };

static int value;
static atomic_int turns;
static volatile int sum;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_over;

static int turn(void *locks)
{
    for (int i = 0; i < ROUNDS / (locks != NULL ? 20 : 1); i++) {
        if (locks != NULL)
            pthread_mutex_lock(&lock);
        sum += i;
        turns++;
        if (locks != NULL)
            pthread_mutex_unlock(&lock);
    }
    return 0;
}

static void *share(void *locks)
{
    static _Alignas(16) char stacks[CHILDREN][STACK];
    for (int i = 0; i < CHILDREN; i++)
        clone(turn, stacks[i] + STACK, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | SIGCHLD,
              locks);
    turn(locks);
    while (wait(NULL) > 0)
        continue;
    return locks;
}

static void *lock_beside(void *unused)
{
    while (!is_over) {
        pthread_mutex_lock(&lock);
        usleep(1);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *work(void *unused)
{
    value++;
    return unused;
}

/* With an argument another thread goes on, whose lock they take, too. */
int main(int count, char **arguments)
{
    pthread_t thread, other;
    pthread_create(&thread, NULL, work, NULL);
    value++;
    pthread_join(thread, NULL);
    if (count > 1) {
        pthread_create(&other, NULL, lock_beside, NULL);
        pthread_create(&thread, NULL, share, arguments);
        pthread_join(thread, NULL);
        is_over = true;
        pthread_join(other, NULL);
    } else {
        share(NULL);
    }
    printf("%d turns, %d\n", turns, value);
    return 0;
}
END

cat >forks.c <<'END'
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static int x, y;
static void *work(void *unused) { x++; return unused; }
static int crowd(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 4;
}
static int is(int argc, char **argv, const char *how) { return argc > 1 && strcmp(argv[1], how) == 0; }
int main(int argc, char **argv)
{
    y = 1;
    if (is(argc, argv, "alone"))
        return 0;
    if (is(argc, argv, "crowd"))
        return crowd();
    if (is(argc, argv, "quick"))
        quick_exit(3);
    if (is(argc, argv, "raw"))
        syscall(SYS_exit_group, 3);
    if (is(argc, argv, "told")) { /* as by a time limit around all runs */
        signal(SIGTERM, SIG_IGN);
        crowd();
        kill(getppid(), SIGTERM);
        return 0;
    }
    if (is(argc, argv, "libc"))
        return daemon(1, 1) == 0 ? crowd() : 1;
    if (is(argc, argv, "starts"))
        return system("./forks crowd & ./forks crowd; wait") != 0;
    int terminal;
    pid_t child = is(argc, argv, "pty") ? forkpty(&terminal, 0, 0, 0) : fork();
    if (child == 0) {
        if (is(argc, argv, "daemon")) {
            setsid();
            usleep(700000);
        }
        if (is(argc, argv, "twice") && fork() == 0)
            return crowd();
        crowd();
        while (is(argc, argv, "endless"))
            sleep(1);
        return 4;
    }
    if (is(argc, argv, "wait") || is(argc, argv, "pty"))
        waitpid(child, 0, 0);
    return 0;
}
END
cat >deadlock.c <<'END'
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static sem_t units, one, two;
static void *left(void *unused)
{

    pthread_mutex_lock(&a);
    sem_post(&one); sem_wait(&two);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return unused;
}
static void *right(void *unused)
{
    pthread_mutex_lock(&b);
    sem_post(&two); sem_wait(&one);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return unused;
}
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static void *reader(void *unused) { pthread_rwlock_rdlock(&rw); return unused; }
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t gate;
#include <signal.h>
static void on_alarm(int number) { (void)number; sem_post(&units); }
static void *sleeper(void *unused) { while (sem_wait(&units) != 0) {} return unused; }
int main(int argc, char **argv)
{
    pthread_t t, u;
    const char *how = argc > 1 ? argv[1] : "";
    sem_init(&units, 0, 0);
    sem_init(&one, 0, 0);
    sem_init(&two, 0, 0);
    pthread_barrier_init(&gate, 0, 2);
    if (strcmp(how, "mutex") == 0) {
        pthread_create(&t, 0, left, 0);
        pthread_create(&u, 0, right, 0);
        pthread_join(t, 0);
    }
    if (strcmp(how, "self") == 0) {
        pthread_mutex_lock(&a);
        pthread_mutex_lock(&a);
    }
    if (strcmp(how, "cond") == 0) {
        pthread_mutex_lock(&a);
        pthread_cond_wait(&ready, &a);
    }
    if (strcmp(how, "semaphore") == 0)
        sem_wait(&units);
    if (strcmp(how, "barrier") == 0)
        pthread_barrier_wait(&gate);
    if (strcmp(how, "rwlock") == 0) {
        pthread_rwlock_wrlock(&rw);
        pthread_create(&t, 0, reader, 0);
        pthread_join(t, 0);
    }
    if (strcmp(how, "lost") == 0) {
        pthread_create(&t, 0, left, 0);
        pthread_join(t, 0);
    }
    if (strcmp(how, "alarm") == 0) {
        signal(SIGALRM, on_alarm);
        pthread_create(&t, 0, sleeper, 0);
        alarm(4);
        pthread_join(t, 0);
    }
    return 0;
}
END
cat >ending.c <<'END'
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
static int x, *nowhere;
static void *work(void *unused) { x++; return unused; }
static volatile long laps;
static void *loop(void *unused) { for (;;) laps++; return unused; }
int main(int argc, char **argv)
{
    pthread_t a;
    const char *how = argc > 1 ? argv[1] : "";
    for (int i = 0; strcmp(how, "loops") == 0 && i < 2; i++)
        pthread_create(&a, 0, loop, 0);
    x = 1;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    for (int i = 0; strcmp(how, "long") == 0 && i < 50000; i++)
        x++;
    assert(strcmp(how, "assert") != 0);
    if (strcmp(how, "segv") == 0)
        *nowhere = 1;
    if (strcmp(how, "term") == 0)
        raise(SIGTERM);
    if (strcmp(how, "sleep") == 0)
        for (;;)
            sleep(10);
    if (strcmp(how, "exec") == 0)
        execl("/bin/true", "true", (char *)0);
    return strcmp(how, "three") == 0 ? 3 : 0;
}
END
build() { "$maxrace" cc -g -O0 -pthread ending.c -o ending && "$maxrace" cc -g -O0 -pthread deadlock.c -o deadlock && "$maxrace" cc -g -O0 -pthread forks.c -o forks && "$maxrace" cc -g -O0 -pthread threads.c -o threads &&
    "$maxrace" cc -g -O0 -pthread shares.c -o shares; }

check record_ends_build build
check record_ends_crashes crashes
check record_ends_other_ends other_ends
check record_ends_loops loops
check record_ends_forks forks
check record_ends_programs programs
check record_ends_threads threads
check record_ends_deadlocks deadlocks
check record_ends_no_deadlocks no_deadlocks
[ $failures -eq 0 ]
