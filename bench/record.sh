#!/usr/bin/env bash
# bench/record.sh MAXRACE: what recording costs on the CPU-bound programs of bench/programs, as a Markdown table: time of the
# program built plainly, by -fsanitize=thread on one processor (threads of a recorded program run one at a time), by maxrace cc
# and not recorded, and recorded, the last two and the conversion apart; sizes of log and trace. Best of RUNS (5) runs, all in turn.
set -euo pipefail
cd "$(dirname "$0")/.."
maxrace=$(realpath "$1") runs=${RUNS:-5} compiler=${CC:-gcc}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# best COLUMN COMMAND…: runs it and keeps its least time in microseconds in best_us[COLUMN].
declare -A best_us
best() {
    local column=$1 start=${EPOCHREALTIME/[.,]/} took
    shift
    "$@" >/dev/null 2>"$scratch/said" || { cat "$scratch/said" >&2; exit 1; }
    took=$((${EPOCHREALTIME/[.,]/} - start))
    [ "${best_us[$column]:-$took}" -lt "$took" ] || best_us[$column]=$took
}

# The program alone, without the conversion of its log.
record_only() {
    rm -f "$scratch/log"
    MAXRACE_LOG=$scratch/log MAXRACE_SEED=1 setarch -R "$scratch/ours"
}

echo '| program | plain ms | TSan | built, not recorded | recorded | with conversion | accesses | log bytes an access | trace MB |'
echo '|---|---|---|---|---|---|---|---|---|'
for source in bench/programs/*.c; do
    best_us=()
    "$compiler" -O2 -pthread "$source" -o "$scratch/plain" -lm
    "$compiler" -O2 -g -fsanitize=thread -pthread "$source" -o "$scratch/tsan" -lm
    MAXRACE_CC=$compiler "$maxrace" cc -O2 -g -pthread "$source" -o "$scratch/ours" -lm
    for ((run = 0; run < runs; run++)); do
        best plain "$scratch/plain"
        best tsan taskset -c 0 "$scratch/tsan"
        best built "$scratch/ours"
        best recorded record_only
        best all "$maxrace" record --record-local -o "$scratch/trace.mrt" -- "$scratch/ours"
    done
    "$maxrace" record -o "$scratch/short.mrt" -- "$scratch/ours" >/dev/null 2>&1
    accesses=$("$maxrace" info "$scratch/trace.mrt" | awk '$1 ~ /^(r|w|ar|aw|au)$/ { sum += $2 } END { print sum + 0 }')
    awk -v name="$(basename "$source" .c)" -v plain="${best_us[plain]}" -v tsan="${best_us[tsan]}" -v built="${best_us[built]}" \
        -v recorded="${best_us[recorded]}" -v all="${best_us[all]}" -v accesses="$accesses" \
        -v log_bytes="$(od -An -t u8 -j 16 -N 8 "$scratch/log")" -v trace="$(stat -c %s "$scratch/short.mrt")" '
        BEGIN { printf "| %s | %.1f | %.1f x | %.1f x | %.1f x | %.1f x | %d | %.1f | %.1f |\n", name, plain / 1000, tsan / plain, built / plain,
                recorded / plain, all / plain, accesses, accesses ? log_bytes / accesses : 0, trace / 1e6 }'
done
