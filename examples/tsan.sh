#!/bin/sh
# In how many of RUNS runs ThreadSanitizer reports something, and how many do not end, for each program of the tutorial.
# Usage: examples/tsan.sh [RUNS]      CC names other compilers: CC=gcc examples/tsan.sh 20
runs=${1:-20}
folder=$(dirname "$0")
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
printf '%-10s %-6s %5s %8s %8s\n' program with runs reports 'no end'
for program in bank singleton queue reload transfer cache; do
    for compiler in ${CC:-gcc clang}; do
        "$compiler" -g -O1 -pthread -fsanitize=thread "$folder/$program.c" -o "$scratch/$program" || exit 1
        reports=0 hung=0 run=0
        while [ "$run" -lt "$runs" ]; do
            run=$((run + 1))
            timeout 10 "$scratch/$program" >"$scratch/output" 2>&1
            [ $? -ne 124 ] || hung=$((hung + 1))
            ! grep -q '^WARNING: ThreadSanitizer' "$scratch/output" || reports=$((reports + 1))
        done
        printf '%-10s %-6s %5d %8d %8d\n' "$program" "$compiler" "$runs" "$reports" "$hung"
    done
done
