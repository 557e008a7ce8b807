#!/usr/bin/env bash
# Replays the findings of tests/programs: records each NAME-race with one seed, predicts, and runs it by every witness. Each
# race must reach its goal, at the first try (some: at the second) and with the values of the trace. It takes the programs whose name has a checksum
# that is 0 modulo 12, and those where a thread stops inside a call; with TEST_LENGTH=full all, with three seeds, and then 20 replays of some must be the same, but for processes.
# Then: divergences and what they say, --stop-at, --script, --gdb, record --replay.
# Each program is a test: prints "[       OK ] name", or the reason and "[  FAILED  ] name". REPLAY_ONLY=pattern chooses programs.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
maxrace=$(realpath "${BUILD:-build/release}/maxrace")
if [ "${TEST_LENGTH:-}" = full ]; then seeds='1 2 3'; else seeds=1; fi

# Programs with races that do not reach their goal, and why; docs/replay.md says more.
declare -A cannot=(
    [annotated-rwlock-race.c]='a lock that the recording was told to ignore keeps the accesses apart'
    [condition-destroy-race.c]='a thread is not stopped between the wake-up that its signal makes and its last use of the condition variable'
    [fiber-race.c]='fibers are not steered'
    [queue-annotated-race.c]='a loop waits by reads that are ignored for a write that is not recorded'
    [std-atomic-ptr-race.cpp]='who is first to ask for a lock of libstdc++ does more'
)

# Programs where a replay goes past a stop inside a call of libc, whose place is that of the call, and stops before the call the next time.
inside_a_call=' hash-table-race.c tree-race.c '

# replay TRACE FLAG…: the replay as JSON; every race must be confirmed.
replay() {
    timeout -k 5 120 "$maxrace" replay -q --format json "$@" </dev/null
}

# one SOURCE FOLDER: all about one program; prints what is wrong.
one() {
    local source=$1 folder=$2 seed command=cc standard=-std=gnu17 too_many='[2-9]'
    mkdir -p "$folder"
    [[ $inside_a_call != *" $(basename "$source") "* ]] || too_many='[3-9]'
    case $source in *.cpp) command=c++ standard=-std=c++20 ;; esac
    MAXRACE_CC=gcc MAXRACE_CXX=g++ "$maxrace" $command $standard -g -O0 -pthread "$source" $(flags_of "$source") -o "$folder/program" || return 1
    for seed in $seeds; do
        timeout -k 5 60 "$maxrace" record -q --seed "$seed" -o "$folder/one.mrt" -- "$folder/program" >"$folder/said" 2>&1 </dev/null
        [ $? -lt 124 ] || { cat "$folder/said"; return 1; }
        replay "$folder/one.mrt" >"$folder/replay.json" 2>"$folder/said" || [ $? -eq 1 ] || { cat "$folder/said"; return 1; }
        ! grep -qE '"confirmed": "diverged"|"value_expected"|"replays": ('"$too_many"'|1[0-9])' "$folder/replay.json" ||
            { echo "seed $seed:"; grep -vE '"std(out|err)"' "$folder/replay.json"; return 1; }
    done
}

if [ "${1:-}" = --one ]; then
    . tests/support/check.sh
    source=$2 folder=$3 name=$(basename "$2")
    title=replay_${name//[.-]/_}
    if [ -n "${cannot[$name]:-}" ]; then
        echo "[  SKIPPED ] $title: ${cannot[$name]}"
    elif ! has_library "$source" "$title"; then
        :
    elif output=$(one "$source" "$folder" 2>&1); then
        echo "[       OK ] $title"
    else
        printf '%s\n[  FAILED  ] %s\n' "$output" "$title"
    fi
    rm -rf "$folder"
    exit
fi

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. tests/support/check.sh
in_share() { case $1 in */text-race.c | */wide-race.c | */descriptor-race.c | */spin-unlock-race.c | */list-part-race.cpp) return 0 ;; esac; [ $(($(basename "$1" | cksum | cut -d ' ' -f 1) % 12)) -eq 0 ]; }

# ---- one program, in every way ----

