#!/usr/bin/env bash
# What a recording leaves: signals while the trace is written, logs that are converted later, limits of length and time, files
# that may not grow, programs that give up their folder. Prints "[       OK ] name", or the reason and
# "[  FAILED  ] name". TEST_LENGTH=full: only the signals that a run without it leaves out.
. "$(dirname "$0")/support/in_scratch.sh"
export TMPDIR=$scratch/tmp
mkdir tmp
unset MAXRACE_CC MAXRACE_CXX

only() { # only FILE…: of what commands make, there are these files, the inputs beside a log, and nothing else.
    local found
    found=$(find . -name '*maxrace-*' -o -name '*.mrt*' -o -name '*.std*' | sort | beside_no_log | xargs)
    [ "$found" = "$*" ] || { echo "there is '$found' instead of '$*'"; return 1; }
}

beside_no_log() {
    local file
    while read -r file; do
        [[ $file == *.inputs ]] && [ -e "${file%.inputs}" ] || echo "$file"
    done
}

# In the background, a shell lets commands ignore SIGINT.
background() { env --default-signal=INT "$maxrace" "$@" 2>err & }

# program_ends PROCESS: until the recorder has no child any more.
program_ends() {
    wait_for done || return 1
    rm done
    while pgrep -P "$1" >/dev/null; do sleep 0.01; done
}

# wait_for GLOB: until such a file is there.
wait_for() {
    local i
    for ((i = 0; i < 600; i++)); do
        compgen -G "$1" >/dev/null && return
        sleep 0.05
    done
    echo "no $1"
    return 1
}

# The program ends when it is told to, so the signal comes while the trace is written.
long_log() {
    background record -o long.mrt ./crowd 200000
    local process=$!
    program_ends $process || return 1
    kill -"$1" $process
    wait $process
    [ $? -eq "$2" ] || { echo "ended otherwise"; cat err; return 1; }
}

# A signal in the conversion: the trace goes, the log stays, is named, and can be converted.
if [ "${TEST_LENGTH:-}" = full ]; then signals='2 1'; else signals=15; fi
signal_names_log() {
    local number log
    for number in $signals; do
        long_log $number $((128 + number)) || return 1
        log=$(sed -n 's/^maxrace: .*; the log stays: maxrace record --convert //p' err)
        [ -s "$log" ] || { cat err; return 1; }
        only "./${log##*/}" && "$maxrace" record -o later.mrt --convert "$log" && "$maxrace" order --relation hb --no-mark -q later.mrt >report
        [ $? -eq 1 ] && grep -q '^Static race 1 of .* on x' report && [ -s "$log" ] || { cat report; return 1; }
        rm "$log" "$log.inputs" later.mrt
    done
}

# The same with a child: each log that stays is named, and can be converted.
signal_names_logs_of_children() {
    local log process
    background record --follow-forks -o long.mrt ./crowd 200000 fork
    process=$!
    program_ends $process || return 1
    kill -TERM $process
    wait $process
    [ $? -eq 143 ] || { cat err; return 1; }
    sed -n 's/^maxrace: .*; the log stays: maxrace record --convert //p' err >named
    [ "$(wc -l <named)" = 2 ] && only $(sed 's|.*/|./|' named | sort) || { cat err; return 1; }
    while read -r log; do
        "$maxrace" record -o later.mrt --convert "$log" 2>err && "$maxrace" order --relation hb --no-mark -q later.mrt >report
        [ $? -eq 1 ] || { cat err report; return 1; }
        rm "$log" "$log.inputs" later.mrt
    done <named
    # When the trace of a child cannot be written, no log is lost.
    mkdir short.1.mrt
    "$maxrace" record --follow-forks -o short.mrt ./crowd 2000 fork 2>err
    [ $? -eq 4 ] && rmdir short.1.mrt || { cat err; return 1; }
    sed -n 's/^maxrace: the log stays: maxrace record --convert //p' err | sed 's|.*/|./|' | sort >named
    [ "$(wc -l <named)" = 2 ] && only $(cat named) && rm -f done $(sed p\;s/$/.inputs/ named) || { cat err; return 1; }
}

killed_recorder() {
    long_log 9 137 || return 1
    local log
    log=$(echo maxrace-log-??????)
    "$maxrace" record --convert "$log" 2>err && grep -q "^maxrace: $log.mrt: .* events of 4 threads" err && [ -s "$log.mrt" ] || { cat err; return 1; }
    rm -f long.mrt.* maxrace-log-*
}

convert_usage() {
    "$maxrace" record --convert crowd.c ./crowd 2>err
    [ $? -eq 2 ] && grep -qx "maxrace: --convert runs no program" err || return 1
    "$maxrace" record --convert crowd.c 2>err
    [ $? -eq 3 ] && grep -qx "crowd.c: this is no log of a recorded program" err && only || return 1
    "$maxrace" record --convert nothing 2>err
    [ $? -eq 4 ] && grep -q "^nothing: cannot read the log: No such file" err && only
}

