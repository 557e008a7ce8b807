#!/usr/bin/env bash
# Runs every test program of the given build folders and ends with the line "N passed, N failed".
# A program that crashes or is stopped by its time limit counts as one failed test.
set -u
cd "$(dirname "$0")/.."
limit_seconds=${TEST_LIMIT_SECONDS:-900}
passed=0 failed=0
for build in "$@"; do
    for program in "$build"/tests/test_*; do
        case $program in *.o | *.d) continue ;; esac
        [ -x "$program" ] || continue
        output=$(MAXRACE="$build/maxrace" timeout "$limit_seconds" "$program" 2>&1)
        status=$?
        ok=$(grep -c '^\[       OK \]' <<<"$output")
        bad=$(grep -c '^\[  FAILED  \] [A-Za-z_]*$' <<<"$output")
        if [ $status -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
        if [ $status -eq 0 ] && [ "$ok" -eq 0 ]; then
            bad=1 output+=$'\nthe program ran no test'
        fi
        passed=$((passed + ok)) failed=$((failed + bad))
        if [ "$bad" -gt 0 ]; then
            echo "$output" | grep -v '^\[ RUN\|^\[       OK'
            echo "FAILED  $program: $ok passed, $bad failed, exit status $status"
        else
            echo "ok      $program: $ok passed"
        fi
    done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