cat >"$scratch/bank.c" <<'END'
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int money, input;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *first(void *unused)
{
    money += 1;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return unused;
}
static void *second(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    if (input)
        input++;
    money += 2;
    return unused;
}
int main(int count, char **words)
{
    FILE *file = count > 1 ? fopen(words[1], "r") : NULL;
    if (file) {
        input = fgetc(file) == 'x';
        fclose(file);
    }
    pthread_t one, two;
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&two, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf("%d\n", money);
    if (count > 2)
        assert(money == 3);
    return 0;
}
END
prepare() {
    "$maxrace" cc -g -O0 "$scratch/bank.c" -o "$scratch/bank" && echo - >"$scratch/data" &&
        (cd "$scratch" && "$maxrace" record -q -o bank.mrt -- ./bank data >/dev/null)
}
# says PATTERN COMMAND…: its output has the pattern.
says() {
    local pattern=$1 output
    shift
    output=$("$@" 2>&1 </dev/null)
    grep -q -- "$pattern" <<<"$output" || { echo "no '$pattern' in:"; echo "$output"; return 1; }
}
effect() { says 'confirmed, changes the output' "$maxrace" replay -q "$scratch/bank.mrt" && says "'3' with the first access first" "$maxrace" replay -q "$scratch/bank.mrt"; }
crash() {
    (cd "$scratch" && "$maxrace" record -q -o crash.mrt -- ./bank data strict >/dev/null) || return 1
    says 'confirmed, crashes' "$maxrace" replay -q "$scratch/crash.mrt" && says 'Assertion' "$maxrace" replay -q "$scratch/crash.mrt"
}
# The data that it reads are other ones: it gets those that it had. Without them another operation comes.
inputs() {
    (cd "$scratch" && "$maxrace" record -q --record-inputs no -o bare.mrt -- ./bank data >/dev/null) || return 1
    echo x >"$scratch/data"
    says 'confirmed, changes the output' "$maxrace" replay -q "$scratch/bank.mrt" &&
        says 'diverged: another operation' "$maxrace" replay -q "$scratch/bare.mrt" && says 'expected  *read in second at' "$maxrace" replay -q "$scratch/bare.mrt"
    local status=$?
    echo - >"$scratch/data"
    return $status
}
other_build() {
    cp "$scratch/bank" "$scratch/bank.kept"
    "$maxrace" cc -g -O1 "$scratch/bank.c" -o "$scratch/bank" || return 1
    says 'another build than the recorded one' "$maxrace" replay -q "$scratch/bank.mrt"
    local status=$?
    mv "$scratch/bank.kept" "$scratch/bank"
    return $status
}
older_trace() {
    "$maxrace" convert -q "$scratch/bank.mrt" "$scratch/text.std" && "$maxrace" convert -q "$scratch/text.std" "$scratch/again.mrt" || return 1
    says 'lacks the positions of its events' "$maxrace" replay -q "$scratch/again.mrt"
}
# stops_before PATTERN: at the first event of the witness that has it, not the first of all.
stops_before() {
    local event
    event=$("$maxrace" predict -q "$scratch/bank.mrt" | awk -v pattern="$1" '$1 ~ /^[0-9]+$/ && $1 > 0 && $0 ~ pattern { print $1; exit }')
    [ -n "$event" ] && says 'stands before' "$maxrace" replay -q --race 1 --stop-at "$event" "$scratch/bank.mrt"
}
# The begin of a thread is no operation: it stops before its first one.
stop_at() {
    says 'the witness has no event 9999' "$maxrace" replay -q --race 1 --stop-at 9999 "$scratch/bank.mrt" &&
        stops_before 'acq.lock' && stops_before 'begin..'
}
# The last line of predict is a command that replays the race: by the settings of the prediction, of a file with any name. Of a
# trace that cannot be replayed it is another one.
next_step() {
    local line
    cp "$scratch/bank.mrt" "$scratch/it's one.mrt" && cd "$scratch" || return 1
    line=$("$maxrace" predict -q --model rf --window-size 300 "it's one.mrt" | tail -n 1)
    [ "$line" = "Next: run the program by that schedule: maxrace replay 'it'\\''s one.mrt' --race 1 --model rf --window-size 300" ] ||
        { echo "$line"; return 1; }
    says 'confirmed, changes the output' sh -c "\"$maxrace\" ${line#*: maxrace } -q" &&
        "$maxrace" convert -q bank.mrt no-positions.mrt && "$maxrace" predict -q --format json -o results.json bank.mrt
    says '^Next: --format html' "$maxrace" predict -q no-positions.mrt && says '^Next: --format html' "$maxrace" run -q ./bank data &&
        says '^Next: run the program by that schedule: maxrace replay bank.mrt --race 1$' "$maxrace" report --format text results.json
}
script() {
    "$maxrace" replay -q --race 1 --script "$scratch/race.sh" "$scratch/bank.mrt"
    rm "$scratch/bank.mrt"
    says 'outcome goal' "$scratch/race.sh"
}
record_replay() {
    (cd "$scratch" && "$maxrace" record -q --replay race.sh.schedule -o again.mrt >/dev/null) || return 1
    says 'Race 1 of' "$maxrace" predict -q "$scratch/again.mrt"
}
# A schedule with a line that makes no sense is refused with the number of that line.
damaged_schedule() {
    local line wrong
    (cd "$scratch" && head -n 1 race.sh.schedule && echo 'wake 0 0 0' && sed 1d race.sh.schedule) >"$scratch/early.schedule"
    says ': line 2 makes no sense$' env -C "$scratch" "$maxrace" record -q --replay early.schedule -o early.mrt || return 1
    line=$(sed -n '/^at 0 /{=;q}' "$scratch/race.sh.schedule")
    for wrong in 'task 0 9999 0 0' 'task 0' 'task 0 9999 99 0' 'handler 0 9999'; do
        sed "${line}a $wrong" "$scratch/race.sh.schedule" >"$scratch/wrong.schedule"
        says ": line $((line + 1)) makes no sense$" env -C "$scratch" "$maxrace" record -q --replay wrong.schedule -o wrong.mrt || { echo "$wrong"; return 1; }
    done
}
debugger() {
    echo 'continue' >"$scratch/commands"
    timeout -k 2 60 "$maxrace" replay -q --race 1 --gdb "$scratch/bank.mrt" <"$scratch/commands" >"$scratch/gdb" 2>&1
    # gdb begins a new line before a long path.
    grep -q 'race-first: thread' "$scratch/gdb" && grep -q ' in first (' "$scratch/gdb" && grep -q ' at .*/bank.c:9$' "$scratch/gdb" && grep -q '^3$' "$scratch/gdb" || { cat "$scratch/gdb"; return 1; }
}
# A program may walk over its environment: in a script that is as long as it was.
script_environment() {
    cat >"$scratch/walk.c" <<'END'
#include <pthread.h>
static int x, variables;
static void *work(void *unused)
{
    x++;
    return unused;
}
int main(void)
{
    extern char **environ;
    pthread_t thread;
    for (char **one = environ; *one; one++)
        variables++;
    pthread_create(&thread, NULL, work, NULL);
    x++;
    pthread_join(thread, NULL);
    return 0;
}
END
    (cd "$scratch" && "$maxrace" cc -g -O0 walk.c -o walk && "$maxrace" record -q -o walk.mrt -- ./walk && "$maxrace" replay -q --race 1 --script walk.sh walk.mrt
        says 'outcome goal' ./walk.sh)
}
# Findings beside races: both threads of a deadlock stand before their locks, and then it happens; freed memory is used.
findings() {
    cat >"$scratch/dead.c" <<'END'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int *block;
static void *both(pthread_mutex_t *outer, pthread_mutex_t *inner)
{
    pthread_mutex_lock(outer);
    pthread_mutex_lock(inner);
    pthread_mutex_unlock(inner);
    pthread_mutex_unlock(outer);
    return NULL;
}
static void *one(void *unused)
{
    *block = 3;
    (void)unused;
    return both(&a, &b);
}
static void *two(void *unused)
{
    (void)unused;
    return both(&b, &a);
}
int main(void)
{
    pthread_t first, second;
    block = malloc(400);
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, two, NULL);
    pthread_join(second, NULL);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    free(block);
    pthread_join(first, NULL);
    return 0;
}
END
    (cd "$scratch" && "$maxrace" cc -g -O0 dead.c -o dead || exit 1
        for seed in 1 2 3 4 5 6 7 8; do
            "$maxrace" record -q --seed $seed -o dead.mrt -- ./dead && "$maxrace" replay -q dead.mrt >dead.txt
            echo "seed $seed" >>dead.txt
            grep -q ', deadlock on' dead.txt && grep -q ', use-after-free on' dead.txt && break
        done
        cat dead.txt)
    grep -q ', deadlock on .*: confirmed, deadlocks' "$scratch/dead.txt" &&
        grep -q '^Finding 1 of .*, use-after-free on .*: confirmed, changes state' "$scratch/dead.txt" || return 1
    # Each with what became of it, where a run is confirmed.
    seed=$(sed -n 's/^seed //p' "$scratch/dead.txt")
    (cd "$scratch" && "$maxrace" run -q --confirm --seed "$seed" -- ./dead >confirmed.txt
        "$maxrace" run -q --confirm --seed "$seed" --format json -- ./dead >confirmed.json
        grep -q 'deadlock.*confirmed: yes, deadlocks' confirmed.txt && grep -q 'replay  confirmed: yes; changes state' confirmed.txt || { cat confirmed.txt; exit 1; }
        line=$(tr -d '\n ' <confirmed.json)
        grep -q '"kind":"deadlock".*"confirmed":"yes","effect":"deadlocks"' <<<"$line" || { cat confirmed.json; exit 1; }) || return 1
    # One of them alone, as a script and in a debugger.
    (cd "$scratch" && "$maxrace" replay -q --finding 1 dead.mrt >one.txt
        [ "$(grep -c '^Finding' one.txt)" = 1 ] && ! grep -q '^Race' one.txt || { cat one.txt; exit 1; }
        says 'finding 99: there are' "$maxrace" replay -q --finding 99 dead.mrt &&
            says 'not for --race' "$maxrace" replay -q --finding 1 --race 1 dead.mrt || exit 1
        "$maxrace" replay -q --finding 1 --script dead.sh dead.mrt
        says 'outcome goal' ./dead.sh)
}
finding_debugger() {
    local number
    number=$(sed -n 's/^Finding \([0-9]*\) of .*, deadlock on .*/\1/p' "$scratch/dead.txt")
    echo 'continue' >"$scratch/commands"
    timeout -k 2 60 "$maxrace" replay -q --finding "$number" --gdb "$scratch/dead.mrt" <"$scratch/commands" >"$scratch/gdb" 2>&1
    grep -q 'race-first: thread' "$scratch/gdb" && grep -q 'race-second: thread' "$scratch/gdb" || { cat "$scratch/gdb"; return 1; }
}
# run --confirm: in text and JSON.
confirm() {
    (cd "$scratch" && says 'replay  confirmed: yes; changes the output' "$maxrace" run -q --confirm -- ./bank data &&
        says '"confirmed":"yes"' "$maxrace" run -q --confirm --format json -- ./bank data &&
        says 'confirm is not for --quick' "$maxrace" run --quick --confirm -- ./bank data)
}
# Twenty replays say the same.
same() {
    local number
    for number in $(seq 20); do
        replay "$scratch/bank.mrt" >"$scratch/now.json"
        [ "$number" -gt 1 ] || mv "$scratch/now.json" "$scratch/then.json"
        [ "$number" -eq 1 ] || cmp "$scratch/then.json" "$scratch/now.json" || return 1
    done
}
# A JSON report of predict stands for the trace and the settings.
of_report() {
    (cd "$scratch" && { "$maxrace" predict -q --format json --model rf bank.mrt >results.json; [ $? -eq 1 ]; } &&
        says 'Race 1 of .*confirmed' "$maxrace" replay -q --race 1 results.json &&
        says 'made with model rf, and here it is branch' "$maxrace" replay -q --model branch results.json &&
        echo '{}' >none.json && says 'no JSON report of predict' "$maxrace" replay -q none.json &&
        sed 's/"events": *[0-9]*/"events": 1/' results.json >other.json && says 'not the trace of the report' "$maxrace" replay -q other.json)
}
# What a program does may depend on time and on addresses. It gets both again; without inputs the time is another one.
time_and_addresses() {
    cat >"$scratch/when.c" <<'END'
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static int x, odd, later;
static void *work(void *unused)
{
    x++;
    return unused;
}
int main(void)
{
    struct timespec now;
    long before = 0;
    pthread_t thread;
    char *block = malloc(100);
    clock_gettime(CLOCK_MONOTONIC, &now);
    FILE *file = fopen("when", "r");
    if (file) {
        if (fscanf(file, "%ld", &before) == 1 && before != now.tv_nsec)
            later++;
        fclose(file);
    } else {
        file = fopen("when", "w");
        fprintf(file, "%ld\n", now.tv_nsec);
        fclose(file);
    }
    if ((uintptr_t)block >> 4 & 1)
        odd++;
    pthread_create(&thread, NULL, work, NULL);
    x++;
    pthread_join(thread, NULL);
    free(block);
    return 0;
}
END
    (cd "$scratch" && "$maxrace" cc -g -O0 when.c -o when.run && rm -f when && "$maxrace" record -q -o when.mrt -- ./when.run &&
        says '1 of 1 confirmed' "$maxrace" replay -q when.mrt &&
        rm -f when && "$maxrace" record -q --record-inputs no -o when.mrt -- ./when.run &&
        says 'diverged: another operation, main (T0), after' "$maxrace" replay -q when.mrt &&
        says 'seen      .* in main at when.c:2' "$maxrace" replay -q when.mrt)
}
# Without inputs a block of another size comes before: the next one has another address. That is told, and the goal is reached.
other_address() {
    cat >"$scratch/moved.c" <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static char *block, *seen;
static void *work(void *unused)
{
    seen = block;
    return unused;
}
int main(void)
{
    size_t bytes = 0;
    pthread_t thread;
    FILE *file = fopen("bytes", "r");
    if (!file || fscanf(file, "%zu", &bytes) != 1)
        return 1;
    fclose(file);
    block = malloc(bytes);
    block = malloc(64);
    pthread_create(&thread, NULL, work, NULL);
    block++;
    pthread_join(thread, NULL);
    return 0;
}
END
    (cd "$scratch" && "$maxrace" cc -g -O0 moved.c -o moved && echo 64 >bytes && "$maxrace" record -q --record-inputs no -o moved.mrt -- ./moved &&
        ! "$maxrace" replay -q moved.mrt | grep -q 'another value' && echo 9000 >bytes && "$maxrace" replay -q moved.mrt >moved.txt
        says '[1-9] confirmed' cat moved.txt && says 'a read or write had another value than in the trace' cat moved.txt &&
            says 'expected  write in main at moved.c:19:[0-9]*, value 0x1' cat moved.txt && says 'seen      write in main at moved.c:19:[0-9]*, value 0x1' cat moved.txt)
}
# What a mapped file has is not an input. The program asks for another input then; both are told, and what is not given again.
other_input() {
    cat >"$scratch/mapped.c" <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
static int x;
static void *work(void *unused)
{
    x++;
    return unused;
}
int main(void)
{
    pthread_t thread;
    struct timespec now;
    char random;
    int file = open("map", O_RDONLY);
    const char *map = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, file, 0);
    if (map == MAP_FAILED)
        return 1;
    if (map[0] == 'a')
        clock_gettime(CLOCK_MONOTONIC, &now);
    else if (getrandom(&random, 1, 0) != 1)
        return 1;
    pthread_create(&thread, NULL, work, NULL);
    x++;
    pthread_join(thread, NULL);
    return 0;
}
END
    (cd "$scratch" && "$maxrace" cc -g -O0 mapped.c -o mapped && echo a >map && "$maxrace" record -q -o mapped.mrt -- ./mapped &&
        says '1 of 1 confirmed' "$maxrace" replay -q mapped.mrt && echo b >map && "$maxrace" replay -q mapped.mrt >mapped.txt
        says 'diverged: another input, main (T0)' cat mapped.txt && says 'expected  a look at clock 1' cat mapped.txt &&
            says 'seen      a call of function' cat mapped.txt && says 'not given to the program again: files mapped into memory' cat mapped.txt)
}
# Calls that change files have the results that they had, though the files are there already; what failed is not done now.
changed_files() {
    cat >"$scratch/files.c" <<'END'
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
static int x, odd;
static void *work(void *unused)
{
    x++;
    return unused;
}
static void note(int is_odd)
{
    if (is_odd)
        odd++;
}
int main(void)
{
    pthread_t thread;
    note(mkdir("made", 0700));
    note(mkdir("made", 0700) == 0 || errno != EEXIST);
    note(symlink("made", "link"));
    note(rename("old", "made/new"));
    note(link("made/new", "kept"));
    note(truncate("kept", 1));
    note(chmod("kept", 0640));
    note(unlink("gone") == 0 || errno != ENOENT);
    FILE *log = fopen("log", "a"); /* it goes to the end: that is no input of its own */
    FILE *given = fopen("given", "r");
    note(!log || fputs("line\n", log) < 0 || fclose(log) != 0);
    note(!given || fgetc(given) != 'a');
    int only = open("only", O_RDWR | O_CREAT | O_EXCL, 0600); /* they are there in the replay, and begin anew */
    FILE *own = fopen("own", "w+x");
    note(write(only, "ab", 2) != 2 || lseek(only, 0, SEEK_CUR) != 2 || open("only", O_RDWR | O_CREAT | O_EXCL, 0600) >= 0);
    note(!own || fputs("own", own) < 0 || fseek(own, 0, SEEK_END) != 0 || ftell(own) != 3 || fclose(own) != 0);
    pthread_create(&thread, NULL, work, NULL);
    x++;
    pthread_join(thread, NULL);
    return odd;
}
END
    (cd "$scratch" && "$maxrace" cc -g -O0 files.c -o files && echo old >old && echo a >given && "$maxrace" record -q -o files.mrt -- ./files && touch gone && echo b >given &&
        says '1 of 1 confirmed' "$maxrace" replay -q files.mrt && [ -e gone ] &&
        rm -r made link kept && says '1 of 1 confirmed' "$maxrace" replay -q files.mrt && [ -d made ] && [ -L link ] && [ -e gone ])
}
# Where the witness has reads of the pipe between a look at its end and the write of one call (seeds 4 and 13).
pipe_closed() {
    local seed
    "$maxrace" cc -g -O0 -pthread tests/programs/pipe-closed-race.c -o "$scratch/pipe-closed" || return 1
    for seed in 4 13; do
        "$maxrace" record -q --seed "$seed" -o "$scratch/pipe-closed.mrt" -- "$scratch/pipe-closed" &&
            "$maxrace" replay "$scratch/pipe-closed.mrt" >"$scratch/said" 2>&1
        grep -q '^1 of 1 confirmed' "$scratch/said" || { cat "$scratch/said"; return 1; }
    done
}

