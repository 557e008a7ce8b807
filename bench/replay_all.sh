#!/usr/bin/env bash
# Replays all findings of many programs, and says what came of them: how many reach their goal at the first try, later, or not, with
# the cause; what their races do; and whether repeats are the same. Each program is recorded with each seed and predicted in each model.
#     bench/replay_all.sh [SOURCE…|FOLDER…]       default: tests/programs/*-race.c, *-race.cpp, and examples/*.c without *-fixed.c
# A FOLDER has programs that 'maxrace cc' has built, and a file `manifest`: a line for each, its name, its command, which is run in FOLDER, and
# perhaps a command that runs beside the recording (the clients of a server, which also ends that); fields with tabs between them. Lines
# that begin with # say nothing. Then there is a table of the programs, too.
# SEEDS='1 2 3', MODELS='value rf', FLAGS=-O0, REPEATS=1 and LIMIT=300 (seconds for the findings of a trace) say how. With REPEATS=20 each finding is replayed 20 times; what a replay says is
# compared, but for standard output and standard error. JOBS programs run at a time. KEEP=FILE keeps a line for each finding: source, seed, model,
# kind, number, confirmed, runs to the goal, effect, repeats that differ, cause; and one for each trace: source, seed, model, "trace", events,
# rounds that were whole.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
maxrace=$(realpath "${BUILD:-build/release}/maxrace")
export SEEDS="${SEEDS:-1 2 3}" MODELS="${MODELS:-value rf}" FLAGS="${FLAGS:--O0}" REPEATS="${REPEATS:-1}" LIMIT="${LIMIT:-300}"

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

# build SOURCE FOLDER: FOLDER/program.
build() {
    local command=cc standard=-std=gnu17 library=
    case $1 in *.cpp) command=c++ standard=-std=c++20 ;; */glib-*) library=$(pkg-config --cflags --libs glib-2.0) ;; esac
    # The flags are words. shellcheck disable=SC2086
    "$maxrace" $command $standard -g $FLAGS -pthread "$1" $library -o "$2/program" 2>"$2/said" || { cat "$2/said" >&2; return 1; }
}

# record SEED DRIVER COMMAND: writes $folder/one.mrt.
record() {
    local seed=$1 driver=$2 beside=
    shift 2
    rm -f "$folder/one.mrt"
    [ -z "$driver" ] || { timeout -k 5 100 sh -c "$driver" >/dev/null 2>&1 </dev/null & beside=$!; }
    timeout -k 5 100 "$maxrace" record -q --seed "$seed" -o "$folder/one.mrt" -- "$@" >"$folder/output" 2>"$folder/said" </dev/null
    [ -z "$beside" ] || wait "$beside"
    [ -s "$folder/one.mrt" ] || { echo "$name: record, seed $seed: $(tail -n 1 "$folder/said")" >&2; return 1; }
}

# repeats SEED MODEL: the lines of the findings of $folder/one.mrt, and one of the trace. A round that ran into its limit is not whole,
# and ends the repeats.
repeats() {
    local seed=$1 model=$2 repeat status whole=0
    : >"$folder/differ"
    : >"$folder/first"
    for ((repeat = 1; repeat <= REPEATS; repeat++)); do
        timeout -k 5 "$LIMIT" "$maxrace" replay -q --format json --model "$model" "$folder/one.mrt" >"$folder/now.json" 2>"$folder/said" </dev/null
        status=$?
        [ $status -le 1 ] || { echo "$name: replay, seed $seed, model $model: status $status: $(tail -n 1 "$folder/said")" >&2; break; }
        whole=$repeat
        findings "$folder/now.json" >"$folder/now"
        [ "$repeat" -gt 1 ] || cp "$folder/now" "$folder/first"
        awk -F '\t' 'NR == FNR { all[FNR] = $0; next } all[FNR] != $0 { print FNR }' "$folder/first" "$folder/now" >>"$folder/differ"
    done
    awk -F '\t' -v OFS='\t' -v source="$name" -v seed="$seed" -v model="$model" -v differ_file="$folder/differ" '
        FILENAME == differ_file { differ[$1]++; next }
        { print source, seed, model, $1, $2, $3, $4, $5, differ[FNR] + 0, $6 }' "$folder/differ" "$folder/first"
    printf '%s\t%s\t%s\ttrace\t%s\t%s\n' "$name" "$seed" "$model" "$("$maxrace" info "$folder/one.mrt" | awk '$1 == "events" { print $2 }')" "$whole"
}

