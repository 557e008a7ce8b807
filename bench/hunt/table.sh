#!/usr/bin/env bash
# What finds the planted races and failures of bench/hunt, as the tables of the Racageddon paper (Figures 3 to 5) put it.
#
#   bench/hunt/table.sh MAXRACE [RUNS [SEEDS [PROGRAM…]]]
#
# A line a program: static races that hybrid has in one recording, by the first input; those that are found by one run (the recorded
# order), by 100 runs of each schedule, by ThreadSanitizer in 100 runs, by a prediction on one recording; and races confirmed + other
# failures that a hunt of at most RUNS runs (400) has found: without swaps, without the frontier, without inputs, whole; then the run with its last
# finding, the seconds up to it, and those for all runs. Races are pairs of lines. A hunt is done under each of the seeds 1 to SEEDS (1): where they differ,
# the table has each outcome and how many seeds had it; runs and seconds are means. "!" marks hunts of which one did not find what the manifest says, or found
# more. The last line has the seconds that each column took for all programs, a hunt under one seed.
set -u
maxrace=$(realpath "$1") runs=${2:-400} seeds=${3:-1}
shift $(($# < 3 ? $# : 3))
folder=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/maxrace-bench-hunt-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 4

# command NAME MODE: how a program runs with the first input; words in `command`, its standard input in `from`.
command_of() {
    from=/dev/null command=("./$1")
    case $2 in
    stdin) from=$work/in/first ;;
    file) command+=("$work/in/first") ;;
    args) mapfile -t -O 1 command <"$work/in/first" ;;
    esac
}

# Static races of a report in JSON, as pairs of lines.
races_of() { python3 - "$@" <<'PY'
import json, sys
pairs = set()
def look(o):
    if isinstance(o, dict):
        if "first" in o and "second" in o and isinstance(o["first"], dict) and "location" in o["first"]:
            pairs.add(tuple(sorted(":".join(str(o[k]["location"]).split(":")[:2]) for k in ("first", "second"))))
        for v in o.values(): look(v)
    elif isinstance(o, list):
        for v in o: look(v)
for path in sys.argv[1:]:
    try: look(json.load(open(path)))
    except Exception: pass
print(len(pairs))
PY
}

# clock COLUMN COMMAND…: runs it; its seconds are added to those of the column.
columns=(hybrid run random pct tsan predict swap frontier search whole)
declare -A spent
for column in "${columns[@]}"; do spent[$column]=0; done
clock() {
    local column=$1 begin=$EPOCHREALTIME
    "${@:2}"
    spent[$column]=$(awk -v a="$begin" -v b="$EPOCHREALTIME" -v s="${spent[$column]}" 'BEGIN { print s + b - a }')
}

# hunt FLAGS…: "races+others" in `found`, once or with how many seeds had it; means in `took`: run of the last finding, seconds up to it and in all.
hunt() {
    local seed
    : >outcomes
    for seed in $(seq "$seeds"); do
        rm -rf hunt
        timeout -k 5 300 "$maxrace" hunt --dir hunt --seed "$((seed * 1000003))" --runs "$runs" --minimise no --jobs 1 -q "$@" -- "./$name" "${marks[@]}" \
            >out 2>err </dev/null
        awk 'FILENAME != "out" { if ($1 == "finding" && $4 != "output" && $3 + 0 > last) last = $3 + 0
                 if ($1 == "run") at[$2] = $9; next }
             FNR == 1 { for (i = 1; i <= NF; i++) if ($i == "s") s = $(i - 1) }
             /^ +[0-9]+ race /{ split($0, part, " between "); split(part[2], ends, " and ")
                 split(ends[1], a, ":"); split(ends[2], b, ":"); race[a[2] < b[2] ? a[2] "-" b[2] : b[2] "-" a[2]] = 1 }
             /^ +[0-9]+ (memory|exit|oracle|livelock|deadlock|sanitizer|assertion|abort|crash) /{ other[$2] = 1 }
             END { n = 0; for (r in race) n++; w = ""; for (o in other) w = w "+" o; print n w, last + 0, at[last] + 0, s }' hunt/journal out >>outcomes
    done
    found=$(awk '{ had[$1]++ }
                 END { for (o in had) s = s (s == "" ? "" : ", ") (had[o] == NR ? o : o " ×" had[o]); print s }' outcomes)
    took=$(awk '{ last += $2; at += $3; s += $4 } END { if (NR) printf "%.1f | %.1f | %.1f", last / NR, at / NR, s / NR }' outcomes)
}

