#!/usr/bin/env bash
# Programs that end badly: what record, run and predict say of it, and their exit statuses. Prints "[       OK ] name", or the
# reason and "[  FAILED  ] name".
set -u
cd "$(dirname "$0")/.." || exit 1
maxrace=$(realpath "${BUILD:-build/release}/maxrace")
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

cat >ending.c <<'END'
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
static int x, *nowhere;
static void *work(void *unused) { x++; return unused; }
int main(int argc, char **argv)
{
    pthread_t a;
    const char *how = argc > 1 ? argv[1] : "";
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
build() { "$maxrace" cc -g -O0 -pthread ending.c -o ending; }

check record_ends_build build
check record_ends_crashes crashes
check record_ends_other_ends other_ends
[ $failures -eq 0 ]
