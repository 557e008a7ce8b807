#!/usr/bin/env bash
# tests/peer.sh on a small suite of its own: what it reads from comments, and its table and counts. Prints "[       OK ] name", or
# the reason and "[  FAILED  ] name".
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build/release}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. tests/support/check.sh
unset MAXRACE_CC MAXRACE_CXX
suite=$scratch/suite
mkdir "$suite"

# program NAME RUN…: standard input is its code; %D stands for "ThreadSanitizer".
program() {
    local name=$1 line
    shift
    { for line in "$@"; do echo "// RUN: $line"; done; sed 's/%D/ThreadSanitizer/'; } >"$suite/$name"
}

threads='
#include <pthread.h>
#include <stdio.h>
int shared;
static void *change(void *unused) { shared = 1; return unused; }
int main(int count, char **arguments)
{
    (void)arguments;
    pthread_t thread;
    pthread_create(&thread, NULL, change, NULL);
    if (count > 1)
        shared = 2;
    pthread_join(thread, NULL);
    puts("the end");
    return 0;
}'
program both.c '%clang_tsan -O1 %s -o %t' '%deflake %run %t race 2>&1 | FileCheck %s' \
    '%run %t 2>&1 | FileCheck %s --check-prefix=SAFE' <<<"$threads
// CHECK: WARNING: %D: data race
// SAFE-NOT: WARNING: %D: data race
// SAFE: the end"
program told.c '%clang_tsan -O1 %s -o %t' 'echo race:change >%t.list' "%env_tsan_opts=suppressions='%t.list' %run %t race 2>&1 | FileCheck %s" <<<"$threads
// CHECK-NOT: WARNING: %D: data race
// CHECK: the end"
program lines.cpp '%clangxx_tsan %s -o \' '  %t && %run %t | FileCheck %s' <<<"$threads
// CHECK: not the end"
program ends.c '%clang_tsan %s -o %t && not %run %t' <<<'int main(void) { return 1; }'
program crashes.c '%clang_tsan %s -o %t && not %run %t 2>&1 | FileCheck %s' <<<'#include <stdlib.h>
int main(void) { abort(); }
// CHECK-NOT: %D'
program broken.c '%clang_tsan %s -o %t && %run %t' <<<'int main(void) { return missing(); }'
program elsewhere.c '%clang_tsan %s -o %t && %run %t' <<<'// REQUIRES: another-system
int main(void) { return 0; }'

program counts.c '%clang_tsan %s -o %t && %run %t | FileCheck %s' <<<"#include <stdio.h>
int main(void)
{
    FILE *file = fopen(\"$scratch/count\", \"a\");
    return file == NULL || fputs(\"run\\n\", file) < 0 || fclose(file) != 0;
}
// CHECK-NOT: %D"

# rows PATTERN…: each has a line in the table.
rows() {
    local pattern
    for pattern in "$@"; do
        grep -qE -- "$pattern" "$scratch/table" || { echo "no '$pattern':"; cat "$scratch/table"; return 1; }
    done
}

refuses() {
    ! tests/peer.sh "$scratch/nothing" 2>/dev/null && ! tests/peer.sh --wrong "$suite" 2>/dev/null
}

# One run of ThreadSanitizer, and a recording with each seed while nothing is found.
seeds() {
    rm -f "$scratch/count"
    BUILD=$build tests/peer.sh --seeds 3 --only 'counts*' "$suite" >"$scratch/counts" && [ "$(wc -l <"$scratch/count")" = 4 ] || { cat "$scratch/counts" "$scratch/count"; return 1; }
}

# The rows alone, and the page of them: what has no explanation is an error, and says so.
page() {
    local status
    BUILD=$build tests/peer.sh --tsv --only '[bl]*' "$suite" >"$scratch/rows.tsv" || return 1
    grep -q "^both\.c SAFE	none	silent	silent	$" "$scratch/rows.tsv" || { cat "$scratch/rows.tsv"; return 1; }
    tests/peer/page.sh "$scratch/rows.tsv" >"$scratch/page"
    status=$?
    [ $status -eq 1 ] && grep -qF '| race | maxrace-gcc | 1 |' "$scratch/page" &&
        grep -qF '| `lines.cpp` | none | output | output | not explained |' "$scratch/page" && ! grep -q 'both.*explained' "$scratch/page" ||
        { echo "status $status"; cat "$scratch/page"; return 1; }
}

BUILD=$build tests/peer.sh "$suite" >"$scratch/table" 2>&1
check peer_races rows '^both\.c +race +found +found' '^both\.c SAFE +none +silent +silent'
check peer_output rows "^lines\.cpp +none +output +output +does not print 'not the end'"
check peer_suppressions rows '^told\.c +none +silent +silent'
check peer_statuses rows '^ends\.c +none +silent +silent' '^crashes\.c +none +crashes +crashes +status 134'
check peer_builds rows '^broken\.c +none +not built +not built +(error|undefined)' '^  elsewhere\.c.needs another-system'
check peer_counts rows '^race +maxrace-gcc +1 found$' '^none +tsan-gcc .*4 silent'
check peer_refuses refuses
check peer_seeds seeds
check peer_page page
[ "$failures" -eq 0 ]
