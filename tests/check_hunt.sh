#!/usr/bin/env bash
# Hunts in tests/hunt: what is found, that a saved finding can be repeated, that nothing is found where nothing is wrong, and that a
# hunt that is killed at any moment goes on and loses at most the run in hand. TEST_LENGTH=full: only what takes longest. Each check prints "[       OK ] name", or the reason
# and "[  FAILED  ] name".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
maxrace=$(realpath "${BUILD:-build/release}/maxrace")
work=$(mktemp -d "${TMPDIR:-/tmp}/maxrace-check-hunt-XXXXXX")
trap 'rm -rf "$work"' EXIT
export MAXRACE_SYMBOL_CACHE=$work/symbols
mkdir -p "$work/symbols"
failed=0

check() { # NAME FUNCTION
    local said
    if said=$("$2" 2>&1); then
        echo "[       OK ] $1"
    else
        printf '%s\n[  FAILED  ] %s\n' "$said" "$1"
        failed=1
    fi
}

hunt() { # FOLDER FLAGS… -- PROGRAM
    local folder=$1
    shift
    timeout -k 5 100 "$maxrace" hunt -q --jobs 1 --timeout 3000 --dir "$work/$folder" "$@" </dev/null
}

build() {
    local name
    for name in order locks fine swap near shared deque spin leave count; do
        MAXRACE_CC=gcc "$maxrace" cc -std=gnu17 -g -O0 -pthread "tests/hunt/$name.c" -o "$work/$name" || return 1
    done
}

# finds NAME KIND RUNS: within so many runs, and 'replay' repeats it three times.
finds() {
    local folder
    hunt "$1.hunt" --runs "$3" -- "$work/$1" >"$work/said"
    [ $? -eq 1 ] || { cat "$work/said"; return 1; }
    folder=$(ls -d "$work/$1.hunt/findings/"*-"$2") || { cat "$work/said"; return 1; }
    for _ in 1 2 3; do
        timeout -k 5 60 "$maxrace" replay "$folder" >"$work/replayed" 2>/dev/null
        [ $? -eq 1 ] && grep -q " $2 repeated" "$work/replayed" || { cat "$work/replayed"; return 1; }
    done
    [ -z "$(ls -d "$work/$1.hunt/maxrace-hunt-"* 2>/dev/null)" ] || { echo "scratch folders stay"; return 1; }
}

finds_assertion() { finds order assertion 150; }
finds_deadlock() { finds locks deadlock 20 && grep -q 'wait for each other: .* waits for mutex .*; .* waits for mutex ' "$work/locks.hunt/findings/"*-deadlock/report.txt; }
finds_status() { finds swap exit 20; }
# What a sanitizer says, by both compilers: clang links its library in another way.
finds_sanitizer() {
    local compiler
    for compiler in gcc clang; do
        command -v $compiler >/dev/null || continue
        rm -rf "$work/overflow.hunt"
        MAXRACE_CC=$compiler "$maxrace" cc -std=gnu17 -g -O0 -pthread -fsanitize=undefined tests/hunt/overflow.c -o "$work/overflow" && finds overflow sanitizer 20 || return 1
        grep -q 'signed integer overflow' "$work/overflow.hunt/findings/"*-sanitizer/report.txt || return 1
    done
}
# Without the guide most hunts need some hundred runs.
finds_by_states() { finds deque assertion 200 && awk '$1 == "run" && $3 == "state" && $10 == "assertion" { found = 1 } END { exit !found }' "$work/deque.hunt/journal"; }
# A read that sees an earlier write, while the threads before it stand where they stood. Without that some free run has to meet it.
finds_lost_update() {
    local seed
    for seed in 1 2 3; do
        hunt "count.$seed" --seed $seed --runs 8 --minimise no --without states --until assertion -- "$work/count" >"$work/said"
        grep -q '^run .* sees .* assertion$' "$work/count.$seed/journal" || { cat "$work/said" "$work/count.$seed/journal"; return 1; }
    done
}
# Alike local states may still go on differently: that is asked when nothing else is left.
finds_by_equal_states() {
    hunt leave.hunt --seed 2 --runs 100 --minimise no --without frontier --until assertion -- "$work/leave" >"$work/said"
    [ $? -eq 1 ] && tail -1 "$work/leave.hunt/journal" | grep -q ' state .* assertion$' || { cat "$work/said"; return 1; }
}
confirms_race() { ls -d "$work/swap.hunt/findings/"*-race >/dev/null && finds_again swap race; }
# A race that no reordering of the first run has: a run for the candidate finds it (in the journal, before the race). With other seeds
# the first run may have met it, or a free one.
comes_near() {
    local seed
    for seed in 800 900 1000 1100; do
        hunt "near.$seed" --seed $seed --runs 20 --minimise no --without frontier -- "$work/near" >"$work/said"
        awk '$1 == "run" && $3 == "near" { near = 1 } $1 == "finding" && $4 == "race" && near { found = 1 } END { exit !found }' \
            "$work/near.$seed/journal" && return
    done
    cat "$work/said" "$work/near.800/journal"
    return 1
}
# A race that a read has shown in the first run, because it saw the other write, is no less to be run the other way round.
swaps_first() {
    local seed
    MAXRACE_CC=gcc "$maxrace" cc -std=gnu17 -g -O0 -pthread tests/programs/swap-lock-race.c -o "$work/swaps" || return 1
    for seed in 1 2 3; do
        hunt "swaps.$seed" --seed $seed --runs 2 --minimise no -- "$work/swaps" >"$work/said"
        awk '$1 == "run" && $2 == 2 { kind = $3 } END { exit kind != "swap" }' "$work/swaps.$seed/journal" ||
            { cat "$work/swaps.$seed/journal"; return 1; }
    done
}
# It ends the hunt at the first race that a run has confirmed.
ends_at_race() {
    hunt until.hunt --until race --runs 60 --minimise no -- "$work/swap" >"$work/said"
    awk '$1 == "finding" && $4 == "race" { race = $3 } $1 == "run" { last = $2 } END { exit !(race && race == last) }' "$work/until.hunt/journal" &&
        grep -q 'ended where --until says' "$work/said" || { cat "$work/said" "$work/until.hunt/journal"; return 1; }
}

