#!/usr/bin/env bash
# bench/scaling.sh MAXRACE TRACE…: what threads, ranks and checkpoints cost and gain, as Markdown tables. Best of RUNS (3) runs,
# all ways in turn, so that their ratios are of one time. SETTINGS: further flags of predict.
#
#   the stages of one thread, in ns an event (windows and decide: of the windows; total: the wall time)
#   1 and 2 jobs; 2 jobs with a checkpoint; 1 and 2 ranks of one thread, when mpirun is there
set -euo pipefail
cd "$(dirname "$0")/.."
maxrace=$(realpath "$1") runs=${RUNS:-3}
read -ra settings <<<"${SETTINGS:-}"
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export OMPI_MCA_orte_top_session_dir="$scratch/ompi" # its own: see packaging/maxrace-mpirun
ways=(jobs1 jobs2 checkpoint)
if command -v mpirun >/dev/null && [ -e "$(dirname "$maxrace")/maxrace-mpi.so" ]; then ways+=(ranks1 ranks2); fi

predict() {
    local way=$1 command=("$maxrace" predict --quiet "${settings[@]}")
    local ranks=(mpirun -q --oversubscribe --allow-run-as-root -n)
    case $way in
    jobs1) command+=(--jobs 1) ;;
    jobs2) command+=(--jobs 2) ;;
    checkpoint) rm -f "$scratch/checkpoint"; command+=(--jobs 2 --checkpoint "$scratch/checkpoint") ;;
    ranks1) command=("${ranks[@]}" 1 "${command[@]}" --mpi --jobs 1) ;;
    ranks2) command=("${ranks[@]}" 2 "${command[@]}" --mpi --jobs 1) ;;
    esac
    "${command[@]}" "$2" >"$scratch/report" 2>"$scratch/said" || [ $? -eq 1 ] || { cat "$scratch/said" >&2; exit 1; }
}

# The seconds of a stage in the Run section of the report; 0: it is not named.
stage() {
    awk -v stage="$1" '/^  seconds/ { sub(/:/, "", $2); if (stage == "total") { print $2; found = 1 }
        for (i = 3; i < NF; i++) if ($i == stage) { sub(/,/, "", $(i + 1)); print $(i + 1); found = 1; exit } }
        END { if (!found) print 0 }' "$2"
}

declare -A best
measure() {
    local run way total
    best=()
    for ((run = 0; run < runs; run++)); do
        for way in "${ways[@]}"; do
            predict "$way" "$1"
            total=$(stage total "$scratch/report")
            if [ -z "${best[$way]:-}" ] || awk "BEGIN { exit !($total < ${best[$way]}) }"; then
                best[$way]=$total
                cp "$scratch/report" "$scratch/$way"
                [ "$way" != checkpoint ] || best[bytes]=$(stat -c %s "$scratch/checkpoint")
            fi
        done
    done
}

stages=(read order windows decide witness far total)
echo "| trace | events | windows | $(printf '%s | ' "${stages[@]}")"
echo "|---|--:|--:|$(printf -- '--:|%.0s' "${stages[@]}")"
for trace in "$@"; do
    measure "$trace"
    events=$(awk -F'[ ,:]+' '/ events?[ ,]/ { for (i = 2; i <= NF; i++) if ($i ~ /^events?$/) { print $(i - 1); exit } }' "$scratch/jobs1")
    row="| $(basename "$trace") | $events | $(awk '/^  windows/ { print $2; exit }' "$scratch/jobs1" | tr -d ,) |"
    for stage in "${stages[@]}"; do
        row+=" $(awk "BEGIN { printf \"%.1f\", $(stage "$stage" "$scratch/jobs1") * 1e9 / ($events + 1e-9) }") |"
    done
    echo "$row"
    second="| $(basename "$trace") | ${best[jobs1]} |"
    for way in "${ways[@]:1}"; do
        second+=" ${best[$way]} ($(awk "BEGIN { printf \"%.2f\", ${best[jobs1]} / (${best[$way]} + 1e-9) }") x) |"
    done
    echo "$second ${best[bytes]} |" >>"$scratch/ways"
done
echo
echo "| trace | $(printf '%s | ' "${ways[@]}")checkpoint bytes |"
echo "|---|$(printf -- '--:|%.0s' "${ways[@]}")--:|"
cat "$scratch/ways"