# The other commands: nothing is left.
signals_leave_nothing() {
    local process
    "$maxrace" record -q -o source.mrt ./crowd 20000 && rm done || return 1
    mkfifo pipe.in
    for command in "convert pipe.in out.mrt" "exclude --pattern none pipe.in out.std" "compare -o out.std pipe.in"; do
        background $command
        process=$!
        exec 9>pipe.in # the command has opened it
        wait_for 'out.*' || return 1
        kill -TERM $process
        wait $process
        [ $? -eq 143 ] || { cat err; return 1; }
        exec 9>&-
        only ./source.mrt || return 1
    done
    rm source.mrt
    background run -o out.std --traces kept ./crowd 200000
    process=$!
    program_ends $process || return 1
    kill -TERM $process
    wait $process
    [ $? -eq 143 ] && only || return 1
    background run ./crowd 200000
    process=$!
    program_ends $process || return 1
    kill -INT $process
    wait $process
    [ $? -eq 130 ] && only && [ -z "$(ls tmp)" ] || { ls tmp; return 1; }
}

no_room() {
    "$maxrace" record -q -o source.mrt ./crowd 20000 || return 1
    (
        ulimit -f 16
        for command in "convert source.mrt out.mrt" "convert source.mrt out.std" "exclude --pattern none source.mrt out.mrt"; do
            "$maxrace" $command 2>said
            [ $? -eq 4 ] && { grep -v ': the pattern .none. matches' said >err; } && grep -qx 'out.[a-z]*: cannot write: File too large' err && [ "$(wc -l <err)" = 1 ] || { echo "$command"; cat err; exit 1; }
        done
    ) && rm said && only ./source.mrt && rm source.mrt done
}

max_log() {
    "$maxrace" record -o short.mrt --max-log 2M ./crowd 60000 2>err || return 1
    grep -q 'recording ended at --max-log; the program went on' err && "$maxrace" order --relation hb --no-mark -q short.mrt >report
    [ $? -eq 1 ] && [ "$(stat -c %s short.mrt)" -lt 20000000 ] || { cat err; return 1; }
    local events
    events=$("$maxrace" convert short.mrt - | grep -vc '^#')
    [ "$events" -lt 250000 ] && [ "$events" -gt 30000 ] || { echo "$events events"; return 1; }
    rm short.mrt done
    "$maxrace" record --max-log 2X ./crowd 2>err
    [ $? -eq 2 ] && grep -qx "maxrace: --max-log: '2X' is not a size such as 500M or 4G" err && only
}

# The program would never end; nor does it below a shell.
timeout_kills() {
    local start=$SECONDS
    "$maxrace" record -o endless.mrt --timeout 1 ./crowd 100 endless 2>err
    [ $? -eq 137 ] && grep -q 'the program was killed after --timeout' err && "$maxrace" predict -q endless.mrt >report
    [ $? -eq 1 ] && [ $((SECONDS - start)) -lt 30 ] || { cat err; return 1; }
    rm endless.mrt
    "$maxrace" record -o endless.mrt --timeout 1 -- sh -c './crowd 100 endless; true' 2>err
    [ $? -eq 137 ] && "$maxrace" predict -q endless.mrt >report
    [ $? -eq 1 ] && ! pgrep -f './crowd 100 endless$' || { cat err report; return 1; }
    rm endless.mrt
}

# A server that gives up its folder and its rights goes on being recorded.
jailed() {
    [ "$(id -u)" -eq 0 ] || return 0
    mkdir jail && "$maxrace" record -o jailed.mrt ./crowd 60000 jail 2>err || { cat err; return 1; }
    ! grep -q 'recording ended' err && [ "$("$maxrace" convert jailed.mrt - | grep -c '|acq(')" = 180000 ] || { cat err; return 1; }
    rm jailed.mrt && only
}

cat >crowd.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int x, rounds = 2000;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused)
{
    x++;
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&mu);
        x++;
        pthread_mutex_unlock(&mu);
    }
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t threads[3];
    if (argc > 1)
        rounds = atoi(argv[1]);
    pid_t child = argc > 2 && strcmp(argv[2], "fork") == 0 ? fork() : 1;
    if (child == 0)
        rounds = 50;
    if (argc > 2 && strcmp(argv[2], "jail") == 0 && (chroot("jail") != 0 || chdir("/") != 0 || setuid(65534) != 0))
        return 1;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    if (child == 0)
        return 0;
    if (child > 1)
        waitpid(child, 0, 0);
    if (argc > 2 && strcmp(argv[2], "endless") == 0)
        for (;;)
            sleep(1);
    close(open("done", O_CREAT | O_WRONLY, 0666));
    return 0;
}
END
build() { "$maxrace" cc -g -O0 -pthread crowd.c -o crowd; }

check record_leftovers_build build
check record_leftovers_signal_names_log signal_names_log
[ "${TEST_LENGTH:-}" != full ] || exit $((failures > 0))
check record_leftovers_signal_names_logs_of_children signal_names_logs_of_children
check record_leftovers_killed_recorder killed_recorder
check record_leftovers_convert_usage convert_usage
check record_leftovers_signals_leave_nothing signals_leave_nothing
check record_leftovers_no_room no_room
check record_leftovers_max_log max_log
check record_leftovers_timeout_kills timeout_kills
check record_leftovers_jailed jailed
[ $failures -eq 0 ]
