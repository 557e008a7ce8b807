#!/usr/bin/env bash
# Records programs of tests/programs, built by gcc, with one seed, and predicts from the traces: an eighth of those in C, and a twelfth
# of those in C++, which take longer to compile. With TEST_LENGTH=full: the rest, which is seeds 2 and 3 of these, seeds 1 to 3 of
# all others of gcc, and those built by clang, with seed 1. TEST_LENGTH=third is this without seed 3, and without half of those in C++ by clang.
# Each program and compiler is a test: prints "[       OK ] name", or the reason and "[  FAILED  ] name".
#
# NAME-safe has no race, from any seed. NAME-race has one; when the comment at its top says "Predicted from every order", from
# each seed, else from at least one of the first 20. No read may see what no recorded write wrote, no event be left out, and
# the same seed must give the same trace (nearly always where the library starts threads for SIGEV_THREAD), but for programs with
# children or with the numbers that the kernel gives threads. Built without optimisation, which would remove writes that nobody reads.
# Programs glib-* need GLib. RECORD_ONLY=pattern chooses programs.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
maxrace=$(realpath "${BUILD:-build/release}/maxrace")
case ${TEST_LENGTH:-} in
full) compilers='gcc clang' last_of_gcc=3 ;;
third) compilers='gcc clang' last_of_gcc=2 ;;
*) compilers=gcc last_of_gcc=1 ;;
esac
is_long() { [ $last_of_gcc -gt 1 ]; }
# The last seed of programs built by the compiler.
last_seed() { if [ "$1" = gcc ]; then echo $last_of_gcc; else echo 1; fi; }
checksum() { basename "$1" | cksum | cut -d ' ' -f 1; }
# Does a run without TEST_LENGTH=full or third take the program?
in_share() {
    local parts=8
    [[ $1 != *.cpp ]] || parts=12
    [ $(($(checksum "$1") % parts)) -eq 0 ]
}
# Has such a run done the first seed?
seed_1_is_done() { is_long && [ "$1" = gcc ] && in_share "$2"; }
# Is it left to TEST_LENGTH=full? compiler, program.
is_left_out() { [ "${TEST_LENGTH:-}" = third ] && [ "$1" = clang ] && [[ $2 == *.cpp ]] && [ $(($(checksum "$2") % 2)) -eq 1 ]; }
more_seeds=20 limit_seconds=60
. tests/support/check.sh

# record PROGRAM SEED TRACE [FLAG…]: fails with the reason when the program hangs, does not end with status 0, as all of them do, or its
# trace is not as it should be.
record() {
    local program=$1 seed=$2 trace=$3 said status
    shift 3
    said=$(timeout -k 5 "$limit_seconds" "$maxrace" record --seed "$seed" -o "$trace" "$@" -- "$program" 2>&1 >/dev/null)
    status=$?
    [ $status -eq 0 ] || { echo "seed $seed: status $status: $said"; return 1; }
    ! grep -q 'no recorded write\|no trace can have\|makes no sense\|recorded nothing' <<<"$said" || { echo "seed $seed: $said"; return 1; }
}