# Of a run that spins for ever no more is recorded than the others let expect.
cuts_spinning() {
    hunt spin.hunt --runs 10 --timeout 1000 --minimise no --until livelock -- "$work/spin" >"$work/said"
    grep -q '^run .* livelock$' "$work/spin.hunt/journal" && grep -q '^cut ' "$work/spin.hunt/journal" &&
        [ -z "$(find "$work/spin.hunt" -size +8M)" ] || { cat "$work/said"; find "$work/spin.hunt" -size +8M; return 1; }
}

# A run whose log was stopped is told.
tells_cut() {
    cp -r "$work/until.hunt" "$work/cut.hunt" && echo 'cut 1' >>"$work/cut.hunt/journal"
    "$maxrace" hunt --report "$work/cut.hunt" >"$work/said"
    "$maxrace" hunt --report "$work/cut.hunt" --format json >"$work/said.json"
    "$maxrace" hunt --report "$work/until.hunt" >"$work/said.whole"
    grep -q '^Of 1 run only what filled the log' "$work/said" && grep -q '"cut_runs":1,' "$work/said.json" &&
        ! grep -q 'filled the log' "$work/said.whole" || { cat "$work/said"; return 1; }
}
finds_again() {
    timeout -k 5 60 "$maxrace" replay "$work/$1.hunt/findings/"*-"$2" >"$work/replayed"
    grep -q "$2 repeated" "$work/replayed"
}

# A schedule that is as short as it can be: the deadlock takes two switches between the threads.
is_short() { # the pieces: main, one thread up to its second lock, the other, maybe the first again
    local switches
    switches=$(sed -n 's/^context switches: //p' "$work/locks.hunt/findings/"*-deadlock/report.txt)
    [ "$switches" -le 3 ] || { cat "$work/locks.hunt/findings/"*-deadlock/report.txt; return 1; }
}

finds_nothing() {
    hunt fine.hunt --runs 60 -- "$work/fine" >"$work/said" || { cat "$work/said"; return 1; }
    grep -q 'No run failed.' "$work/said" && grep -q 'What was not run may still fail.' "$work/said" &&
        [ -z "$(ls "$work/fine.hunt/findings")" ] || { cat "$work/said"; return 1; }
}

# Another output is told, and is no failure.
tells_output() {
    "$maxrace" cc -std=gnu17 -g -O1 examples/bank-fixed.c -o "$work/fixed" || return 1
    hunt fixed.hunt --seed 1 --runs 12 -- "$work/fixed" >"$work/said" && grep -q '1 output (run' "$work/said" || { cat "$work/said"; return 1; }
}

