#!/usr/bin/env bash
# check_threads.sh [tsan|far|helgrind]...: what threads do together under ThreadSanitizer (build/thread) and Helgrind (the plain build): no report, and the same
# results. far: test_far_jobs under ThreadSanitizer, which takes as long as all others together. LONG=1: on more traces, and the pool recorded by maxrace itself, which finds no race in it. Prints "[       OK ] name", or the reason and "[  FAILED  ] name".
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/support/check.sh
build=${BUILD:-build/release}
if [ -n "${LONG:-}" ]; then tsan_traces=600 far_traces=12 far_threads=0 helgrind_traces=36; else tsan_traces=8 far_traces=1 far_threads=3 helgrind_traces=2; fi

# under_tsan TRACES PROGRAM; exit status 66: a report.
under_tsan() {
    JOBS_TRACES=$1 JOBS_REPEATED=$1 JOBS_DEFERRED=$((10 * $1)) FAR_JOBS_TRACES=$1 FAR_JOBS_THREADS=$far_threads MRT_ROUNDS=$((10 * $1)) STREAM_TEXTS=$((($1 + 29) / 30)) SWEEP_ROUNDS=$((($1 + 29) / 30)) TSAN_OPTIONS="suppressions=tests/tsan.txt exitcode=66 ignore_noninstrumented_modules=1" \
        "$2" 2>&1 | tail -60
    return "${PIPESTATUS[0]}"
}

# Without a fair scheduler one thread that looks again and again may keep the others from running. check-all asks for full lengths.
under_helgrind() {
    JOBS_TRACES=$1 JOBS_REPEATED=$1 JOBS_DEFERRED=$((10 * $1)) valgrind --fair-sched=try --tool=helgrind --error-exitcode=66 --suppressions=tests/helgrind.txt -q "$2" 2>&1 | tail -60
    return "${PIPESTATUS[0]}"
}

# A race in one seed's run is a race.
on_itself() {
    local pool=$1
    "$build/maxrace" cc -std=gnu17 -O1 -g -Isrc -D_POSIX_C_SOURCE=200809L src/base/{assert,pool,thread,memory,error}.c \
        tests/test_pool.c -o "$pool" -pthread -lcmocka || return 1
    "$build/maxrace" run --runs 2 --candidates-far none -- "$pool" 2>&1 | tail -60
    return "${PIPESTATUS[0]}"
}

[ $# -gt 0 ] || set -- tsan far helgrind
for part in "$@"; do
    case $part in
    tsan)
        for name in pool jobs facts mrt mrt_content trace_stream sweep json_items report_many; do
            check tsan_$name under_tsan "$tsan_traces" build/thread/tests/test_$name
        done
        ;;
    far) check tsan_far_jobs under_tsan "$far_traces" build/thread/tests/test_far_jobs ;;
    helgrind)
        for name in pool jobs; do
            needs valgrind helgrind_$name && check helgrind_$name under_helgrind "$helgrind_traces" "$build/tests/test_$name"
        done
        ;;
    esac
done
if [ -n "${LONG:-}" ]; then
    scratch=$(mktemp -d) || exit 1
    trap 'rm -rf "$scratch"' EXIT
    check maxrace_on_itself on_itself "$scratch/pool"
fi
[ $failures -eq 0 ]
