#!/usr/bin/env bash
# After the goal a replay may wait more often for descriptors than its recording did. Such waits take virtual time, and who comes back from
# them when does not depend on the processors: what the program does is the same in each replay. And a run that has no end costs no more than its time.
# Prints "[       OK ] name", or the reason and "[  FAILED  ] name".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
maxrace=$(realpath "${BUILD:-build/release}/maxrace")
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. tests/support/check.sh

# With the accesses to `seen` in the other order the main thread waits as its argument says, while the other one sleeps for 93 ms.
cat >"$scratch/waits.c" <<'END_OF_C'
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>
static int seen, ends[2];
static const char *how;
static pthread_t main_thread;
static volatile sig_atomic_t handled;
static void handler(int number)
{
    handled = number;
}
static void *worker(void *unused)
{
    seen = 1;
    for (int i = 0; i < 30; i++)
        usleep(3100);
    if (strcmp(how, "signal") == 0)
        pthread_kill(main_thread, SIGUSR1);
    else if (strcmp(how, "hangup") == 0)
        close(ends[1]);
    else
        write(ends[1], "x", 1);
    return unused;
}
/* Waits for 5 ms (read: 20), or until something is there; 0: the time is over. */
static int wait_once(int set)
{
    char byte;
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    struct timeval limit = {0, 5000};
    fd_set reads;
    struct epoll_event event;
    const struct timespec short_time = {0, 5000000};
    if (strcmp(how, "poll") == 0)
        return poll(&one, 1, 5);
    if (strcmp(how, "ppoll") == 0)
        return ppoll(&one, 1, &short_time, NULL);
    if (strcmp(how, "epoll_pwait") == 0)
        return epoll_pwait(set, &event, 1, 5, NULL);
    if (strcmp(how, "epoll") == 0)
        return epoll_wait(set, &event, 1, 5);
    FD_ZERO(&reads);
    FD_SET(ends[0], &reads);
    if (strcmp(how, "hangup") == 0)
        return select(ends[0] + 1, NULL, NULL, &reads, &limit);
    if (strcmp(how, "pselect") == 0)
        return pselect(ends[0] + 1, &reads, NULL, NULL, &short_time, NULL);
    if (strcmp(how, "select") == 0) {
        /* It says how much of the time is left. */
        while (limit.tv_sec > 0 || limit.tv_usec > 0) {
            fd_set asked = reads;
            int result = select(ends[0] + 1, &asked, NULL, NULL, &limit);
            if (result != 0)
                return result;
        }
        return 0;
    }
    int got = (int)read(ends[0], &byte, 1);
    return got < 0 && errno == EAGAIN ? 0 : got;
}
int main(int count, char **words)
{
    pthread_t thread;
    int ticks = 0, set = epoll_create1(0), result = 1;
    struct timeval limit = {0, 20000}; /* the kernel counts it in ticks of up to 10 ms */
    struct epoll_event event = {.events = EPOLLIN};
    struct sigaction action = {.sa_handler = handler};
    how = words[count - 1];
    main_thread = pthread_self();
    sigaction(SIGUSR1, &action, NULL);
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    if (strcmp(how, "read") == 0)
        setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event);
    pthread_create(&thread, NULL, worker, NULL);
    if (seen == 0)
        while ((result = wait_once(set)) == 0 && (strcmp(how, "hangup") != 0 || ticks < 60))
            ticks++;
    int error = result < 0 ? errno : 0;
    pthread_join(thread, NULL);
    printf("%d ticks, result %d %s, signal %d\n", ticks, result, error != 0 ? strerror(error) : "", handled != 0);
    return 0;
}
END_OF_C

build() {
    MAXRACE_CC=gcc "$maxrace" cc -g -O0 -pthread "$scratch/waits.c" -o "$scratch/waits"
}
# record HOW: the first of some seeds with which the main thread does not wait.
record() {
    for seed in 1 2 3 4 5 6 7 8; do
        timeout -k 5 60 "$maxrace" record -q --seed $seed -o "$scratch/$1.mrt" -- "$scratch/waits" "$1" >"$scratch/$1.txt" 2>&1 </dev/null
        ! grep -q '^0 ticks, result 1 ,' "$scratch/$1.txt" || return 0
    done
    cat "$scratch/$1.txt"
    return 1
}
# replay HOW: what the program prints in the other order, three times.
replay() {
    for _ in 1 2 3; do
        timeout -k 5 60 "$maxrace" replay -q --format json --race 1 "$scratch/$1.mrt" </dev/null >"$scratch/$1.json" 2>&1
        grep -o '"stdout": ".*"' "$scratch/$1.json" | grep -v '"0 ticks, result 1 ,' || { cat "$scratch/$1.json"; return 1; }
    done
}
# same HOW TEXT: each time this.
same() {
    record "$1" && replay "$1" >"$scratch/all" && [ "$(grep -c "\"stdout\": \"$2" "$scratch/all")" -eq 3 ] || { cat "$scratch/all"; return 1; }
}
# In one order the program has no end, and logs millions of events each second until it is killed. Nobody reads them: of 2 s of them that
# would take 10 s of processor time.
endless() {
    local seed user system TIMEFORMAT='%U %S'
    cat >"$scratch/spins.c" <<'END'
#include <pthread.h>
static volatile int last, count;
static void *one(void *none)
{
    last = 1;
    return none;
}
static void *two(void *none)
{
    last = 2;
    return none;
}
int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, two, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    while (last == 1)
        count++;
    return 0;
}
END
    "$maxrace" cc -g -O1 "$scratch/spins.c" -o "$scratch/spins" || return 1
    for seed in 1 2 3 4; do "$maxrace" record -q --timeout 5 --seed $seed -o "$scratch/spins.mrt" -- "$scratch/spins" && break; done
    read -r user system < <({ time timeout -k 5 60 "$maxrace" replay -q --timeout 2 "$scratch/spins.mrt" >"$scratch/spins.txt" 2>&1; } 2>&1)
    grep -q 'effect  it does not end in time with the' "$scratch/spins.txt" && awk -v a="$user" -v b="$system" 'BEGIN { exit a + b > 4 }' ||
        { cat "$scratch/spins.txt"; echo "$user s and $system s of the system"; return 1; }
}

check replay_waits_endless endless
if check replay_waits_build build; then
    # 18 limits of 5 ms end in 93 ms, whatever events take.
    check replay_waits_poll same poll '18 ticks, result 1 , signal 0'
    check replay_waits_epoll same epoll '18 ticks, result 1 , signal 0'
    check replay_waits_ppoll same ppoll '18 ticks, result 1 , signal 0'
    check replay_waits_epoll_pwait same epoll_pwait '18 ticks, result 1 , signal 0'
    check replay_waits_pselect same pselect '18 ticks, result 1 , signal 0'
    check replay_waits_select same select '18 ticks, result 1 , signal 0'
    # The other end is closed after 93 ms, which is no exceptional condition: no wait is shorter or longer for that.
    check replay_waits_hangup same hangup '60 ticks, result 0 , signal 0'
    check replay_waits_read same read '4 ticks, result 1 , signal 0'
    check replay_waits_signal same signal '0 ticks, result -1 Interrupted system call, signal 1'
fi
[ $failures -eq 0 ]