# A thread waits, in a call of the kernel or for a lock that other processes may have, for what another one is to do, which the
# schedule of the run has stopped: the schedule gives way.
gives_way() {
    local name
    for name in pipe rwlock-destroy; do
        MAXRACE_CC=gcc "$maxrace" cc -std=gnu17 -g -O0 -pthread "tests/programs/$name-safe.c" -o "$work/$name" || return 1
        hunt "$name.hunt" --seed 1 --runs 5 -- "$work/$name" >"$work/said" && ! grep -q livelock "$work/$name.hunt/journal" ||
            { cat "$work/said" "$work/$name.hunt/journal"; return 1; }
    done
}

# A status of 255 is one that an oracle may end with. The command of the second hunt has two lines.
oracle() {
    hunt oracle.hunt --runs 5 --oracle 'grep -q undone' -- "$work/order" >"$work/said"
    [ $? -eq 1 ] && grep -q '^replay: fails in the same way' "$work/oracle.hunt/findings/"*-oracle/report.txt &&
        finds_again oracle oracle || { cat "$work/said" "$work/replayed"; return 1; }
    hunt dies.hunt --runs 1 --minimise no --oracle $'cat >/dev/null\nexit 255' -- "$work/order" >"$work/said"
    [ $? -eq 1 ] && finds_again dies oracle || { cat "$work/said" "$work/replayed"; return 1; }
    refuses 4 'cannot run the oracle' "$maxrace" hunt --dir "$work/nobody.hunt" --oracle "$work/said" -- "$work/order" &&
        refuses 4 'is longer than 4000 bytes: put it into a script' "$maxrace" hunt --dir "$work/long.hunt" --oracle "true $(printf '%5000s' '')" -- "$work/order"
}

# Kills a hunt again and again; the runs in the journal only grow, and have the numbers 1, 2, … once each.
survives_kills() {
    local before=0 now process delay flag=--dir
    for delay in 0.35 0.15 0.55 0.25; do
        "$maxrace" hunt -q --jobs 1 $flag "$work/killed" --runs 5000 -- "$work/order" >/dev/null 2>&1 </dev/null &
        process=$!
        for _ in $(seq 100); do # it has begun
            [ -s "$work/killed/journal" ] && break
            sleep 0.02
        done
        sleep "$delay"
        kill -9 $process
        wait $process 2>/dev/null
        flag=--resume
        now=$(grep -c '^run .*[a-z]$' "$work/killed/journal")
        [ "$now" -ge "$before" ] || { echo "$now runs after $before"; return 1; }
        before=$now
    done
    now=$((now + 3))
    timeout -k 5 100 "$maxrace" hunt -q --jobs 1 --resume "$work/killed" --runs $now -- "$work/order" >"$work/said" 2>&1 </dev/null
    [ $? -le 1 ] || { cat "$work/said"; return 1; }
    awk '$1 == "run" { if ($2 != ++n) exit 1 } END { exit n < 3 }' "$work/killed/journal" || { cat "$work/killed/journal"; return 1; }
    "$maxrace" hunt --report "$work/killed" >"$work/said"
    grep -q ": $now runs" "$work/said" || { cat "$work/said"; return 1; }
}

# once FIELD CONDITION: no two lines of the shared journal for which the condition is true have the same word there.
once() {
    local twice
    twice=$(awk "$2 { print \$$1 }" "$work/shared.hunt/journal" | sort | uniq -d)
    [ -z "$twice" ] || { echo "twice in field $1 where $2:" $twice; return 1; }
}

# What the processes of a shared hunt have written belongs together: numbers, tasks, behaviours and findings are there once.
is_one_hunt() {
    once 2 '$1 == "run"' && once 7 '$1 == "run" && $3 != "free" && $3 != "state"' && once 5 '$1 == "run" && $5 >= 0' && once 8 '$1 == "run" && $5 >= 0' &&
        once 2 '$1 == "finding"' && once 5 '$1 == "finding"'
}

join_hunt() { # RUNS: one more process, in the background
    "$maxrace" hunt -q --jobs 2 --minimise no --resume "$work/shared.hunt" --runs "$1" -- "$work/shared" "$work/signed" \
        >>"$work/joined" 2>&1 </dev/null &
}

