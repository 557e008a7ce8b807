#!/usr/bin/env bash
# replay --sandbox: what a replayed program writes, creates, renames and removes is told, and the real files stay; as this user, and
# as root also as another one. hunt --sandbox: each run begins with the same files. Skipped where there are no namespaces or no overlayfs.
# Prints "[       OK ] name", or the reason and "[  FAILED  ] name".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
maxrace=$(realpath "${BUILD:-build/release}/maxrace")
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. tests/support/check.sh
export TMPDIR=$scratch/tmp
unset MAXRACE_CC MAXRACE_CXX
mkdir "$scratch/tmp" "$scratch/place"
chmod 755 "$scratch"
chmod 1777 "$scratch/tmp"
tests='sandbox_stays sandbox_tells sandbox_json sandbox_keeps sandbox_confirm sandbox_folder sandbox_gdb sandbox_script sandbox_other_user sandbox_others_files sandbox_hunt sandbox_refused sandbox_leaves_nothing'

# Can somebody lay a file system over a folder here?
possible() {
    mkdir -p "$scratch/probe/"{lower,upper,work,at}
    # shellcheck disable=SC2016 # the script's own words
    local try='cd "$0" && mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work,userxattr overlay at'
    unshare -m sh -c "$try" "$scratch/probe" 2>/dev/null || unshare -Um --map-root-user sh -c "$try" "$scratch/probe" 2>/dev/null
}
if ! possible; then
    for name in $tests; do skip "$name" "there are no namespaces or no overlayfs"; done
    exit 0
fi

cat >"$scratch/files.c" <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
static int turn;
static void *first(void *unused) { turn = 1; return unused; }
static void *second(void *unused) { turn = 2; return unused; }
static void put(const char *path, const char *mode, const char *text, int number)
{
    FILE *file = fopen(path, mode);
    if (file)
        fprintf(file, text, number);
    if (file)
        fclose(file);
}
int main(int count, char **words)
{
    pthread_t one, two;
    (void)words;
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&two, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    put("result.txt", "w", "of the run\nlast %d\n", turn);
    put("old.txt", "a", "more\n", 0);
    put("same.txt", "r+", "same\n", 0);
    if (count > 1 && rename("branch", "moved") == 0)
        if (!fopen("moved/leaf.txt", "w"))
            raise(SIGSEGV);
    rename("name.txt", "renamed.txt");
    unlink("gone.txt");
    mkdir("folder", 0755);
    put("folder/in.txt", "w", "in\n", 0);
    put("\377.txt", "w", "no UTF-8\n", 0);
    unlink("tree/leaf.txt");
    rmdir("tree");
    mkdir("tree", 0755);
    return 0;
}
END
# The files of the program, as they are before it runs.
lay_out() {
    rm -rf "$scratch/place" && mkdir -p "$scratch/place/tree" "$scratch/place/branch" && cd "$scratch/place" || return 1
    echo old >old.txt && echo name >name.txt && echo gone >gone.txt && echo same >same.txt && echo leaf >tree/leaf.txt
}
prepare() {
    "$maxrace" cc -g -O1 "$scratch/files.c" -o "$scratch/files" && lay_out &&
        "$maxrace" record -q -o "$scratch/files.mrt" -- "$scratch/files" && lay_out && state >"$scratch/before"
}
# All files, with their content.
state() { (cd "$scratch/place" && find . -printf '%p %y %m %s\n' | sort && find . -type f -exec sh -c 'cat "$0"' {} \; | sort); }
stay() { diff "$scratch/before" <(state) || { echo 'the files are other ones'; return 1; }; }
# replays FLAG…: a replay with the sandbox reaches its goal; its report is $scratch/report.
replays() {
    timeout -k 5 120 "$maxrace" replay --sandbox "$@" "$scratch/files.mrt" >"$scratch/report" 2>&1 </dev/null
    [ $? -eq 1 ] || { cat "$scratch/report"; return 1; }
}
has() { grep -qF -- "$1" "$scratch/report" || { echo "no '$1' in:"; cat "$scratch/report"; return 1; }; }
lacks() { ! grep -F -- "$1" "$scratch/report"; }

