#!/usr/bin/env bash
# The wrappers of libc (runtime/libc): the page about them, that each has a function behind it, that each records what the
# function accesses and no byte more, and that a recorded program gets the same results. TEST_LENGTH=full: also with clang.
# Prints "[       OK ] name", or the reason and "[  FAILED  ] name".
set -u
cd "$(dirname "$0")/.." || exit 1
maxrace=$(realpath "${BUILD:-build/release}/maxrace") library=$(realpath "${BUILD:-build/release}/libmaxrace_rt.so")
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. tests/support/check.sh
unset MAXRACE_CC MAXRACE_CXX
if [ "${TEST_LENGTH:-}" = full ]; then compilers='gcc clang'; else compilers=gcc; fi

document() { diff docs/libc.md <(tests/libc_table.sh) || { echo 'docs/libc.md is not what tests/libc_table.sh writes'; return 1; }; }

# Each function of the table is exported by the library, and libc has it.
names() {
    tests/libc_table.sh --names | sort >"$scratch/names"
    [ "$(wc -l <"$scratch/names")" -gt 400 ] && [ -z "$(uniq -d "$scratch/names")" ] || { uniq -d "$scratch/names"; return 1; }
    nm -D --defined-only "$library" | awk '{ print $3 }' | sort -u | comm -23 "$scratch/names" - | sed 's/$/: has no wrapper/' >"$scratch/without"
    ! grep . "$scratch/without" && gcc tests/libc/names.c -o "$scratch/find" -ldl && "$scratch/find" <"$scratch/names"
}

# build COMPILER SOURCE FLAG…: as programs are built that are recorded.
build() {
    local compiler=$1 source=$2
    shift 2
    MAXRACE_CC=$compiler "$maxrace" cc -std=gnu17 -w -g -pthread "$@" "$source" -o "$scratch/program" -lm
}

accesses() {
    build "$1" tests/libc/accesses.c -O0 -fno-builtin -lcrypt && "$scratch/program" expected | sort >"$scratch/expected" || return 1
    (cd "$scratch" && "$maxrace" record -o trace.mrt -- ./program >/dev/null 2>said) || { cat "$scratch/said"; return 1; }
    "$maxrace" predict -q --report-shown 0 "$scratch/trace.mrt" >"$scratch/report"
    sed -n 's/^Race .* on \([a-z0-9_]*\).*/\1/p' "$scratch/report" | sort -u | diff "$scratch/expected" -
}

# The same output without instrumentation, instrumented, and recorded. Without optimisation no read sees what nobody wrote; with
# it gcc copies short texts itself, without a trace.
results() {
    local compiler=$1
    shift
    "$compiler" -std=gnu17 -w -pthread "$@" tests/libc/results.c -o "$scratch/plain" -lm && build "$compiler" tests/libc/results.c "$@" || return 1
    (cd "$scratch" && ./plain >expected && ./program | diff expected -) || return 1
    (cd "$scratch" && "$maxrace" record --record-local -o trace.mrt -- ./program >output 2>said)
    diff "$scratch/expected" "$scratch/output" && [ "$(wc -l <"$scratch/expected")" -gt 150 ] || return 1
    [[ $* == *-O2* ]] || ! grep 'no recorded write\|no trace can have\|makes no sense\|recorded nothing' "$scratch/said"
}

# Calls that fail leave the error that they leave in the plain program, with inputs in the trace and without.
errors() {
    gcc -w -pthread tests/libc/errors.c -o "$scratch/plain" && build gcc tests/libc/errors.c || return 1
    (cd "$scratch" && ./plain >expected && "$maxrace" record -q -o trace.mrt -- ./program >output && diff expected output &&
        "$maxrace" record -q --record-inputs no -o trace.mrt -- ./program >output && diff expected output && [ "$(wc -l <expected)" -gt 90 ])
}

# Without a lock each numbered line races with the same of the other thread, with it nothing does.
shared() {
    local number=$1 expected
    shift
    build gcc tests/libc/shared.c -O0 "$@" || return 1
    "$maxrace" record -o "$scratch/trace.mrt" -- "$scratch/program" 2>"$scratch/said" || { cat "$scratch/said"; return 1; }
    ! grep 'a call that is not known' "$scratch/said" || return 1
    "$maxrace" predict -q --report-shown 0 "$scratch/trace.mrt" >"$scratch/report"
    expected=$(seq 1 "$number")
    [ "$(sed -n 's/^  \(first\|second\) .* at [^ ]*shared\.c:\([0-9]*\):.*/\2/p' "$scratch/report" |
        while read -r line; do sed -n "$line s/.*\/\* \([1-9]\) \*\/.*/\1/p" tests/libc/shared.c; done | sort -u)" = "$expected" ] || { cat "$scratch/report"; return 1; }
    [ "$number" -gt 0 ] || grep -q '^0 races\|no race\|No race' "$scratch/report"
}

check libc_document document
check libc_names names
for compiler in $compilers; do
    needs "$compiler" "libc_accesses_$compiler" "libc_results_$compiler" || continue
    check "libc_accesses_$compiler" accesses "$compiler"
    check "libc_results_$compiler" results "$compiler" -O0 -fno-builtin
    check "libc_results_fortified_$compiler" results "$compiler" -O2 -D_FORTIFY_SOURCE=2
done
check libc_errors errors
check libc_shared shared 5
check libc_shared_locked shared 0 -DLOCKED
[ $failures -eq 0 ]