# unknown_runs: how many runs are neither in the journal nor replays of a finding, which its report counts.
unknown_runs() {
    local replays
    replays=$(sed -n 's/^replay: .* after \([0-9]*\) runs .*/\1/p' "$work/shared.hunt/findings"/*/report.txt | paste -sd+)
    echo $(($(wc -l <"$work/signed") - $(grep -c '^run ' "$work/shared.hunt/journal") - (${replays:-0})))
}

# Three processes share a folder: each does a part of the runs, and no run is made twice.
shares() {
    local makers
    hunt shared.hunt --runs 1 --minimise no -- "$work/shared" "$work/signed" >/dev/null || return 1
    for _ in 1 2 3; do join_hunt 100; done
    wait
    ! grep '^maxrace' "$work/joined" && is_one_hunt || return 1
    [ "$(grep -c '^run ' "$work/shared.hunt/journal")" -eq 100 ] && [ "$(unknown_runs)" -eq 0 ] || { unknown_runs; return 1; }
    makers=$(sort -u "$work/signed" | wc -l)
    [ "$makers" -eq 4 ] || { echo "$makers processes made runs"; return 1; }
    [ "$(ls "$work/shared.hunt/findings" | wc -l)" -eq "$(grep -c '^finding' "$work/shared.hunt/journal")" ]
}

# comes_on RUNS: waits until the shared journal has so many more, for as long as a slow machine may need.
comes_on() {
    local wanted
    wanted=$(($(grep -c '^run ' "$work/shared.hunt/journal") + $1))
    for _ in $(seq 600); do
        [ "$(grep -c '^run ' "$work/shared.hunt/journal")" -lt $wanted ] || return 0
        sleep 0.05
    done
    echo "no run is made"
    return 1
}

# Of two processes one is killed; the other one and those that come later go on, and only runs in hand are lost.
shares_with_killed() {
    local killed
    for _ in 1 2; do
        join_hunt 5000
        killed=$!
        join_hunt 5000
        comes_on 10
        kill -9 $killed
        comes_on 10 # by the other one
        kill -9 $!
        wait
    done 2>/dev/null >"$work/came"
    [ ! -s "$work/came" ] || { cat "$work/came"; return 1; }
    [ "$(unknown_runs)" -le 24 ] || { echo "$(unknown_runs) runs are lost"; return 1; } # four times two jobs, each with two replays
    : >"$work/joined"
    join_hunt 0
    comes_on 1 || return 1
    kill -TERM $!
    wait
    is_one_hunt && grep -q 'The hunt was interrupted' "$work/joined" || { cat "$work/joined"; return 1; }
    [ -z "$(ls -d "$work/shared.hunt/maxrace-hunt-"* 2>/dev/null)" ] || { echo "scratch folders stay"; return 1; }
}

refuses() { # STATUS WORDS COMMAND…
    local status=$1 words=$2
    shift 2
    timeout 20 "$@" >"$work/said" 2>&1 </dev/null
    [ $? -eq "$status" ] && grep -q "$words" "$work/said" || { echo "$*"; cat "$work/said"; return 1; }
}

usage() {
    refuses 2 'missing operand' "$maxrace" hunt &&
        refuses 4 'is there already' "$maxrace" hunt --dir "$work/fine.hunt" -- "$work/fine" &&
        refuses 4 'not the folder of a hunt' "$maxrace" hunt --resume "$work" -- "$work/fine" &&
        refuses 2 'of another program' "$maxrace" hunt --resume "$work/fine.hunt" -- "$work/fine" more &&
        refuses 3 'maxrace cc' "$maxrace" hunt --dir "$work/true.hunt" -- /bin/true &&
        refuses 2 'is not failure or end' "$maxrace" hunt --until now -- "$work/fine" &&
        refuses 4 'no finding of a hunt' "$maxrace" replay "$work"
}

check hunt_programs_build build
if [ "${TEST_LENGTH:-}" = full ]; then
    check hunt_finds_by_states finds_by_states
    exit $failed
fi
check hunt_finds_assertion finds_assertion
check hunt_finds_deadlock finds_deadlock
check hunt_finds_status finds_status
check hunt_finds_sanitizer finds_sanitizer
check hunt_finds_lost_update finds_lost_update
check hunt_finds_by_equal_states finds_by_equal_states
check hunt_confirms_race confirms_race
check hunt_ends_at_race ends_at_race
check hunt_cuts_spinning cuts_spinning
check hunt_tells_cut tells_cut
check hunt_swaps_first swaps_first
check hunt_comes_near comes_near
check hunt_schedule_is_short is_short
check hunt_finds_nothing finds_nothing
check hunt_tells_output tells_output
check hunt_gives_way gives_way
check hunt_asks_oracle oracle
check hunt_survives_kills survives_kills
check hunt_shares shares
check hunt_shares_with_killed shares_with_killed
check hunt_refuses usage
exit $failed