stays() { replays && stay; }
tells() {
    has "confirmed, changes the output" &&
        has "file $scratch/place/result.txt: 'last 2' with the first access first, 'last 1' with the second access first" &&
        has '      created result.txt' && has '      changed old.txt' && has '      removed name.txt' && has '      created renamed.txt' &&
        has '      removed gone.txt' && has '      created folder/in.txt' && has '      created \xff.txt' && has '      removed tree/leaf.txt' && lacks same.txt
}
in_json() {
    replays --format json && stay && has '"kept": null' && has "\"path\": \"$scratch/place/renamed.txt\"" && has '"change": "removed"' &&
        has "\"path\": \"$scratch/place/\\\\xff.txt\""
}
keeps() {
    replays --keep-sandbox "$scratch/kept" && stay && has "what the runs write is in $scratch/kept" &&
        grep -q 'last 2' "$scratch/kept/race-1-first/files$scratch/place/result.txt" &&
        grep -q 'last 1' "$scratch/kept/race-1-second/files$scratch/place/result.txt" &&
        [ -d "$scratch/kept/race-1-first/files$scratch/place/folder" ] && ! find "$scratch/kept/race-1-first/files" -type d -empty | grep -v "$scratch/place" &&
        [ "$(ls "$scratch/kept")" = $'again\nrace-1-first\nrace-1-second\nrecorded' ] &&
        ! "$maxrace" replay -q "$scratch/files.mrt" --keep-sandbox "$scratch/kept" >"$scratch/report" 2>&1 && has 'not empty' &&
        [ -d "$scratch/kept/again" ] && rm -rf "$scratch/kept"
}
confirms() {
    "$maxrace" run -q --confirm --sandbox -- "$scratch/files" >"$scratch/report" 2>&1
    has 'confirmed: yes; changes the output' || return 1
    [ "$(cat old.txt)" = $'old\nmore' ] || { echo 'not written once'; cat old.txt; return 1; } # by the recorded run
    lay_out
}
in_gdb() {
    "$maxrace" replay --sandbox --race 1 --gdb "$scratch/files.mrt" <<<'continue' >"$scratch/report" 2>&1
    has 'race-first: thread' && has 'second (' && has 'exited normally' && stay
}
# refuses STATUS PATTERN COMMAND…
refuses() {
    local status=$1 pattern=$2
    shift 2
    "$@" >"$scratch/report" 2>&1 </dev/null
    [ $? -eq "$status" ] || { echo "another status than $status"; cat "$scratch/report"; return 1; }
    has "$pattern" && [ "$(wc -l <"$scratch/report")" -eq 1 ] && stay
}
script() {
    refuses 2 'is not for --script' "$maxrace" replay --sandbox --race 1 --script "$scratch/script" "$scratch/files.mrt" &&
        [ ! -e "$scratch/script" ] && refuses 2 'replays of --confirm' "$maxrace" run --sandbox -- "$scratch/files"
}
# Nobody may make namespaces: nothing is run.
no_namespaces() {
    # shellcheck disable=SC2016 # the script's own words
    refuses 4 'this user may not make a namespace' unshare -U --map-root-user sh -c \
        'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set -all --inh-caps -all "$@"' sh "$maxrace" replay --sandbox "$scratch/files.mrt"
}

