#!/usr/bin/env bash
# bench/cost.sh MAXRACE [CASES]: what finding races costs, step by step, as a Markdown table: wall time of the program built
# plainly, by -fsanitize=thread, recorded, converted, predicted, and with run --quick. The programs are those of bench/programs, and
# those of the file CASES: lines "name|plain command|command built by -fsanitize=thread|command built by maxrace cc". Plain and
# -fsanitize=thread run on one processor, since the threads of a recorded program run one at a time; CPUS=all: on all of them.
# Best of RUNS (3) runs, all in turn. Names come from the cache from the second run on, as they do for a user.
set -euo pipefail
cd "$(dirname "$0")/.."
maxrace=$(realpath "$1") cases=${2:-} runs=${RUNS:-3} compiler=${CC:-gcc}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export MAXRACE_SYMBOL_CACHE=$scratch/symbols
one=(taskset -c 0)
[ "${CPUS:-one}" = one ] || one=()

# best COLUMN STATUSES COMMAND…: runs it and keeps its least time in microseconds in best_us[COLUMN].
declare -A best_us
best() {
    local column=$1 allowed=$2 start=${EPOCHREALTIME/[.,]/} took status=0
    shift 2
    "$@" >/dev/null 2>"$scratch/said" </dev/null || status=$?
    took=$((${EPOCHREALTIME/[.,]/} - start))
    [[ $status = 0 || $status = "$allowed" ]] || { cat "$scratch/said" >&2; exit 1; }
    [ "${best_us[$column]:-$took}" -lt "$took" ] || best_us[$column]=$took
}

# measure NAME PLAIN TSAN OURS: the three are commands.
measure() {
    local name=$1 plain tsan ours run
    read -ra plain <<<"$2"
    read -ra tsan <<<"$3"
    read -ra ours <<<"$4"
    best_us=()
    for ((run = 0; run < runs; run++)); do
        best plain 0 "${one[@]}" "${plain[@]}"
        best tsan 66 "${one[@]}" "${tsan[@]}"
        rm -f "$scratch/log"
        best record 0 env MAXRACE_LOG="$scratch/log" MAXRACE_SEED=1 setarch -R "${ours[@]}"
        best convert 0 "$maxrace" record --convert "$scratch/log" -o "$scratch/trace.mrt"
        best predict 1 "$maxrace" predict "$scratch/trace.mrt"
        best all 1 "$maxrace" run "${ours[@]}"
        best quick 1 "$maxrace" run --quick "${ours[@]}"
    done
    awk -v name="$name" -v plain="${best_us[plain]}" -v tsan="${best_us[tsan]}" -v record="${best_us[record]}" \
        -v convert="${best_us[convert]}" -v predict="${best_us[predict]}" -v all="${best_us[all]}" -v quick="${best_us[quick]}" \
        -v events="$("$maxrace" info "$scratch/trace.mrt" | awk '$1 == "events" { print $2 }')" \
        -v log_mb="$(($(stat -c %s "$scratch/log") / 1000000))" 'BEGIN {
            printf "| %s | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.1f | %.0f | %.1f | %d | %s |\n", name, plain / 1000, tsan / 1000, record / 1000,
                convert / 1000, predict / 1000, all / 1000, all / tsan, quick / 1000, quick / tsan, log_mb, events }'
}

echo '| program | plain ms | TSan ms | record ms | convert ms | predict ms | `run` ms | `run` / TSan | `run --quick` ms | `--quick` / TSan | log MB | events |'
echo '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|'
for source in bench/programs/*.c; do
    "$compiler" -O2 -pthread "$source" -o "$scratch/plain" -lm
    "$compiler" -O2 -g -fsanitize=thread -pthread "$source" -o "$scratch/tsan" -lm
    MAXRACE_CC=$compiler "$maxrace" cc -O2 -g -pthread "$source" -o "$scratch/ours" -lm
    measure "$(basename "$source" .c)" "$scratch/plain" "$scratch/tsan" "$scratch/ours"
done
if [ -n "$cases" ]; then
    while IFS='|' read -r name plain tsan ours; do
        [ -z "$name" ] || measure "$name" "$plain" "$tsan" "$ours"
    done <"$cases"
fi
