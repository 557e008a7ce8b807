#!/usr/bin/env bash
# Programs that are right: what a hunt says of them, which should be nothing.
#
#   bench/hunt_safe.sh MAXRACE RUNS SOURCE…
#
# Each source in C or C++ is built as tests/check_record_programs.sh does it, and hunted for at most RUNS runs and 60 seconds, under seed 1. A line
# a program: runs, behaviours, confirmed races, failures, and seconds; the findings below it. Programs in which nothing is found are only counted, unless
# ALL=1 is set. The last lines are sums.
set -u
maxrace=$(realpath "$1") runs=$2
shift 2
work=$(mktemp -d "${TMPDIR:-/tmp}/maxrace-bench-hunt-XXXXXX")
trap 'rm -rf "$work"' EXIT
printf '%-28s %6s %10s %6s %9s %7s\n' program runs behaviours races failures seconds
for source in "$@"; do
    name=$(basename "$source") command=cc standard=-std=gnu17
    case $name in *.cpp) command=c++ standard=-std=c++20 ;; esac
    "$maxrace" $command $standard -w -g -O0 -pthread "$source" -o "$work/${name%.*}" 2>"$work/err" || { echo "$name: not built" && continue; }
    rm -rf "$work/hunt"
    begin=$EPOCHREALTIME
    timeout -k 5 90 "$maxrace" hunt --dir "$work/hunt" --runs "$runs" --seed 1 --time-limit 60 --jobs 1 --minimise no --timeout 3000 -q -- \
        "$work/${name%.*}" >"$work/out" 2>"$work/err" </dev/null
    [ $? -le 1 ] || { echo "$name: $(head -n 1 "$work/err")" && continue; }
    awk -v name="${name%.*}" -v seconds="$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')" -v all="${ALL:-0}" '
        $1 == "run" { runs++; known += $5 >= 0 }
        $1 == "finding" { if ($4 == "race") races++; else if ($4 != "output") failures++
                          text = text "    " $0 "\n" }
        END { if (all || races + failures)
                  printf "%-28s %6d %10d %6d %9d %7.1f\n%s", name, runs, known, races, failures, seconds, text
              print runs, races + failures > "/dev/stderr" }' "$work/hunt/journal" 2>>"$work/sums"
done
awk '{ runs += $1; if ($2) found++; else quiet++ } END { printf "%d programs, %d runs: nothing found in %d, something in %d\n", NR, runs, quiet, found }' "$work/sums"
