#!/usr/bin/env bash
# Hunts in one folder on several hosts, and hunts that are killed at random moments. The hosts are namespaces: each has a name, processes
# and clocks of its own, so that numbers of processes are the same on all. They share a file system, as hosts do by NFS.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
maxrace=$(realpath "${BUILD:-build/release}/maxrace")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/maxrace-check-hosts-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
. tests/support/check.sh
seed=${KILLS_SEED:-$RANDOM}
RANDOM=$seed

build() { MAXRACE_CC=gcc "$maxrace" cc -std=gnu17 -g -O0 -pthread tests/hunt/shared.c -o "$scratch/shared"; }

own_user=() # who is not root needs a namespace of users, too
[ "$(id -u)" = 0 ] || own_user=(--user --map-root-user)
# host NUMBER COMMAND…: runs it on the host; it ends with this process.
host() {
    local number=$1
    shift
    unshare "${own_user[@]}" --pid --fork --kill-child --mount-proc --uts --net --time --monotonic $((number * 100000)) --boottime $((number * 100000)) \
        sh -c 'hostname "$0" && exec "$@"' "host$number" "$@"
}

# hunts HOST FLAGS…: the program signs in a file of its host, which is at the same path everywhere.
hunts() {
    local number=$1
    shift
    host "$number" sh -c 'mkdir -p "$0" && mount --bind "$0" "$1" && shift && exec "$@"' "$scratch/host$number" "$scratch/local" \
        "$maxrace" hunt -q --jobs 1 --minimise no "$@" -- "$scratch/shared" "$scratch/local/signed" >>"$scratch/said$number" 2>&1 </dev/null
}

# No two lines of the journal for which the condition is true have the same word in the field.
once() { # JOURNAL FIELD CONDITION
    local twice
    twice=$(awk "$3 { print \$$2 }" "$1" | sort | uniq -d)
    [ -z "$twice" ] || { echo "twice in field $2 where $3:" $twice; return 1; }
}
is_one_hunt() { # FOLDER
    local journal=$1/journal
    once "$journal" 2 '$1 == "run"' && once "$journal" 7 '$1 == "run" && $3 != "free" && $3 != "state"' && once "$journal" 5 '$1 == "run" && $5 >= 0' &&
        once "$journal" 8 '$1 == "run" && $5 >= 0' && once "$journal" 2 '$1 == "finding"' && once "$journal" 5 '$1 == "finding"' &&
        [ "$(ls "$1/findings" | wc -l)" -eq "$(grep -c '^finding' "$journal")" ]
}

# lost FOLDER SIGNED…: how many runs the program made that are neither in the journal nor replays of a finding.
lost() {
    local folder=$1 replays
    shift
    replays=$(sed -n 's/^replay: .* after \([0-9]*\) runs .*/\1/p' "$folder/findings"/*/report.txt | paste -sd+)
    echo $(($(cat "$@" | wc -l) - $(grep -c '^run ' "$folder/journal") - (${replays:-0})))
}

runs() { grep -c '^run .*[a-z]$' "$1/journal" 2>/dev/null || true; }

# Three hosts hunt, one of them is switched off, and the others go on. What it had in hand is lost: a run with two replays of a finding.
hosts_share() {
    local folder=$scratch/hosts.hunt died number
    hunts 1 --dir "$folder" --runs 1 || return 1
    for number in 1 2 3; do
        hunts $number --resume "$folder" --runs 120 &
        died=$!
    done
    for _ in $(seq 600); do
        [ "$(runs "$folder")" -lt 20 ] || break
        sleep 0.05
    done
    kill -9 "$(pgrep -P $died -x unshare || echo $died)"
    wait
    is_one_hunt "$folder" || return 1
    number=$(lost "$folder" "$scratch"/host?/signed)
    [ "$number" -ge 0 ] && [ "$number" -le 3 ] || { echo "$number runs are lost"; return 1; }
    [ $(($(runs "$folder") + 1)) -ge 120 ] && [ "$(ls "$scratch"/host?/signed | wc -l)" -eq 3 ] &&
        ! grep -h '^maxrace' "$scratch"/said? || { runs "$folder"; ls "$scratch"/host?; return 1; }
}

# killed SECONDS FOLDER: a hunt that is ended then, whatever it does, and begins the folder when it is not there.
killed() {
    local flag=--resume process
    [ -e "$2/journal" ] || { rm -rf "$2"; flag=--dir; }
    "$maxrace" hunt -q --jobs 2 --minimise no $flag "$2" --runs 5000 -- "$scratch/shared" "$scratch/signed" >"$scratch/said" 2>&1 </dev/null &
    process=$!
    sleep "$1"
    kill -9 $process
    wait $process
    ! grep '^maxrace' "$scratch/said"
}

# Each round loses at most what its two jobs had in hand, keeps what there was, and can be gone on with.
survives_random_kills() {
    local folder=$scratch/killed.hunt rounds=8 before=0 now delay
    for _ in $(seq $rounds); do
        delay=$(printf '0.%03d' $((RANDOM % 400)))
        killed "$delay" "$folder" 2>/dev/null || { echo "seed $seed: killed after $delay s, then:"; cat "$scratch/said"; return 1; }
        now=$(runs "$folder")
        [ "${now:-0}" -ge "$before" ] || { echo "seed $seed: $now runs after $before"; return 1; }
        before=${now:-0}
    done
    killed 0.6 "$folder" 2>/dev/null
    "$maxrace" hunt -q --jobs 2 --minimise no --resume "$folder" --runs $(($(runs "$folder") + 4)) -- "$scratch/shared" "$scratch/signed" >"$scratch/said" 2>&1
    [ $? -le 1 ] && is_one_hunt "$folder" || { echo "seed $seed"; cat "$scratch/said"; return 1; }
    now=$(lost "$folder" "$scratch/signed")
    [ "$now" -ge 0 ] && [ "$now" -le $(((rounds + 1) * 2 * 3)) ] || { echo "seed $seed: $now runs are lost"; return 1; }
    [ -z "$(ls -d "$folder/maxrace-hunt-"* 2>/dev/null)" ] || { echo "scratch folders stay"; return 1; }
}

mkdir -p "$scratch/local"
check hunt_hosts_build build
if host 1 true 2>"$scratch/said"; then
    check hunt_hosts_share hosts_share
else
    skip hunt_hosts_share "no namespaces: $(head -n 1 "$scratch/said")"
fi
check hunt_survives_random_kills survives_random_kills
exit $((failures > 0))
