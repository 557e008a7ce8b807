#!/usr/bin/env bash
# A program that runs again begins with the descriptors of its recording: by replay, --script, --gdb, record --replay, run --confirm and
# in a hunt, from whatever shell. What cannot be given to it again is told.
# Prints "[       OK ] name", or the reason and "[  FAILED  ] name".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
maxrace=$(realpath "${BUILD:-build/release}/maxrace")
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. tests/support/check.sh

# It tells which numbers are open, and which one it gets next; what it does depends on that.
cat >"$scratch/begin.c" <<'END_OF_C'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static int turns, x;
static void *work(void *unused)
{
    x++;
    return unused;
}
int main(void)
{
    pthread_t thread;
    char byte = '-';
    for (int number = 0; number < 300; number++)
        if (fcntl(number, F_GETFD) >= 0)
            printf("%d ", number);
    int mine = open("/dev/null", O_RDONLY);
    long length = read(4, &byte, 1);
    printf("new %d, read %ld %c\n", mine, length, byte);
    for (int i = 0; i < mine; i++)
        turns++;
    pthread_create(&thread, NULL, work, NULL);
    x++;
    pthread_join(thread, NULL);
    return 0;
}
END_OF_C
# It has a socket of another process as descriptor 9, writes and sends a file to it, and shuts it down.
cat >"$scratch/socket.c" <<'END_OF_C'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>
static int x;
static void *work(void *unused)
{
    x++;
    return unused;
}
int main(int count, char **words)
{
    pthread_t thread;
    int ends[2];
    char text[8] = "";
    if (count > 1) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || dup2(ends[1], 9) < 0 || write(ends[0], "hello", 5) != 5)
            return 1;
        close(ends[1]);
        execvp(words[1], words + 1);
        return 1;
    }
    long got = read(9, text, 5), put = write(9, "abc", 3);
    pthread_create(&thread, NULL, work, NULL);
    x++;
    pthread_join(thread, NULL);
    put += send(9, "defg", 4, 0);
    off_t at = 1;
    put += sendfile(9, open("data", O_RDONLY), &at, 3);
    int shut = shutdown(9, SHUT_WR);
    printf("read %ld %s, wrote %ld, offset %ld, shut %d\n", got, text, put, (long)at, shut);
    return 0;
}
END_OF_C

cd "$scratch" || exit 1
exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-
fail() { echo "$1:"; cat "${@:2}"; return 1; }
# same FILE: one of its lines is what the recorded program said.
same() { grep -qE -- "^( +stdout )?$(cat recorded)\$" "$1" || fail "not '$(cat recorded)'" "$1"; }

