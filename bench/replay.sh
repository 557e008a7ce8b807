#!/usr/bin/env bash
# What a replay costs: for each program, seconds of processor time of `maxrace record` and of one run by the schedule of its
# first race (the script of `maxrace replay --script`, without what its shell takes), each done $TIMES times (10), and their
# ratio; then the sums. Races that do not reach their goal are left out.
#     bench/replay.sh [SOURCE.c… | -- COMMAND…]       default: tests/programs/*-race.c
# A COMMAND is a program that `maxrace cc` has built.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
maxrace=$(realpath "${BUILD:-build/release}/maxrace") times=${TIMES:-10}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
TIMEFORMAT='%U %S'

repeat() {
    local i
    for ((i = 0; i < times; i++)); do "$@"; done
}

# spent COMMAND…: user and system time of all its runs.
spent() {
    { time repeat "$@" >/dev/null 2>&1 </dev/null; } 2>&1 | awk '{ t += $1 + $2 } END { printf "%.3f", t }'
}

# measure NAME COMMAND…
measure() {
    local name=$1 record replay nothing
    shift
    record=$(spent timeout 100 "$maxrace" record -q -o "$scratch/one.mrt" -- "$@")
    rm -f "$scratch/one.sh"
    timeout 100 "$maxrace" replay -q --race 1 --script "$scratch/one.sh" "$scratch/one.mrt" >/dev/null 2>&1
    [ -x "$scratch/one.sh" ] && timeout 100 "$scratch/one.sh" 2>&1 | grep -q '^outcome goal' || return
    sed 's/^    setarch -R -- .*/    setarch -R -- true/' "$scratch/one.sh" >"$scratch/none.sh"
    chmod +x "$scratch/none.sh"
    replay=$(spent timeout 100 "$scratch/one.sh") nothing=$(spent timeout 100 "$scratch/none.sh")
    replay=$(awk -v a="$replay" -v b="$nothing" 'BEGIN { printf "%.3f", a - b }')
    awk -v name="$name" -v a="$record" -v b="$replay" 'BEGIN { printf "%-32s %8.3f %8.3f %6.2f\n", name, a, b, (a > 0 ? b / a : 0) }'
}

printf '%-32s %8s %8s %6s\n' program record replay ratio
{
    if [ "${1:-}" = -- ]; then
        shift
        measure "$(basename "$1")" "$@"
    else
        for source in "${@:-tests/programs/*-race.c}"; do
            for one in $source; do
                "$maxrace" cc -g -O0 -pthread "$one" -o "$scratch/program" 2>/dev/null && measure "$(basename "$one")" "$scratch/program"
            done
        done
    fi
} | tee "$scratch/table"
awk '{ a += $2; b += $3 } END { if (NR > 1) printf "%-32s %8.3f %8.3f %6.2f\n", "sum of " NR, a, b, b / a }' "$scratch/table"