# one COMPILER SOURCE FOLDER: all about one program; prints what is wrong.
one() {
    local compiler=$1 source=$2 folder=$3 seeds first=1 seed status races=0 name command=cc flags=(--record-local) standard=-std=gnu17
    name=$(basename "$source") seeds=$(last_seed "$compiler")
    mkdir -p "$folder"
    # What the library of C++ does to memory of the program, outside of what several threads use, is not recorded.
    case $name in *.cpp) command=c++ flags=() standard=-std=c++20 ;; esac
    # shellcheck disable=SC2046 # flags are several words
    MAXRACE_CC=$compiler MAXRACE_CXX=${compiler/gcc/g}++ "$maxrace" $command $standard -g -O0 -pthread "$source" $(flags_of "$source") -o "$folder/program" || return 1
    seed_1_is_done "$compiler" "$source" && first=2
    for ((seed = first; seed <= more_seeds; seed++)); do
        record "$folder/program" "$seed" "$folder/one.mrt" "${flags[@]}" || return 1
        "$maxrace" predict -q "$folder/one.mrt" >"$folder/report" 2>&1
        status=$?
        case $name-$status in
        *-race.*-1) races=$((races + 1)) ;;
        *-race.*-0) grep -q 'Predicted from every\( \|$\)' "$source" && { echo "seed $seed: no race"; return 1; } ;;
        *-safe.*-0) ;;
        *-safe.*-1) echo "seed $seed: a false race"; sed -n '/^Race 1/,/^Summary/p' "$folder/report"; return 1 ;;
        *) echo "seed $seed: predict: status $status"; cat "$folder/report"; return 1 ;;
        esac
        [ "$seed" -ge "$seeds" ] && { [ $races -gt 0 ] || [[ $name == *-safe.* ]]; } && break
    done
    [[ $name == *-safe.* ]] || [ $races -gt 0 ] || { echo "no race from $more_seeds seeds"; return 1; }
    # Whether two records are equal depends on the scheduler, which is the same for both compilers.
    if [ "$compiler" = clang ] || seed_1_is_done "$compiler" "$source"; then return; fi
    # What another process does, when it ends, and which numbers threads have, is up to the system: no two records need be the same.
    grep -q 'popen(\|fork()\|posix_spawn(\|system(\|SYS_gettid' "$source" && return
    # Without what only one thread uses, and without inputs: the time of the clock is in there, too. A thread that the library starts
    # for SIGEV_THREAD comes into the recording when the system lets it: there two of six records must be equal.
    local last=2 number other
    ! grep -q SIGEV_THREAD "$source" || last=6
    for ((number = 1; number <= last; number++)); do
        record "$folder/program" 1 "$folder/$number.mrt" --record-inputs no || return 1
        for ((other = 1; other < number; other++)); do
            cmp "$folder/$other.mrt" "$folder/$number.mrt" >"$folder/difference" && return
        done
    done
    cat "$folder/difference"
    return 1
}

if [ "${1:-}" = --one ]; then
    compiler=$2 source=$3 folder=$4
    title=record_$(basename "$source" | tr '.-' '__')_$compiler
    if grep -q 'sem_open(' "$source" && [ ! -w /dev/shm ]; then
        skip "$title" "named semaphores need /dev/shm, where this user cannot write"
    elif ! has_library "$source" "$title"; then
        :
    elif output=$(one "$compiler" "$source" "$folder" 2>&1); then
        echo "[       OK ] $title"
    else
        printf '%s\n[  FAILED  ] %s\n' "$output" "$title"
    fi
    rm -rf "$folder"
    exit
fi

scratch=$(mktemp -d) || exit 1
export MAXRACE_SYMBOL_CACHE=$scratch/symbol-cache # as check.sh does
trap 'rm -rf "$scratch"' EXIT
number=0
for source in tests/programs/${RECORD_ONLY:-*}.c tests/programs/${RECORD_ONLY:-*}.cpp; do
    [ -e "$source" ] || continue
    is_long || [ -n "${RECORD_ONLY:-}" ] || in_share "$source" || continue
    for compiler in $compilers; do
        ! is_left_out "$compiler" "$source" || continue
        language_compiler=$compiler
        [[ $source != *.cpp ]] || language_compiler=${compiler/gcc/g}++
        needs "$language_compiler" "record_$(basename "$source" | tr '.-' '__')_$compiler" >>"$scratch/output" || continue
        number=$((number + 1))
        printf '%s\0%s\0%s\0' "$compiler" "$source" "$scratch/$number"
    done
done | xargs -0 -r -n 3 -P "${TEST_JOBS:-$(nproc)}" "$0" --one >>"$scratch/output"
cat "$scratch/output"
[ -s "$scratch/output" ] && ! grep -q '^\[  FAILED  \]' "$scratch/output"
