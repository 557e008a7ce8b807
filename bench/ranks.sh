#!/usr/bin/env bash
# bench/ranks.sh MAXRACE TRACE…: the work of each rank of `predict --mpi`, one thread each, as a Markdown table: user seconds of the whole in one
# process; for each number of ranks (RANKS, "2 4 8") those of the slowest rank and of the mean, and how many times less that is; and the memory of
# rank 0 and of the largest other rank in MB. All ways in turn, the least of RUNS (3) runs each. SETTINGS: flags of predict. Ranks that share cores
# have not the same caches as on machines of their own, and rank 0 decides more windows than it would while others wait for a core.
set -euo pipefail
cd "$(dirname "$0")/.."
maxrace=$(realpath "$1") runs=${RUNS:-3}
read -ra numbers <<<"${RANKS:-2 4 8}"
read -ra settings <<<"${SETTINGS---candidates-far none --find races}"
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export scratch OMPI_MCA_orte_top_session_dir="$scratch/ompi" # its own: see packaging/maxrace-mpirun

# One rank, with user seconds and the most memory in a file of its own.
cat >"$scratch/rank.sh" <<'END'
#!/usr/bin/env bash
exec /usr/bin/time -q -f '%U %M' -o "$scratch/rank.${OMPI_COMM_WORLD_RANK:-0}" "$@"
END
chmod +x "$scratch/rank.sh"

# measure RANKS TRACE: "slowest mean megabytes-of-rank-0 of-others"; 0 ranks: one process.
measure() {
    local command=("$scratch/rank.sh" "$maxrace" predict --quiet --jobs 1 "${settings[@]}")
    rm -f "$scratch"/rank.[0-9]*
    if [ "$1" -gt 0 ]; then command=(mpirun -q --oversubscribe --allow-run-as-root --bind-to none -n "$1" "${command[@]}" --mpi); fi
    "${command[@]}" "$2" >"$scratch/report" 2>"$scratch/said" || [ $? -eq 1 ] || { cat "$scratch/said" >&2; exit 1; }
    awk 'FILENAME ~ /rank.0$/ { zero = $2 } FILENAME !~ /rank.0$/ && $2 > other { other = $2 }
        { sum += $1; if ($1 > most) most = $1 } END { print most + 0, sum / NR, zero / 1024, other / 1024 }' "$scratch"/rank.[0-9]*
}

echo "| trace | whole |$(printf ' %s ranks: slowest | mean | MB |' "${numbers[@]}")"
echo "|---|--:|$(printf -- '--:|--:|--:|%.0s' "${numbers[@]}")"
for trace in "$@"; do
    : >"$scratch/all"
    for ((run = 0; run < runs; run++)); do
        for number in 0 "${numbers[@]}"; do echo "$number $(measure "$number" "$trace")" >>"$scratch/all"; done
    done
    awk -v trace="$(basename "$trace" .mrt)" -v numbers="${numbers[*]}" '
        !($1 in slowest) || $2 < slowest[$1] { slowest[$1] = $2 }
        !($1 in mean) || $3 < mean[$1] { mean[$1] = $3; zero[$1] = $4; other[$1] = $5 }
        END {
            whole = mean[0] + 1e-9
            row = sprintf("| %s | %.2f |", trace, whole)
            count = split(numbers, number, " ")
            for (i = 1; i <= count; i++) {
                k = number[i]
                row = row sprintf(" %.2f (%.1f) | %.2f (%.1f, %.2f k) | %d, %d |", slowest[k], whole / slowest[k], mean[k], whole / mean[k],
                    whole / mean[k] / k, zero[k], other[k])
            }
            print row
        }' "$scratch/all"
done
