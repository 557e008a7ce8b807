#!/usr/bin/env bash
# Replays all findings of many programs, and says what came of them: how many reach their goal at the first try, later, or not, with
# the cause; what their races do; and whether repeats are the same. Each program is recorded with each seed and predicted in each model.
#     bench/replay_all.sh [SOURCE…]       default: tests/programs/*-race.c, *-race.cpp, and examples/*.c without *-fixed.c
# SEEDS='1 2 3', MODELS='value rf', FLAGS=-O0 and REPEATS=1 say how. With REPEATS=20 each finding is replayed 20 times; what a replay says is
# compared, but for standard output and standard error. JOBS programs run at a time. KEEP=FILE keeps a line for each finding: source, seed, model,
# kind, number, confirmed, runs to the goal, effect, repeats that differ, cause.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
maxrace=$(realpath "${BUILD:-build/release}/maxrace")
export SEEDS="${SEEDS:-1 2 3}" MODELS="${MODELS:-value rf}" FLAGS="${FLAGS:--O0}" REPEATS="${REPEATS:-1}"

# findings REPLAY.json: a line for each finding, "kind number confirmed runs effect cause" with tabs, then all that it says.
findings() {
    awk '
        function value(text) { sub(/^ *"[a-z_]*": /, "", text); sub(/,$/, "", text); gsub(/^"|"$/, "", text); return text }
        function end() { if (kind != "") printf "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", kind, number, confirmed, runs, effect == "" ? "-" : effect, reason == "" ? "-" : reason, all }
        /^      "kind":/ { end(); kind = value($0); effect = reason = all = "" }
        /^      "number":/ { number = value($0) }
        /^      "confirmed":/ { confirmed = value($0) }
        /^      "replays":/ { runs = value($0) }
        /^      "effect":/ { effect = value($0) }
        /^      "reason":/ { reason = value($0) }
        !/"std(out|err)":/ { line = $0; gsub(/[ \t]+/, " ", line); all = all line }
        /^  "replayed":/ { sub(/ \], "replayed".*/, "", all); end(); kind = "" }' "$1"
}

# one SOURCE FOLDER: the lines of one program.
one() {
    local source=$1 folder=$2 command=cc standard=-std=gnu17 seed model repeat status
    mkdir -p "$folder"
    case $source in *.cpp) command=c++ standard=-std=c++20 ;; esac
    # The flags are words. shellcheck disable=SC2086
    "$maxrace" $command $standard -g $FLAGS -pthread "$source" -o "$folder/program" 2>"$folder/said" || { cat "$folder/said" >&2; return; }
    cd "$folder" || return
    for seed in $SEEDS; do
        rm -f one.mrt
        timeout -k 5 100 "$maxrace" record -q --seed "$seed" -o one.mrt -- ./program >said 2>&1 </dev/null
        [ -s one.mrt ] || { echo "$source: record, seed $seed: $(tail -n 1 said)" >&2; continue; }
        for model in $MODELS; do
            : >differ
            : >first
            for ((repeat = 1; repeat <= REPEATS; repeat++)); do
                timeout -k 5 300 "$maxrace" replay -q --format json --model "$model" one.mrt >now.json 2>said </dev/null
                status=$?
                [ $status -le 1 ] || { echo "$source: replay, seed $seed, model $model: status $status: $(tail -n 1 said)" >&2; break; }
                findings now.json >now
                [ "$repeat" -gt 1 ] || cp now first
                awk -F '\t' 'NR == FNR { all[FNR] = $0; next } all[FNR] != $0 { print FNR }' first now >>differ
            done
            awk -F '\t' -v OFS='\t' -v source="$source" -v seed="$seed" -v model="$model" '
                FILENAME == "differ" { differ[$1]++; next }
                { print source, seed, model, $1, $2, $3, $4, $5, differ[FNR] + 0, $6 }' differ first
        done
    done
}

if [ "${1:-}" = --one ]; then
    one "$2" "$3"
    rm -rf "$3"
    exit
fi

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
[ $# -gt 0 ] || set -- tests/programs/*-race.c tests/programs/*-race.cpp $(grep -L -e maxrace.h examples/*.c | grep -v -e -fixed)
number=0
for source in "$@"; do
    number=$((number + 1))
    printf '%s\0%s\0' "$(realpath "$source")" "$scratch/$number"
done | xargs -0 -r -n 2 -P "${JOBS:-$(nproc)}" "$0" --one | sed "s|^$PWD/||" | sort >"$scratch/lines"
[ -z "${KEEP:-}" ] || cp "$scratch/lines" "$KEEP"

awk -F '\t' -v repeats="$REPEATS" -v models="$MODELS" '
    {
        kind = $4 == "race" ? "races" : "other findings"
        all[$3]++
        if ($6 == "yes" && $7 == 1) first[$3]++
        else if ($6 == "yes") { later[$3]++; slow[++slows] = $0 }
        else missed[++misses] = $0
        if ($6 == "yes") effects[$3, $8, kind]++
        differing[$3] += $9 > 0
        if ($9 > 0) varies[++varying] = $0
    }
    function line(text, part) { split(text, part, "\t"); return part[1] ", seed " part[2] ", " part[3] ": " part[4] " " part[5] }
    END {
        count = split(models, name, " ")
        for (i = 1; i <= count; i++) {
            m = name[i]
            reached = first[m] + later[m]
            printf "model %s: %d findings; %d reach their goal (%.1f %%), %d at the first try (%.1f %%)", m, all[m], reached,
                all[m] ? 100 * reached / all[m] : 0, first[m], all[m] ? 100 * first[m] / all[m] : 0
            if (repeats > 1) printf "; %d not the same in %d replays", differing[m], repeats
            print ""
        }
        split("crashes deadlocks output state none unknown", effect, " ")
        for (i = 1; i <= count; i++) {
            printf "\n%-16s %8s %16s\n", "model " name[i], "races", "other findings"
            for (e = 1; e <= 6; e++) printf "%-16s %8d %16d\n", effect[e], effects[name[i], effect[e], "races"], effects[name[i], effect[e], "other findings"]
        }
        if (slows) print "\nreached later:"
        for (i = 1; i <= slows; i++) { split(slow[i], part, "\t"); print "  " line(slow[i]) ": run " part[7] }
        if (misses) print "\nnot reached:"
        for (i = 1; i <= misses; i++) { split(missed[i], part, "\t"); print "  " line(missed[i]) ": " part[10] }
        if (varying) print "\nnot the same:"
        for (i = 1; i <= varying; i++) { split(varies[i], part, "\t"); print "  " line(varies[i]) ": " part[9] " of " repeats " differ" }
    }' "$scratch/lines"
