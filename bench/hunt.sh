#!/bin/sh
# How many runs a hunt needs up to the first failure, for each program of a manifest, over several seeds.
#
#   bench/hunt.sh MAXRACE FOLDER SEEDS RUNS
#
# FOLDER/manifest has a line for each program: its name, the outcomes that count (as the journal of a
# hunt names them, joined by commas, or "any" for each that is a failure), and the command, which is run
# in FOLDER; three fields with tabs between them. Lines that begin with # say nothing. RUNS bounds a
# hunt. The recorded run counts as one.
set -eu
maxrace=$(realpath "$1") folder=$(realpath "$2") seeds=$3 runs=$4
work=$(mktemp -d "${TMPDIR:-/tmp}/maxrace-bench-hunt-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$folder"
tab=$(printf '\t')
printf '%-32s %9s %9s %9s %9s %9s\n' program found mean median most "s a seed"
while IFS="$tab" read -r name expected command; do
    case $name in '' | '#'*) continue ;; esac
    : >"$work/counts"
    until=$expected
    [ "$expected" != any ] || until=failure
    begin=$(date +%s.%N)
    for seed in $(seq "$seeds"); do
        rm -rf "$work/hunt"
        # The command is words. shellcheck disable=SC2086
        "$maxrace" hunt --dir "$work/hunt" --seed "$((seed * 1000003))" --runs "$runs" \
            --until "$until" --minimise no --jobs 1 --timeout 3000 -q -- $command \
            >"$work/out" 2>"$work/err" </dev/null || [ $? -le 1 ] || cat "$work/err" >&2
        awk -v expected="$expected" '
            $1 == "run" && ((expected == "any" && $10 ~ /^(exit|oracle|livelock|deadlock|sanitizer|assertion|abort|crash)$/) ||
                            index("," expected ",", "," $10 ",")) { print $2; exit }' \
            "$work/hunt/journal" >>"$work/counts"
    done
    end=$(date +%s.%N)
    sort -n "$work/counts" | awk -v name="$name" -v seeds="$seeds" -v begin="$begin" -v end="$end" '
        { count[NR] = $1; sum += $1 }
        END {
            if (NR)
                printf "%-32s %4d / %2d %9.1f %9.1f %9d %9.2f\n", name, NR, seeds, sum / NR,
                    (count[int((NR + 1) / 2)] + count[int(NR / 2) + 1]) / 2, count[NR], (end - begin) / seeds
            else
                printf "%-32s %4d / %2d %9s %9s %9s %9.2f\n", name, 0, seeds, "-", "-", "-", (end - begin) / seeds
        }' | tee -a "$work/table"
done <manifest
awk '$4 == "0" || $2 == 0 { next } { logs += log($5 == "" ? 1 : $5); count++; all += $2 == $4 }
     END { if (count) printf "%d programs fail in some seed, %d in all; geometric mean of the means %.2f\n", count, all, exp(logs / count) }' "$work/table"