record_and() { # ORDER…: of one recording; its report is in ORDER.json
    "$maxrace" record -o one.mrt -- "${command[@]}" <"$from" >/dev/null 2>&1
    "$maxrace" "$@" --format json one.mrt >"$1.json" 2>/dev/null
}
run_once() { "$maxrace" run --quick --format json -- "${command[@]}" <"$from" >run.json 2>/dev/null; }
run_often() { # SCHEDULE
    timeout -k 5 200 "$maxrace" run --quick --runs 100 --schedule "$1" --format json -- "${command[@]}" <"$from" >"$1.json" 2>/dev/null
}
run_sanitized() { for _ in $(seq 100); do timeout 10 "${command[@]}" <"$from" 2>&1; done >tsan.txt; }

printf '| program | hybrid | one run | random 100 | pct 100 | ThreadSanitizer 100 | predict | hunt, no swaps | no frontier | no inputs | whole | last finding | s to it | s |\n'
printf '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n'
while IFS='|' read -r name mode first races other; do
    case $name in '' | '#'*) continue ;; esac
    [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
    "$maxrace" cc --hunt-inputs -g -O1 "$folder/$name.c" -o "$name" || exit 4
    gcc -fsanitize=thread -g -O1 "$folder/$name.c" -o "$name.tsan" || exit 4
    rm -rf in && mkdir in && printf '%s' "$first" >in/first
    command_of "$name" "$mode"
    clock hybrid record_and order --relation hybrid --no-mark
    clock predict record_and predict
    clock run run_once
    clock random run_often random
    clock pct run_often pct
    command_of "$name.tsan" "$mode"
    clock tsan run_sanitized
    tsan=$(awk '/WARNING: ThreadSanitizer: (data race|heap-use)/{ n = 0 } /#0 / && n < 2 { match($0, /[a-z]+[.]c:[0-9]+/); line[n++] = substr($0, RSTART, RLENGTH)
                    if (n == 2) pair[line[0] < line[1] ? line[0] line[1] : line[1] line[0]] = 1 } END { c = 0; for (p in pair) c++; print c }' tsan.txt)
    marks=() flags=()
    case $mode in
    stdin) flags=(--inputs in) ;;
    file) flags=(--inputs in) marks=(@@) ;;
    args) flags=(--args-file in/first) ;;
    esac
    line="| $name | $(races_of order.json) | $(races_of run.json) | $(races_of random.json) | $(races_of pct.json) | $tsan | $(races_of predict.json)"
    clock swap hunt "${flags[@]}" --without swap
    line+=" | $found"
    clock frontier hunt "${flags[@]}" --without frontier
    line+=" | $found"
    clock search hunt "${flags[@]}" --input-search none
    line+=" | $found"
    clock whole hunt "${flags[@]}"
    [ "$found" = "$races$([ "$other" = - ] || printf '+%s' "$other")" ] || found="$found !"
    printf '%s | %s | %s |\n' "$line" "$found" "$took"
done <"$folder/manifest"
printf '| seconds |'
for column in "${columns[@]}"; do
    case $column in swap | frontier | search | whole) share=$seeds ;; *) share=1 ;; esac
    awk -v s="${spent[$column]}" -v n="$share" 'BEGIN { printf " %.2f |", s / n }'
done
printf ' | | |\n'
