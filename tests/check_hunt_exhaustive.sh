#!/usr/bin/env bash
# hunt --exhaustive on the programs of tests/hunt/exhaustive: each says in its head how many behaviours it has, counted by hand, and
# whether there are races, a deadlock or a failure. Each check prints "[       OK ] name", or the reason and "[  FAILED  ] name".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
maxrace=$(realpath "${BUILD:-build/release}/maxrace")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/maxrace-check-exhaustive-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
. tests/support/check.sh

# The first line of the report that the head of the source announces: "behaviours: 3, races: 2, failure".
expected() { # SOURCE
    sed -n 's/^.*behaviours: \([0-9]*\)\(.*\) \*\/$/\1\2/p' "$1" | awk -F', ' '{
        races = "no race"; end = "no failure"
        for (i = 2; i <= NF; i++) {
            if (split($i, part, ": ") == 2)
                races = part[2] " race" (part[2] == 1 ? "" : "s")
            else
                end = "a " $i
        }
        print "all " $1 " behaviours of this input explored: " races ", " end
    }'
}

explore() { # SOURCE
    local program said wanted
    program=$scratch/$(basename "$1" .c)
    MAXRACE_CC=gcc "$maxrace" cc -std=gnu17 -g -O1 -pthread "$1" -o "$program" || return 1
    said=$(timeout -k 5 100 "$maxrace" hunt --exhaustive -- "$program" </dev/null | head -n 1)
    wanted=$(expected "$1")
    [ "$said" = "$wanted" ] || { printf 'expected %s\nsaid     %s\n' "$wanted" "$said"; return 1; }
}

# A limit: nothing is claimed.
limited() {
    local said
    said=$("$maxrace" hunt --exhaustive --seed 3 -- "$scratch/three" 2>&1)
    [ $? -eq 2 ] && [ "$said" = 'maxrace: --seed is not for --exhaustive' ] || { echo "$said"; return 1; }
    said=$(timeout -k 5 100 "$maxrace" hunt --exhaustive --runs 1 -- "$scratch/three" </dev/null | head -n 1)
    case $said in *"perhaps not all of this input: stopped after 1 runs"*) ;; *) echo "$said"; return 1 ;; esac
}

# A limit of the search: what is left is told.
limited_states() {
    local said flag
    said=$("$maxrace" hunt --states 3 -- "$scratch/three" 2>&1)
    [ $? -eq 2 ] && [ "$said" = 'maxrace: --states is for --exhaustive' ] || { echo "$said"; return 1; }
    said=$(timeout -k 5 100 "$maxrace" hunt --exhaustive --states 5 -- "$scratch/three" </dev/null)
    case $said in *"perhaps not all of this input: the search reached the limit of states; left are "*" step"*) ;; *) echo "$said"; return 1 ;; esac
    for flag in --states --states-mb; do
        said=$(timeout -k 5 100 "$maxrace" hunt --exhaustive $flag 0 -- "$scratch/three" </dev/null)
        case $said in "all 6 behaviours"*) ;; *) echo "$said"; return 1 ;; esac
    done
}

# saves NAME KIND…: a folder for each kind, and a replay of each does it again; the report is there, too.
saves() {
    local name=$1 kind folder
    timeout -k 5 100 "$maxrace" hunt --exhaustive --dir "$scratch/$name.found" -- "$scratch/$name" >"$scratch/said" </dev/null
    cmp -s "$scratch/said" "$scratch/$name.found/report.txt" || { cat "$scratch/said"; return 1; }
    for kind in "${@:2}"; do
        folder=$(echo "$scratch/$name.found/findings/"*-"$kind")
        timeout -k 5 60 "$maxrace" replay "${folder%% *}" >"$scratch/said" 2>&1
        [ $? -eq 1 ] && grep -q " $kind repeated" "$scratch/said" || { ls "$scratch/$name.found/findings"; cat "$scratch/said"; return 1; }
    done
}
saved() {
    saves lost race assertion && saves locks deadlock && saves freed memory && saves three && [ -z "$(ls "$scratch/three.found/findings")" ] || return 1
    "$maxrace" hunt --exhaustive --dir "$scratch/lost.found" -- "$scratch/lost" >"$scratch/said" 2>&1
    [ $? -eq 4 ] && grep -q 'lost.found: is there already' "$scratch/said" || { cat "$scratch/said"; return 1; }
}

# What is not recorded decides: nothing is claimed.
unseen() {
    printf '#include <time.h>\nint main(void) { return time(0) == 0; }\n' >"$scratch/clock.c"
    MAXRACE_CC=gcc "$maxrace" cc -g -O1 "$scratch/clock.c" -o "$scratch/clock" || return 1
    local said
    said=$(timeout -k 5 100 "$maxrace" hunt --exhaustive -- "$scratch/clock" </dev/null | head -n 1)
    case $said in *"cannot enumerate: clocks"*) ;; *) echo "$said"; return 1 ;; esac
}

for source in tests/hunt/exhaustive/*.c; do
    check "exhaustive $(basename "$source" .c)" explore "$source"
done
check "exhaustive, a limit of runs" limited
check "exhaustive, findings are saved" saved
check "exhaustive, a limit of states" limited_states
check "exhaustive, a clock" unseen
exit $((failures > 0))
