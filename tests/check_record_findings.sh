#!/usr/bin/env bash
# Records the programs of tests/findings, each built by gcc without optimisation, and predicts from the traces what there is
# beside races. Each program is a test: prints "[       OK ] name", or the reason and "[  FAILED  ] name".
#
# NAME-bug.c begins with the kind of its bug, which must be predicted from a run in which nothing went wrong: it ended with status 0
# and has no observed error. One of the first 20 seeds must give such a run. NAME-safe.c has no finding, and no race, from any of
# the first five seeds (TEST_LENGTH=full: 20). A bug whose comment says "Also without --record-local" is
# predicted so, too. FINDINGS_ONLY=pattern chooses programs.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
maxrace=$(realpath "${BUILD:-build/release}/maxrace")
seeds=20 limit_seconds=60
if [ "${TEST_LENGTH:-}" = full ]; then safe_seeds=20; else safe_seeds=5; fi
. tests/support/check.sh

# record PROGRAM SEED TRACE FLAG…: fails when the program did not end well.
record() {
    timeout -k 5 "$limit_seconds" "$maxrace" record --seed "$2" -o "$3" "${@:4}" -- "$1" >"$3.said" 2>&1
}

# short PROGRAM SEED TRACE KIND: the kind is predicted from a trace that leaves out what tells nothing.
short() {
    record "$1" "$2" "$3" && rm -rf "$3.witnesses" || return 1
    "$maxrace" predict -q --witness-dir "$3.witnesses" -o "$3.report" "$3"
    compgen -G "$3.witnesses/$4-*.std" >"$3.found" || { echo "seed $2: no $4 without --record-local"; return 1; }
}

# replay TRACE KIND: runs the program again by every witness; each must end at its goal, and those of the kind must show.
replay() {
    timeout -k 5 "$limit_seconds" "$maxrace" replay -q "$1" >"$1.replayed" 2>&1
    if [ $? -eq 1 ] && ! grep -q ': not reached$' "$1.replayed" &&
        grep -qE "^Finding .*, $2 on .*: confirmed, (crashes|deadlocks|changes state)$" "$1.replayed"; then
        return
    fi
    cat "$1.replayed"
    return 1
}

# counted PROGRAM SEED: the last line of several runs counts those with findings beside races.
counted() {
    timeout -k 5 "$limit_seconds" "$maxrace" run -q --record-local --runs 2 --seed "$2" -o "$1.runs" -- "$1" >/dev/null 2>&1
    tail -n 1 "$1.runs" | grep -q '^[0-9]* races* in 2 runs, other findings in [12]' || { tail -n 1 "$1.runs"; return 1; }
}

# one SOURCE FOLDER: all about one program; prints what is wrong.
one() {
    local source=$1 folder=$2 seed kind witness
    mkdir -p "$folder"
    kind=$(sed -n '1s/^\/\* \([a-z-]*\):.*/\1/p' "$source")
    MAXRACE_CC=gcc "$maxrace" cc -std=gnu17 -g -O0 -pthread "$source" -o "$folder/program" || return 1
    for ((seed = 1; seed <= seeds; seed++)); do
        [[ $source != *-safe.c ]] || [ $seed -le $safe_seeds ] || return 0
        if ! record "$folder/program" "$seed" "$folder/one.mrt" --record-local; then
            [[ $source != *-safe.c ]] || { echo "seed $seed: status $?"; cat "$folder/one.mrt.said"; return 1; }
            continue
        fi
        rm -rf "$folder/witnesses"
        "$maxrace" predict -q --format json --witness-dir "$folder/witnesses" -o "$folder/report" "$folder/one.mrt"
        case $source-$? in
        *-safe.c-0 | *-bug.c-[01]) ;;
        *-safe.c-1) echo "seed $seed: a false finding"; "$maxrace" predict -q "$folder/one.mrt" | sed '/^Summary/,$d'; return 1 ;;
        *) echo "seed $seed: predict: status $?"; return 1 ;;
        esac
        [[ $source == *-bug.c ]] && ! grep -q '^"observed"' "$folder/report" || continue
        for witness in "$folder/witnesses/$kind"-*.std; do
            [ -e "$witness" ] || continue
            "$maxrace" check "$folder/one.mrt" "$witness" || return 1
            replay "$folder/one.mrt" "$kind" && counted "$folder/program" "$seed" || return
            ! grep -q 'Also without --record-local' "$source" || short "$folder/program" "$seed" "$folder/short.mrt" "$kind"
            return
        done
    done
    [[ $source == *-safe.c ]] || { echo "no $kind from a run that went well, of $seeds seeds"; return 1; }
}

if [ "${1:-}" = --one ]; then
    source=$2 folder=$3
    title=findings_$(basename "$source" | tr '.-' '__')
    if output=$(one "$source" "$folder" 2>&1); then
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
for source in tests/findings/${FINDINGS_ONLY:-*}.c; do
    number=$((number + 1))
    printf '%s\0%s\0' "$source" "$scratch/$number"
done | xargs -0 -r -n 2 -P "${TEST_JOBS:-$(nproc)}" "$0" --one >>"$scratch/output"
cat "$scratch/output"
[ -s "$scratch/output" ] && ! grep -q '^\[  FAILED  \]' "$scratch/output"