# Random numbers of libc and of libstdc++ are what they were: the program takes a way that depends on each bit. It closes all
# descriptors first, as daemons do; that of the inputs is not its own.
random_numbers() {
    cat >"$scratch/random.h" <<'END'
#include <pthread.h>
static int x, ones;
static void *work(void *unused)
{
    x++;
    return unused;
}
static void count(unsigned bits)
{
    for (; bits != 0; bits &= bits - 1)
        ones++;
}
static int race(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    x++;
    pthread_join(thread, NULL);
    return 0;
}
END
    cat >"$scratch/random.c" <<'END'
#include <stdlib.h>
#include <unistd.h>
#include "random.h"
int main(void)
{
    unsigned bits[4];
    for (int i = 3; i < 1024; i++)
        close(i);
    arc4random_buf(bits, sizeof bits);
    for (int i = 0; i < 4; i++)
        count(bits[i]);
    for (int i = 0; i < 4; i++)
        count(arc4random());
    for (int i = 0; i < 4; i++)
        count(arc4random_uniform(1U << 31));
    return race();
}
END
    cat >"$scratch/random.cpp" <<'END'
#include <random>
#include "random.h"
int main()
{
    std::random_device device, other("/dev/urandom");
    for (int i = 0; i < 4; i++)
        count(device() ^ other());
    return race();
}
END
    (cd "$scratch" && "$maxrace" cc -g -O0 random.c -o random && "$maxrace" record -q -o random.mrt -- ./random &&
        says '1 of 1 confirmed' "$maxrace" replay -q random.mrt && "$maxrace" c++ -g -O0 random.cpp -o random && "$maxrace" record -q -o random.mrt -- ./random &&
        says '1 of 1 confirmed' "$maxrace" replay -q random.mrt)
}
# What the recording needs outlives a program that closes or takes all descriptors, each in another way: the random numbers after
# that are inputs.
all_descriptors() {
    cat >"$scratch/all.c" <<'END'
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int x;
static void *work(void *unused)
{
    x++;
    return unused;
}
static int is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}
static void listed(void)
{
    DIR *folder = opendir("/proc/self/fd");
    for (struct dirent *one; (one = readdir(folder)) != NULL;)
        if (atoi(one->d_name) > 2 && atoi(one->d_name) != dirfd(folder))
            close(atoi(one->d_name));
    closedir(folder);
}
static void taken(void)
{
    for (int i = 3; i < 1010; i++)
        if (dup2(2, i) != i || (i % 2 && dup3(1, i, O_CLOEXEC) != i))
            exit(7);
    for (int i = 3; i < 1010; i++)
        if (!is_open(i))
            exit(8);
}
static void copied(void)
{
    for (int i = 3; i < 1024; i++)
        if (dup(i) >= 0 || fcntl(i, F_DUPFD, 3) >= 0 || fcntl(i, F_DUPFD_CLOEXEC, 3) >= 0 || dup2(i, 3) >= 0)
            exit(9);
}
int main(int count, char **words)
{
    unsigned bits[4];
    pthread_t thread;
    int first = open("/dev/null", O_RDONLY), ends[2];
    if (pipe(ends) != 0 || fcntl(first, F_DUPFD, 40) != 40)
        return 2;
    switch (words[1][0]) {
    case 'r':
        if (close_range(ends[0], ~0U, 0) != 0 || !is_open(first) || close_range(5, 4, 0) == 0)
            return 3;
        break;
    case 'f':
        closefrom(first);
        break;
    case 'l':
        listed();
        break;
    default:
        taken();
        closefrom(3);
        copied();
    }
    if (is_open(ends[0]) || is_open(ends[1]) || is_open(40) || (words[1][0] != 'r' && is_open(first)))
        return 4;
    arc4random_buf(bits, sizeof bits);
    for (int i = 0; i < 128; i++)
        if (bits[i / 32] >> i % 32 & 1)
            x++;
    pthread_create(&thread, NULL, work, NULL);
    x++;
    pthread_join(thread, NULL);
    return count - 2;
}
END
    (cd "$scratch" && "$maxrace" cc -g -O0 all.c -o all || exit 1
        for fd in /proc/$BASHPID/fd/*; do # those of the test that the program would have, too
            fd=${fd##*/}
            [ "$fd" -lt 3 ] || [ "$fd" -eq 255 ] || eval "exec $fd>&-"
        done
        for way in range from listed taken; do
            ./all $way && "$maxrace" record -q -o all.mrt -- ./all $way && says '1 of 1 confirmed' "$maxrace" replay -q all.mrt || { echo "$way: $?"; exit 1; }
        done)
}
# The streams of a replay are files of its own. The program sees the flags that they had: those of a file that is written from its
# begin, and then those of a pipe; and those that it set itself.
stream_flags() {
    cat >"$scratch/flags.c" <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static int x, more, changed;
static void *work(void *unused)
{
    x++;
    return unused;
}
int main(void)
{
    pthread_t thread;
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    if ((flags & O_APPEND) != 0 || (flags & O_ACCMODE) != O_WRONLY)
        more++;
    if (fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK) == 0 && (fcntl(STDOUT_FILENO, F_GETFL) & O_NONBLOCK) != 0)
        changed++;
    pthread_create(&thread, NULL, work, NULL);
    x++;
    pthread_join(thread, NULL);
    return fcntl(-1, F_GETFL) != -1 || changed != 1;
}
END
    (cd "$scratch" && "$maxrace" cc -g -O0 flags.c -o flags && "$maxrace" record -q -o flags.mrt -- ./flags >flags.out &&
        says '1 of 1 confirmed' "$maxrace" replay -q flags.mrt && { "$maxrace" record -q -o flags.mrt -- ./flags || echo failed; } | cat >flags.out &&
        [ ! -s flags.out ] && says '1 of 1 confirmed' "$maxrace" replay -q flags.mrt)
}
# The program counts its runs where nobody looks: in the one of this number it does something else. A signal for maxrace, in the first run
# of the second race, ends the replays with what they have; another operation keeps the second order from its goal.
counted() {
    cat >"$scratch/counted.c" <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static int x, y, more;
static void *work(void *unused)
{
    x++;
    y++;
    return unused;
}
int main(int count, char **arguments)
{
    pthread_t thread;
    long runs = syscall(SYS_openat, AT_FDCWD, "runs", O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (count != 3 || syscall(SYS_write, runs, "x", 1) != 1)
        return 1;
    int wanted = atoi(arguments[1]), number = atoi(arguments[2]);
    if (syscall(SYS_lseek, runs, 0, SEEK_CUR) == wanted) {
        if (number == 0)
            more++;
        else if (syscall(SYS_kill, syscall(SYS_getppid), number) == 0)
            for (;;)
                syscall(SYS_pause);
    }
    pthread_create(&thread, NULL, work, NULL);
    x++;
    y++;
    pthread_join(thread, NULL);
    return 0;
}
END
    (cd "$scratch" && "$maxrace" cc -g -O0 counted.c -o counted)
}
# stops SIGNAL COMMAND…: it ends so, with status 5. What was ignored where this runs is not ignored by it.
stops() {
    local number=$1 status
    shift
    rm -f runs
    env --default-signal=INT --default-signal=TERM timeout -k 5 60 "$@" >stopped.txt 2>&1 </dev/null
    status=$?
    [ $status -eq 5 ] && says 'stopped by a signal\|"stopped": true' cat stopped.txt && ! grep -q crash stopped.txt || { echo "signal $number: status $status"; cat stopped.txt; return 1; }
}
stopped() {
    counted && cd "$scratch" || return 1
    for number in 15 2; do
        rm -f runs
        "$maxrace" record -q -o counted.mrt -- ./counted 5 $number && stops $number "$maxrace" replay -q --timeout 20 counted.mrt &&
            says '^Race 1 of 2 on .*: confirmed' cat stopped.txt && ! grep '^Race 2' stopped.txt && says '^1 of 1 confirmed.*; stopped by a signal' cat stopped.txt || return 1
        stops $number "$maxrace" replay -q --format json --timeout 20 counted.mrt && says '"stopped": true' cat stopped.txt || return 1
    done
    # The recorded run is the first one. What was not replayed is not tried.
    rm -f runs
    stops 15 "$maxrace" run -q --confirm -- ./counted 6 15 && says 'confirmed: yes' cat stopped.txt && says 'confirmed: not tried' cat stopped.txt
}
# The same signal again within two seconds is the same one; later it ends maxrace, which leaves nothing behind. Nobody reads the report here,
# so the replay waits for ever to write it.
stopped_twice() {
    cd "$scratch" && mkdir -p temporary && mkfifo nobody && "$maxrace" record -q -o twice.mrt -- ./bank data >said || return 1
    for name in TERM INT; do
        TMPDIR=$scratch/temporary env --default-signal=INT --default-signal=TERM "$maxrace" replay -q -o nobody twice.mrt 2>said &
        process=$!
        for ((moments = 0; moments < 150; moments++)); do # not every kernel says where a process waits
            grep -q wait_for_partner "/proc/$process/wchan" && break
            sleep 0.02
        done
        kill -$name $process && kill -$name $process && sleep 2.2 && kill -0 $process || { echo "SIG$name twice at once ended it"; cat said; return 1; }
        kill -$name $process
        wait $process
        [ $? -eq $((128 + $(kill -l $name))) ] && [ -z "$(ls temporary)" ] || { echo "SIG$name"; ls -R temporary; cat said; return 1; }
    done
}
second_order() {
    counted && cd "$scratch" || return 1
    rm -f runs
    "$maxrace" record -q -o counted.mrt -- ./counted 3 0 && "$maxrace" replay -q --race 1 counted.mrt >order.txt
    says '^Race 1 of .*: confirmed$' cat order.txt && says '  with the second access first: not reached' cat order.txt && says 'diverged: another operation, main (T0)' cat order.txt || return 1
    printf x >runs
    says '"second_reason": "another operation"' "$maxrace" replay -q --race 1 --format json counted.mrt
}
# Reads of a loop stand in one event, other accesses of the loop in none. All are done before another thread writes: then the loop goes on as in
# the recording. In those of seeds 8 and 9 the write comes behind the loop, before the next event of the thread that reads.
repeated_reads() {
    local seed
    cat >"$scratch/repeats.c" <<'END'
#include <pthread.h>
#include <sched.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int limit = 10, count, last;

static void *reads(void *none)
{
    int own[20];
    for (int i = 0; i < 20; i++) {
        own[i] = i;
        if (own[i] > limit) {
            sched_yield();
            pthread_mutex_lock(&lock);
            count++;
            pthread_mutex_unlock(&lock);
            break;
        }
    }
    last = 1;
    return none;
}
static void *writes(void *none)
{
    for (int i = 0; i < 3; i++)
        sched_yield();
    limit = 100;
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    last = 2;
    return none;
}
int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], 0, reads, 0);
    pthread_create(&threads[1], 0, writes, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
END
    (cd "$scratch" && "$maxrace" cc -g -O0 repeats.c -o repeats || exit 1
        for seed in 1 2 8 9; do
            "$maxrace" record -q --seed $seed -o repeats.mrt -- ./repeats && "$maxrace" replay -q repeats.mrt >repeats.txt
            says '^2 of 2 confirmed' cat repeats.txt || { echo "seed $seed"; cat repeats.txt; exit 1; }
        done)
}
# A wait was told that a pipe is ready, and the thread that wrote to it then waits for ever now: the wait goes on by itself.
wait_inside() {
    cat >"$scratch/inside.c" <<'END'
#include <poll.h>
#include <pthread.h>
#include <unistd.h>
static int x, go, ends[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static void *work(void *unused)
{
    if (x == 0 && write(ends[1], "a", 1) == 1)
        return unused;
    pthread_mutex_lock(&lock);
    while (!go)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void)
{
    pthread_t thread;
    struct pollfd asked = {.events = POLLIN};
    if (pipe(ends) != 0)
        return 1;
    asked.fd = ends[0];
    pthread_create(&thread, NULL, work, NULL);
    usleep(1000);
    x = 1;
    poll(&asked, 1, -1);
    pthread_mutex_lock(&lock);
    go = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
END
    (cd "$scratch" && "$maxrace" cc -g -O0 inside.c -o inside && "$maxrace" record -q -o inside.mrt -- ./inside && "$maxrace" replay -q --timeout 20 inside.mrt >inside.txt
        says '1 of 1 confirmed' cat inside.txt && [ "$(grep -c 'access first: exit status 0' inside.txt)" -eq 2 ] || { cat inside.txt; exit 1; })
}
# After the goal the program waits for another input than the recording has: that is no deadlock.
other_wait() {
    cat >"$scratch/wait.c" <<'END'
#include <poll.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static int x;
static void *work(void *unused)
{
    x = 1;
    return unused;
}
int main(int count, char **unused)
{
    pthread_t thread;
    struct timespec now;
    (void)unused;
    pthread_create(&thread, NULL, work, NULL);
    usleep(1000);
    if (x)
        clock_gettime(CLOCK_MONOTONIC, &now);
    else
        poll(NULL, 0, count > 1 ? 300 : -1);
    pthread_join(thread, NULL);
    return 0;
}
END
    (cd "$scratch" && "$maxrace" cc -g -O0 wait.c -o wait) || return 1
    # A wait that ends soon by itself is no such one.
    (cd "$scratch" && "$maxrace" record -q -o wait.mrt -- ./wait soon && "$maxrace" replay -q --timeout 20 wait.mrt >wait.txt
        says '1 of 1 confirmed' cat wait.txt && [ "$(grep -c 'access first: exit status 0' wait.txt)" -eq 2 ] || { cat wait.txt; exit 1; }) || return 1
    (cd "$scratch" && "$maxrace" record -q -o wait.mrt -- ./wait && "$maxrace" replay -q --timeout 20 wait.mrt >wait.txt
        says '1 of 1 confirmed' cat wait.txt && says 'it waited for inputs that the recording does not have, and was ended' cat wait.txt && ! grep -q deadlock wait.txt)
}
# Code that is not recorded waits for the other thread; and a witness of the model branch promises less. Who waits for what is told.
waits_are_told() {
    cat >"$scratch/queue.c" <<'END'
#include <pthread.h>
#include <sched.h>
static volatile int queue;
static int message;
__attribute__((noinline, no_sanitize("thread"))) static void put(void) { queue = 1; }
__attribute__((noinline, no_sanitize("thread"))) static void get(void)
{
    while (!queue)
        sched_yield();
}
static void *sender(void *unused)
{
    message = 42;
    put();
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, sender, NULL);
    get();
    int seen = message;
    pthread_join(thread, NULL);
    return seen != 42;
}
END
    MAXRACE_CC=gcc "$maxrace" cc -g -pthread "$scratch/queue.c" -o "$scratch/queue" &&
        MAXRACE_CC=gcc "$maxrace" cc -g -O0 -pthread tests/programs/c11-race.c -o "$scratch/c11" || return 1
    (cd "$scratch" && "$maxrace" record -q -o queue.mrt -- ./queue >/dev/null && "$maxrace" record -q -o c11.mrt -- ./c11 >/dev/null) || return 1
    says 'diverged: does no operation, and nobody can help' "$maxrace" replay -q "$scratch/queue.mrt" &&
        says 'diverged: waits, and nobody is to let it go on, take (T2)' "$maxrace" replay -q --model branch "$scratch/c11.mrt" &&
        says 'take (T2) waits for memory begun.* in take at .*c11-race.c' "$maxrace" replay -q --model branch "$scratch/c11.mrt" &&
        says 'has no branch events, so model branch assumes' "$maxrace" predict -q --model branch "$scratch/c11.mrt" &&
        ! says 'no branch events' "$maxrace" predict -q "$scratch/c11.mrt" >"$scratch/said" && ! says 'no branch events' "$maxrace" predict -q --model branch tests/traces/good/branch-with-operand.std >"$scratch/said"
}
# A lock that the recording was told to ignore has no events: who waits for it does not stand before the access under it.
ignored_lock() {
    local seed
    MAXRACE_CC=gcc "$maxrace" cc -g -O0 -pthread tests/programs/annotated-rwlock-race.c -o "$scratch/ignored" || return 1
    for seed in 1 2 3; do
        (cd "$scratch" && "$maxrace" record -q --seed $seed -o ignored.mrt -- ./ignored && says '0 of 1 confirmed' "$maxrace" replay -q --timeout 20 ignored.mrt &&
            says 'waits, and nobody is to let it go on' "$maxrace" replay -q --timeout 20 ignored.mrt && says 'waits for rwlock hidden' "$maxrace" replay -q --timeout 20 ignored.mrt) ||
            { echo "seed $seed"; return 1; }
    done
}
# Another process sends a signal: the handler runs where it ran, also without that process and in runs by the seed.
signals() {
    MAXRACE_CC=gcc "$maxrace" cc -g -O0 -pthread tests/programs/handler-race.c -o "$scratch/handler" || return 1
    (cd "$scratch" && "$maxrace" record -q -o handler.mrt -- ./handler && says 'confirmed, no visible effect' "$maxrace" replay -q --timeout 20 handler.mrt)
}
# A signal came in the middle of a wait, and its handler asked for the time, before the wait had its result.
signal_in_wait() {
    cat >"$scratch/waited.c" <<'END'
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
static int x;
static volatile sig_atomic_t caught;
static struct timespec then;
static void catch_signal(int number)
{
    caught += number == SIGUSR1;
    clock_gettime(CLOCK_REALTIME, &then);
}
static void *work(void *unused)
{
    x++;
    return unused;
}
int main(void)
{
    pthread_t thread;
    struct sigaction action = {.sa_handler = catch_signal};
    pid_t to = getpid();
    sigaction(SIGUSR1, &action, NULL);
    if (fork() == 0) {
        usleep(100000);
        kill(to, SIGUSR1);
        _exit(0);
    }
    while (caught == 0)
        poll(NULL, 0, 3000);
    pthread_create(&thread, NULL, work, NULL);
    x++;
    pthread_join(thread, NULL);
    return 0;
}
END
    (cd "$scratch" && "$maxrace" cc -g -O0 waited.c -o waited && "$maxrace" record -q -o waited.mrt -- ./waited && says '1 of 1 confirmed' "$maxrace" replay -q --timeout 20 waited.mrt)
}
# In strict C, or X/Open alone, `signal` is another function of libc: its handlers are recorded, too.
strict_signal() {
    (cd "$scratch" && sed 's/sigaction(SIGUSR1, &action, NULL)/signal(SIGUSR1, action.sa_handler)/' waited.c >strict.c && "$maxrace" cc -std=c17 -D_XOPEN_SOURCE=500 -g -O0 strict.c -o strict &&
        nm -D strict | grep -q __sysv_signal && "$maxrace" record -q -o strict.mrt -- ./strict && says '1 of 1 confirmed' "$maxrace" replay -q --timeout 20 strict.mrt)
}
# The kernel gives the signal of a timer to another thread than it did: that one does not block it now. The handler runs where it ran.
other_thread_signalled() {
    cat >"$scratch/alarm.c" <<'END'
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
static volatile sig_atomic_t caught;
static int x;
static void catch_alarm(int number)
{
    caught += number != 0;
    if (caught == 1) {
        alarm(1);
        sleep(5); /* the second one comes, and this thread blocks it */
    }
}
static void *work(void *unused)
{
    unsigned long alarms = 1ul << (SIGALRM - 1);
    if (access("blocks", F_OK) == 0)
        syscall(SYS_rt_sigprocmask, SIG_BLOCK, &alarms, NULL, sizeof alarms);
    sleep(10);
    x++;
    return unused;
}
int main(void)
{
    pthread_t thread;
    struct sigaction action = {.sa_handler = catch_alarm};
    sigaction(SIGALRM, &action, NULL);
    pthread_create(&thread, NULL, work, NULL);
    alarm(2);
    while (caught < 2)
        sleep(4);
    x++;
    pthread_join(thread, NULL);
    return 0;
}
END
    # The timer is the system's, so on a busy machine a signal may come elsewhere: one of three recordings is enough.
    (cd "$scratch" && "$maxrace" cc -g -O0 alarm.c -o alarm) || return 1
    for _ in 1 2 3; do
        (cd "$scratch" && touch blocks && "$maxrace" record -q --record-inputs no -o alarm.mrt -- ./alarm && rm blocks &&
            says '1 of 1 confirmed' "$maxrace" replay -q alarm.mrt) && return
    done
    return 1
}
# A thread that waits in a loop: the trace has one read for those that saw the same write. They are done before that of another.
waiting_loop() {
    MAXRACE_CC=gcc "$maxrace" cc -g -pthread tests/programs/publish-race.c -o "$scratch/publish" || return 1
    (cd "$scratch" && "$maxrace" record -q --seed 3 -o publish.mrt -- ./publish >/dev/null) || return 1
    says '1 of 1 confirmed' "$maxrace" replay -q "$scratch/publish.mrt"
}
# The first access of a memory-order race is done when the second one is next.
memory_order() {
    "$maxrace" cc -g -O0 -pthread tests/programs/fence-alone-race.c -o "$scratch/fence" &&
        (cd "$scratch" && "$maxrace" record -q -o fence.mrt -- ./fence >/dev/null) || return 1
    says '^  first   one (T1) has done its write of data at ' "$maxrace" replay -q "$scratch/fence.mrt" &&
        says '^  second  two (T2) stands before its read of data at .*; it reads 7 when it goes on$' "$maxrace" replay -q "$scratch/fence.mrt"
}
if check replay_prepare prepare; then
    check replay_memory_order memory_order
    check replay_effect effect
    check replay_crash crash
    check replay_inputs inputs
    check replay_other_build other_build
    check replay_older_trace older_trace
    check replay_stop_at stop_at
    check replay_next_step next_step
    check replay_findings findings
    needs gdb replay_finding_debugger && check replay_finding_debugger finding_debugger
    check replay_confirm confirm
    check replay_same same
    check replay_waiting_loop waiting_loop
    check replay_of_report of_report
    check replay_time_and_addresses time_and_addresses
    check replay_other_address other_address
    check replay_other_input other_input
    check replay_changed_files changed_files
    check replay_random_numbers random_numbers
    check replay_pipe_closed pipe_closed
    check replay_all_descriptors all_descriptors
    check replay_stream_flags stream_flags
    check replay_other_wait other_wait
    check replay_wait_inside wait_inside
    check replay_repeated_reads repeated_reads
    check replay_stopped stopped
    check replay_stopped_twice stopped_twice
    check replay_second_order second_order
    check replay_waits_are_told waits_are_told
    check replay_ignored_lock ignored_lock
    check replay_signals signals
    check replay_signal_in_wait signal_in_wait
    check replay_strict_signal strict_signal
    check replay_other_thread_signalled other_thread_signalled
    needs gdb replay_debugger && check replay_debugger debugger
    check replay_script script
    check replay_script_environment script_environment
    check replay_record record_replay
    check replay_damaged_schedule damaged_schedule
fi

# ---- all programs ----

number=0
for source in tests/programs/${REPLAY_ONLY:-*-race}.c tests/programs/${REPLAY_ONLY:-*-race}.cpp; do
    [ -e "$source" ] || continue
    [ "${TEST_LENGTH:-}" = full ] || [ -n "${REPLAY_ONLY:-}" ] || in_share "$source" || continue
    number=$((number + 1))
    printf '%s\0%s\0' "$source" "$scratch/$number"
done | xargs -0 -r -n 2 -P "${TEST_JOBS:-$(nproc)}" "$0" --one >>"$scratch/output"
cat "$scratch/output"
! grep -q '^\[  FAILED  \]' "$scratch/output" && [ $failures -eq 0 ]