# As another user: only a user namespace gives what is needed.
another() { setpriv --reuid=54321 --regid=54321 --clear-groups "$@"; }
other_user() {
    chown -R 54321:54321 "$scratch/place" "$scratch/files.mrt"
    another timeout -k 5 120 "$maxrace" replay --sandbox "$scratch/files.mrt" >"$scratch/report" 2>&1 </dev/null
    tells && stay
}
# Files and folders of other users and groups, which this one may change.
others_files() {
    chown 0:0 old.txt && chmod 666 old.txt && chgrp 0 . && chmod 775 . && state >"$scratch/before" && other_files_run
}
other_files_run() {
    another timeout -k 5 120 "$maxrace" replay --sandbox "$scratch/files.mrt" >"$scratch/report" 2>&1 </dev/null
    tells && stay
}
# overlayfs does not rename a folder that was there: what comes of it says nothing of the race.
folder() {
    "$maxrace" record -q -o "$scratch/branch.mrt" -- "$scratch/files" branch && lay_out || return 1
    "$maxrace" replay --sandbox "$scratch/branch.mrt" >"$scratch/report" 2>&1 </dev/null
    has 'Race 1 of 1 on turn: confirmed' && lacks 'confirmed, ' && has 'cannot change files as in the recording: rename' &&
        has 'effect  not known: with the first access first' && lay_out
}
# A program that counts its runs in a file prints the same in each run of a hunt, and in the replay of what was found.
hunts() {
    cat >"$scratch/count.c" <<'END'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int order;
static void *digit(void *number)
{
    pthread_mutex_lock(&lock);
    order = order * 2 + *(int *)number;
    pthread_mutex_unlock(&lock);
    return NULL;
}
int main(void)
{
    int runs = 0, numbers[2] = {0, 1};
    pthread_t threads[2];
    FILE *file = fopen("runs", "r+");
    if (!file || fscanf(file, "%d", &runs) != 1)
        return 9;
    rewind(file);
    fprintf(file, "%d\n", runs + 1);
    fclose(file);
    printf("run %d\n", runs);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, digit, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return order;
}
END
    "$maxrace" cc -g -O1 -w -pthread "$scratch/count.c" -o "$scratch/count" && mkdir -p "$scratch/counts" && cd "$scratch/counts" && echo 5 >runs || return 1
    "$maxrace" hunt -q --sandbox --jobs 2 --runs 12 --dir "$scratch/counts.hunt" -- "$scratch/count" >"$scratch/report" 2>&1 </dev/null
    [ $? -eq 1 ] && [ "$(cat runs)" = 5 ] && lacks 'output (run' && has ' exit (run' || return 1
    "$maxrace" replay "$scratch/counts.hunt/findings/"*-exit >"$scratch/report" 2>&1
    has 'exit repeated' && has 'run 5' && [ "$(cat runs)" = 5 ] || return 1
    "$maxrace" hunt -q --sandbox --exhaustive -- "$scratch/count" >"$scratch/report" 2>&1 </dev/null
    has 'all 2 behaviours' && [ "$(cat runs)" = 5 ] || return 1
    "$maxrace" hunt -q --runs 2 --dir "$scratch/counts.free" -- "$scratch/count" >/dev/null 2>&1 </dev/null
    [ "$(cat runs)" != 5 ] && rm -r "$scratch/counts.free" "$scratch/counts.hunt"
}
nothing_left() { [ -z "$(ls -A "$scratch/tmp")" ] || { ls -lR "$scratch/tmp"; return 1; }; }

if output=$(prepare 2>&1); then
    cd "$scratch/place" || exit 1
    check sandbox_stays stays
    check sandbox_tells tells
    check sandbox_json in_json
    check sandbox_keeps keeps
    check sandbox_confirm confirms
    cd "$scratch/place" || exit 1
    check sandbox_folder folder
    cd "$scratch/place" || exit 1
    needs gdb sandbox_gdb && check sandbox_gdb in_gdb
    check sandbox_script script
    check sandbox_hunt hunts
    cd "$scratch/place" || exit 1
    if unshare -U --map-root-user sh -c 'echo 0 >/proc/sys/user/max_user_namespaces' 2>/dev/null; then
        check sandbox_refused no_namespaces
    else
        skip sandbox_refused "there are no user namespaces"
    fi
    if [ "$(id -u)" -ne 0 ]; then
        skip sandbox_other_user "this user is not root"
        skip sandbox_others_files "this user is not root"
    elif ! another test -x "$maxrace" || ! another unshare -Um true 2>/dev/null; then
        skip sandbox_other_user "another user cannot run maxrace, or has no namespaces"
        skip sandbox_others_files "another user cannot run maxrace, or has no namespaces"
    else
        chown -R 54321:54321 "$scratch/place" "$scratch/files.mrt"
        check sandbox_other_user other_user
        check sandbox_others_files others_files
    fi
    check sandbox_leaves_nothing nothing_left
else
    printf '%s\n[  FAILED  ] sandbox_prepare\n' "$output"
    failures=1
fi
exit $((failures > 0))
