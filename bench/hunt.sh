#!/usr/bin/env bash
# How many runs a hunt needs up to the first failure, for each program of a manifest, over several seeds.
#
#   bench/hunt.sh MAXRACE FOLDER SEEDS RUNS
#
# FOLDER/manifest has a line for each program: its name, the outcomes that count (as the journal of a
# hunt names them, joined by commas, "race" among them, or "any" for each that is a failure), and the command, which is run
# in FOLDER; three fields with tabs between them. Or it is a manifest like that of bench/hunt, with | between five fields: then
# FOLDER has the source, which is built, what counts are its races and its other findings, and inputs are searched. Lines that
# begin with # say nothing. RUNS bounds a hunt. The recorded run counts as one.
set -eu
maxrace=$(realpath "$1") folder=$(realpath "$2") seeds=$3 runs=$4
work=$(mktemp -d "${TMPDIR:-/tmp}/maxrace-bench-hunt-XXXXXX")
trap 'rm -rf "$work"' EXIT

# own_program "NAME|MODE|FIRST INPUT|RACES|OTHER": builds it; sets expected, command and flags.
own_program() {
    local mode first races other
    IFS='|' read -r name mode first races other <<<"$1"
    "$maxrace" cc --hunt-inputs -g -O1 "$folder/$name.c" -o "$work/$name"
    rm -rf "$work/in"
    mkdir "$work/in"
    printf '%s' "$first" >"$work/in/first"
    command=("$work/$name") flags=()
    case $mode in
    stdin) flags=(--inputs "$work/in") ;;
    file) flags=(--inputs "$work/in") command+=(@@) ;;
    args) flags=(--args-file "$work/in/first") ;;
    esac
    expected=$([ "$races" = 0 ] || printf 'race,')$([ "$other" = - ] || printf '%s' "$other")
    expected=${expected:-any}
    expected=${expected%,}
}

# The first run with one of the outcomes; nothing when there is none.
first_run() { # JOURNAL
    awk -v expected="$expected" '
        function counts(kind) {
            return index("," expected ",", "," kind ",") ||
                   (expected == "any" && kind ~ /^(exit|oracle|livelock|deadlock|sanitizer|assertion|abort|crash)$/)
        }
        $1 == "run" && counts($10) { number[$2] = 1 }
        $1 == "finding" && $4 == "race" && counts($4) { number[$3] = 1 }
        END { for (n in number) if (!best || n + 0 < best) best = n + 0; if (best) print best }' "$1"
}

cd "$folder"
printf '%-32s %9s %9s %9s %9s %9s\n' program found mean median most "s a seed"
while IFS= read -r line; do
    case $line in
    '' | '#'*) continue ;;
    *$'\t'*)
        IFS=$'\t' read -r name expected words <<<"$line"
        read -ra command <<<"$words"
        flags=()
        ;;
    *) own_program "$line" ;;
    esac
    : >"$work/counts"
    until=$expected
    [ "$expected" != any ] || until=failure
    begin=$(date +%s.%N)
    for seed in $(seq "$seeds"); do
        rm -rf "$work/hunt"
        "$maxrace" hunt --dir "$work/hunt" --seed "$((seed * 1000003))" --runs "$runs" \
            --until "$until" --minimise no --jobs 1 --timeout 3000 -q "${flags[@]}" -- "${command[@]}" \
            >"$work/out" 2>"$work/err" </dev/null || [ $? -le 1 ] || cat "$work/err" >&2
        first_run "$work/hunt/journal" >>"$work/counts"
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