build() { "$maxrace" cc -g -O0 begin.c -o begin && "$maxrace" cc -g -O0 socket.c -o socket && printf abcdef >data; }
# The replay has more descriptors than the recording.
more() {
    "$maxrace" record -q -o few.mrt -- ./begin >recorded &&
        { "$maxrace" replay -q few.mrt 3</dev/null 4<data 7>/dev/null 12</dev/null >said 2>&1; [ $? -eq 1 ]; } || fail "status" said || return
    grep -q ': confirmed' said && ! grep -q 'stands for' said && same said || fail "not confirmed" said
}
# … or fewer: files are opened again, where they stood.
fewer() {
    { "$maxrace" record -q -o many.mrt -- ./begin >recorded; } 3</dev/null 4< <(:) 6<data 13<data || return
    grep -q '3 4 .*6 .*13 ' recorded || fail "not inherited" recorded || return
    "$maxrace" replay -q many.mrt >said 2>&1
    grep -q ': confirmed' said && same said && grep -q 'stands for each: 4 (pipe)' said || fail "not the same" said || return
    { read -r -N 2 -u 4 _ && "$maxrace" record -q -o offset.mrt -- ./begin >recorded; } 4<data || return
    "$maxrace" replay -q offset.mrt >said 2>&1
    grep -q 'read 1 c' recorded && same said && ! grep -q 'stands for' said || fail "not where it stood" recorded said || return
    mv data moved
    "$maxrace" replay -q offset.mrt >said 2>&1
    mv moved data
    grep -q "stands for each: 4 (file $(pwd -P)/data)" said && same said || fail "a file is gone" said || return
    "$maxrace" record -q --record-inputs no -o bare.mrt -- ./begin >recorded 4<data && "$maxrace" replay -q bare.mrt >said 2>&1
    same said
}
script() {
    { "$maxrace" record -q -o many.mrt -- ./begin >recorded; } 3</dev/null 4<data 5< <(:) 14<data || return
    "$maxrace" replay -q --race 1 --script s.sh many.mrt 2>said
    ./s.sh >said 2>&1 6</dev/null 15</dev/null
    grep -q '^outcome goal' said && same said && grep -q 'stands for descriptor 5 (pipe)' said || fail "the script" said || return
    "$maxrace" record -q --replay s.sh.schedule -o again.mrt >said 2>errors 6</dev/null
    same said && grep -q 'stands for each: 5 (pipe)' errors || fail "record --replay" said errors || return
    "$maxrace" replay -q again.mrt >said 2>&1
    grep -q ': confirmed' said && same said || fail "the recorded replay" said
}
debugger() {
    echo continue >commands
    timeout -k 2 60 "$maxrace" replay -q --race 1 --gdb many.mrt <commands >said 2>&1 7</dev/null
    grep -q 'race-first: thread' said && same said || fail "gdb" said
}
confirm() {
    "$maxrace" run -q --confirm -- ./begin >said 2>&1 4<data 5</dev/null
    grep -q 'replay  confirmed: yes' said || fail "run --confirm" said
}
# A hunt that goes on, and its findings, have the descriptors that it began with.
hunt() {
    "$maxrace" hunt -q --runs 2 --dir one.hunt ./begin >said 2>&1 4<data 5< <(:)
    cp one.hunt/first-output recorded
    "$maxrace" hunt -q --resume one.hunt --runs 6 ./begin >said 2>errors 6</dev/null
    grep -q 'stands for each: 5 (pipe)' errors || fail "resumed" said errors || return
    for finding in one.hunt/findings/*; do
        "$maxrace" replay "$finding" >said 2>&1 6</dev/null
        grep -q ' repeated' said && same said || fail "$finding" said || return
    done
    for run in one.hunt/behaviours/*; do
        [ "$(grep -acE '^fd (4|5) ' "$run")" = 2 ] && ! grep -aqE '^fd 6 ' "$run" || fail "descriptors of $run" /dev/null || return
    done
}
# What goes to a socket that the program inherited is not sent again, and has the result that it had.
inherited_socket() {
    ./socket "$maxrace" record -q -o socket.mrt -- ./socket >recorded && "$maxrace" replay -q socket.mrt >said 2>&1
    grep -q 'wrote 10, offset 4, shut 0' recorded && grep -q 'stands for each: .*9 (socket)' said && same said || fail "the socket" recorded said
}
# Of a recording that does not say which they were, that is told.
older() {
    "$maxrace" record -q -o few.mrt -- ./begin >recorded || return
    "$maxrace" replay -q --race 1 --script old.sh few.mrt
    grep -v '^fd ' old.sh.schedule >older.schedule
    "$maxrace" record -q --replay older.schedule -o old.mrt >said 2>errors 4<data
    grep -q 'did not keep which descriptors' errors || fail "an older schedule" said errors
}

check replay_descriptors_build build
check replay_descriptors_more more
check replay_descriptors_fewer fewer
check replay_descriptors_script script
needs gdb replay_descriptors_debugger && check replay_descriptors_debugger debugger
check replay_descriptors_confirm confirm
check replay_descriptors_hunt hunt
check replay_descriptors_socket inherited_socket
check replay_descriptors_older older
[ $failures -eq 0 ]
