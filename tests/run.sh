#!/usr/bin/env bash
# tests/run.sh BUILD…: runs the test programs of the given build folders (one for each tests/test_*.c), then the
# test scripts tests/check_*.sh once, with the first folder, and ends with the line "N passed, N failed".
#
# Programs run side by side, TEST_JOBS (default: the number of processors) at a time, and are stopped after
# TEST_LIMIT_SECONDS (default 900). A program that crashes, hangs, is missing, or runs no test counts as one failed test.
set -u
cd "$(dirname "$0")/.." || exit 1
limit_seconds=${TEST_LIMIT_SECONDS:-900}

# run_one BUILD PROGRAM COUNTS: runs it, prints one line or the whole story, and appends "passed failed" to COUNTS.
run_one() {
    local build=$1 program=$2 counts=$3 start=$SECONDS output status ok bad
    output=$(MAXRACE="$build/maxrace" BUILD="$build" timeout -k 10 "$limit_seconds" "$program" 2>&1 </dev/null)
    status=$?
    ok=$(grep -c '^\[       OK \]' <<<"$output")
    # cmocka names a failed test twice: where it fails, and at the end.
    bad=$(grep '^\[  FAILED  \] [^ ]*$' <<<"$output" | sort -u | wc -l)
    if [ $status -eq 124 ] || [ $status -eq 137 ]; then output+=$'\n'"stopped after $limit_seconds s"; fi
    if [ $status -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
    if [ $status -eq 0 ] && [ "$ok" -eq 0 ] && ! grep -q '^\[  SKIPPED \]' <<<"$output"; then
        bad=1 output+=$'\nit ran no test'
    fi
    if [ "$bad" -gt 0 ]; then
        output=$(grep -v '^\[ RUN\|^\[       OK' <<<"$output")
        printf '%s\nFAILED  %s: %d passed, %d failed, exit status %d\n' "$output" "$program" "$ok" "$bad" $status
    else
        printf 'ok      %s: %d passed, %d s\n' "$program" "$ok" $((SECONDS - start))
    fi
    echo "$ok $bad" >>"$counts"
}

if [ "${1:-}" = --one ]; then
    shift
    run_one "$@"
    exit
fi

counts=$(mktemp) || exit 1
trap 'rm -f "$counts"' EXIT
[ $# -gt 0 ] || { echo "usage: tests/run.sh BUILD…" >&2; exit 2; }
for build in "$@"; do
    for source in tests/test_*.c; do
        name=${source##*/}
        printf '%s\0%s\0%s\0' "$build" "$build/tests/${name%.c}" "$counts"
    done
done | xargs -0 -n 3 -P "${TEST_JOBS:-$(nproc)}" "$0" --one
for script in tests/check_*.sh; do
    run_one "$1" "$script" "$counts"
done
awk '{ passed += $1; failed += $2 }
     END { printf "%d passed, %d failed\n", passed, failed; exit !(passed > 0 && failed == 0) }' "$counts"
