#!/usr/bin/env bash
# What a replay costs: for each program, seconds of processor time of `maxrace record` and of one run by the schedule of its
# first race (the script of `maxrace replay --script`), and their ratio; then the sums. Each is done $TIMES times, the least counts.
#     bench/replay.sh [SOURCE.c… | -- COMMAND…]       default: tests/programs/*-race.c
# A COMMAND is a program that `maxrace cc` has built.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
maxrace=$(realpath "${BUILD:-build/release}/maxrace") times=${TIMES:-3}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
TIMEFORMAT='%U %S'

# least COMMAND…: the least user plus system time of several runs.
least() {
    local i
    for ((i = 0; i < times; i++)); do
        { time "$@" >/dev/null 2>&1 </dev/null; } 2>&1
    done | awk '{ t = $1 + $2 } NR == 1 || t < least { least = t } END { printf "%.3f", least }'
}

# measure NAME COMMAND…
measure() {
    local name=$1 record replay
    shift
    record=$(least timeout 100 "$maxrace" record -q -o "$scratch/one.mrt" -- "$@")
    rm -f "$scratch/one.sh"
    timeout 100 "$maxrace" replay -q --race 1 --script "$scratch/one.sh" "$scratch/one.mrt" >/dev/null 2>&1
    [ -x "$scratch/one.sh" ] || return
    replay=$(least timeout 100 "$scratch/one.sh")
    awk -v name="$name" -v a="$record" -v b="$replay" 'BEGIN { printf "%-32s %8.3f %8.3f %6.2f\n", name, a, b, a > 0 ? b / a : 0 }'
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