# one SOURCE FOLDER, or one "FOLDER NAME COMMAND DRIVER" FOLDER (with tabs): the lines of one program.
one() {
    local folder=$2 name place command driver seed model
    mkdir -p "$folder"
    IFS=$'\t' read -r place name command driver <<<"$1"
    if [ -n "$command" ]; then
        cd "$place" || return
        read -ra command <<<"$command"
    else
        name=$1 command=("$folder/program")
        build "$1" "$folder" || return
        cd "$folder" || return
    fi
    for seed in $SEEDS; do
        record "$seed" "$driver" "${command[@]}" || continue
        for model in $MODELS; do
            repeats "$seed" "$model"
        done
    done
}

# items SOURCE|FOLDER…: what there is to do, each ended by a zero byte.
items() {
    local item line
    for item in "$@"; do
        if [ -d "$item" ]; then
            while IFS= read -r line; do
                case $line in '' | '#'*) ;; *) printf '%s\t%s\0' "$(realpath "$item")" "$line" ;; esac
            done <"$item/manifest"
        else
            printf '%s\0' "$(realpath "$item")"
        fi
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
items "$@" | while IFS= read -r -d '' item; do
    number=$((number + 1))
    printf '%s\0%s\0' "$item" "$scratch/$number"
done | xargs -0 -r -n 2 -P "${JOBS:-$(nproc)}" "$0" --one | sed "s|^$PWD/||" | sort >"$scratch/lines"
[ -z "${KEEP:-}" ] || cp "$scratch/lines" "$KEEP"

table=0
for item in "$@"; do [ ! -d "$item" ] || table=1; done
awk -F '\t' -v repeats="$REPEATS" -v models="$MODELS" -v table=$table '
    !($1 in rank) { rank[$1] = ++programs; program[programs] = $1 }
    $4 == "trace" {
        if ($3 == first_model || first_model == "") {
            first_model = $3
            events[$1] = $5 > events[$1] ? $5 : events[$1]
            traces[$1]++
        }
        recorded[$3]++
        if ($6 < repeats) { cut[$3]++; short[++shorts] = $1 ", seed " $2 ", " $3 ": " $6 " of " repeats " rounds" }
        if (!($3 in fewest) || $6 < fewest[$3]) fewest[$3] = $6
        next
    }
    {
        if ($6 == "yes") {
            if ($7 == 1) its_first[$1]++
            else its_later[$1]++
            if (!index(its_effects[$1], $8)) its_effects[$1] = its_effects[$1] (its_effects[$1] == "" ? "" : ", ") $8
        }
        its_all[$1]++
        its_varying[$1] += $9 > 0
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
            if (repeats > 1 && !cut[m]) printf "; %d not the same in %d replays", differing[m], repeats
            else if (repeats > 1) printf "; %d not the same in %d to %d replays", differing[m], fewest[m], repeats
            if (cut[m]) printf "; %d of %d traces were not replayed to the end", cut[m], recorded[m]
            print ""
        }
        split("crashes deadlocks output state none unknown", effect, " ")
        for (i = 1; i <= count; i++) {
            printf "\n%-16s %8s %16s\n", "model " name[i], "races", "other findings"
            for (e = 1; e <= 6; e++) printf "%-16s %8d %16d\n", effect[e], effects[name[i], effect[e], "races"], effects[name[i], effect[e], "other findings"]
        }
        if (table) {
            print "\n| program | traces | most events | findings | first try | later | not | repeats differ | effects |"
            print "|---|--:|--:|--:|--:|--:|--:|--:|---|"
            for (i = 1; i <= programs; i++) {
                p = program[i]
                printf "| %s | %d | %d | %d | %d | %d | %d | %s | %s |\n", p, traces[p], events[p], its_all[p], its_first[p], its_later[p],
                    its_all[p] - its_first[p] - its_later[p], (repeats > 1 ? its_varying[p] + 0 : ""), its_effects[p]
            }
        }
        if (shorts) print "\nwhole rounds, where LIMIT or an error ended them:"
        for (i = 1; i <= shorts; i++) print "  " short[i]
        if (slows) print "\nreached later:"
        for (i = 1; i <= slows; i++) { split(slow[i], part, "\t"); print "  " line(slow[i]) ": run " part[7] }
        if (misses) print "\nnot reached:"
        for (i = 1; i <= misses; i++) { split(missed[i], part, "\t"); print "  " line(missed[i]) ": " part[10] }
        if (varying) print "\nnot the same:"
        for (i = 1; i <= varying; i++) { split(varies[i], part, "\t"); print "  " line(varies[i]) ": " part[9] " of " repeats " differ" }
    }' "$scratch/lines"
