#!/usr/bin/env bash
# Runs test suites, prints a line for each when it ends, and last the line "N passed, N failed".
#
#   tests/run.sh test             what 'make test' runs: every suite once, in the release build, some of them shortened
#   tests/run.sh check-all        the rest: a third of the full lengths, sanitizers (few random traces), ThreadSanitizer and Helgrind, clang, source checks
#   tests/run.sh suite NAME...    these suites in BUILD (default build/release); TEST_LENGTH=few, share, third or full (tests/support/length.h)
#   tests/run.sh table            the table of times in CONTRIBUTING.md, from tests/times.tsv
#   tests/run.sh save-times       takes what was measured (build/test-times.tsv) into tests/times.tsv
#
# A suite is a program tests/test_NAME.c or a script tests/check_NAME.sh. It prints "[       OK ] test",
# "[  FAILED  ] test" or "[  SKIPPED ] test: reason" for each of its tests. A suite that crashes, takes more than
# TEST_LIMIT_SECONDS (900), is missing, or runs no test has one failed test. TEST_JOBS suites run at a time, the longest first by
# tests/times.tsv; by default one more than there are processors, and for 'test' four more, since some suites mostly wait. What was measured is in build/test-times.tsv.
set -u
cd "$(dirname "$0")/.." || exit 1
limit_seconds=${TEST_LIMIT_SECONDS:-900} jobs=${TEST_JOBS:-$(nproc)}
times=tests/times.tsv measured=build/test-times.tsv
labels=() builds=() limits=() commands=()

# suite LABEL BUILD COMMAND...: one more suite.
suite() {
    labels+=("$1") builds+=("$2") limits+=("$limit_seconds")
    shift 2
    commands+=("$*")
}

# The names of all tests/test_NAME.c, of those that are shorter in 'make test', and of all tests/check_NAME.sh but those that
# belong to check-all.
programs() { printf '%s\n' tests/test_*.c | sed 's/.*test_//; s/\.c$//'; }
scripts() { printf '%s\n' tests/check_*.sh | sed 's/.*check_//; s/\.sh$//' | grep -vx 'source\|threads\|deb'; }
shortened() { grep -lE 'mr_length(_full)?\(|\.share\b' tests/test_*.c | sed 's/.*test_//; s/\.c$//'; }

# suite_of PREFIX BUILD NAME: the program or the script of this name.
suite_of() {
    if [ -e "tests/check_$3.sh" ] && [ -e "tests/test_$3.c" ]; then
        echo "tests/run.sh: a program and a script are both named $3; give one another name" >&2
        exit 2
    elif [ -e "tests/check_$3.sh" ]; then
        suite "$1$3" "$2" "tests/check_$3.sh"
    else
        suite "$1$3" "$2" "$2/tests/test_$3"
    fi
}

plan_test() {
    local name
    export TEST_LENGTH=share
    for name in $(programs) $(scripts); do
        suite_of '' build/release "$name"
    done
}

plan_check_all() {
    local name check
    export TEST_LENGTH=full
    for check in clang tidy cppcheck rest; do
        suite "source/$check" build/release "tests/check_source.sh $check"
        limits[-1]=$((4 * limit_seconds)) # as long as there is source to read
    done
    for name in $(programs); do
        suite_of sanitize/ build/sanitize "$name"
        commands[-1]="env TEST_LENGTH=few ${commands[-1]}" # full/ has the random traces; here it is the code that counts
    done
    for name in $(shortened); do
        suite_of full/ build/release "$name"
        commands[-1]="env TEST_LENGTH=third ${commands[-1]}"
    done
    for name in record_programs record_names record_kmpc record_qt record_leftovers hunt hunt_inputs mpi; do
        suite_of full/ build/release "$name"
        [ "$name" != record_programs ] || { commands[-1]="env TEST_LENGTH=third ${commands[-1]}"; limits[-1]=$((3 * limit_seconds)); } # it grows with each program
    done
    # Other traces each time; a failure prints the line that runs its trace again.
    suite long/exact build/release "env EXACT_SEED=$(date +%s) EXACT_TRACES=${EXACT_MORE:-2000} build/release/tests/test_exact"
    suite full/docs build/release tests/check_docs.sh
    suite deb build/release tests/check_deb.sh
    for check in tsan far helgrind; do
        suite "threads/$check" build/release "tests/check_threads.sh $check"
        limits[-1]=$((2 * limit_seconds))
    done
}

# Sets order: the indexes of the suites, the longest first. The shortest is before all: its line says that the build is done.
sort_suites() {
    mapfile -t order < <(printf '%s\n' "${labels[@]}" | awk -F '\t' -v times="$times" '
        BEGIN { while ((getline line < times) > 0) { split(line, cells, "\t"); seconds[cells[1]] = cells[2] } }
        { print (($1 in seconds) ? seconds[$1] : 0), NR - 1 }' | sort -s -k 1,1rn | awk '{ print $2 }')
    [ ${#order[@]} -lt 3 ] || order=("${order[-1]}" "${order[@]:0:${#order[@]}-1}")
}

# run_suite INDEX: leaves INDEX.output, and INDEX.end with "status microseconds cpu".
run_suite() {
    local i=$1 begin=${EPOCHREALTIME//[!0-9]/} status
    # shellcheck disable=SC2086 # a command is several words
    TEST_JOBS=1 MAXRACE="${builds[i]}/maxrace" BUILD="${builds[i]}" \
        timeout -k 10 "${limits[i]}" ${commands[i]} >"$scratch/$i.output" 2>&1 </dev/null
    status=$?
    times >"$scratch/$i.times"
    echo "$status $((${EPOCHREALTIME//[!0-9]/} - begin)) $(tail -n 1 "$scratch/$i.times")" >"$scratch/$i.end"
}

# tell INDEX: prints how the suite has ended, and adds it to the sums.
tell() {
    local i=$1 status microseconds user system output ok bad skipped line
    read -r status microseconds user system <"$scratch/$i.end" || status=1 microseconds=0 user=0m0s system=0m0s
    output=$scratch/$i.output
    ok=$(grep -c '^\[       OK \]' "$output")
    # cmocka names a failed or skipped test twice: where it ends, and at the end of all.
    bad=$(grep '^\[  FAILED  \] [^ ]*$' "$output" | sort -u | wc -l)
    grep '^\[  SKIPPED \] [^ :]*\(: .*\)\?$' "$output" | sort -u >"$scratch/skipped"
    skipped=$(wc -l <"$scratch/skipped")
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then echo "stopped after ${limits[i]} s" >>"$output"; fi
    if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
    if [ "$status" -eq 0 ] && [ $((ok + bad + skipped)) -eq 0 ]; then bad=1; echo "it ran no test" >>"$output"; fi
    line="[$ended/${#labels[@]}] ${labels[i]} $(tenths "$microseconds") s, $ok passed"
    if [ "$bad" -gt 0 ]; then
        echo "---- ${labels[i]}: ${commands[i]} (BUILD=${builds[i]} TEST_LENGTH=${TEST_LENGTH:-share})"
        grep -v '^\[ RUN\|^\[       OK' "$output"
        echo "---- exit status $status"
        line+=", $bad FAILED"
        all_failed+=" ${labels[i]}"
    fi
    [ "$skipped" -eq 0 ] || line+=", $skipped skipped"
    echo "$line"
    sed 's/^\[  SKIPPED \] /    skipped: /' "$scratch/skipped"
    passed=$((passed + ok)) failed=$((failed + bad)) all_skipped=$((all_skipped + skipped))
    printf '%s\t%s\t%s\t%d\t%d\t%d\n' "${labels[i]}" "$(tenths "$microseconds")" "$(cpu_seconds "$user" "$system")" "$ok" "$bad" "$skipped" >>"$scratch/times"
}

# 9142000 -> 9.1
tenths() { local t=$((($1 + 50000) / 100000)); echo "$((t / 10)).$((t % 10))"; }

# What bash's times prints, 1m2.345s twice -> seconds.
cpu_seconds() { awk -v a="$1" -v b="$2" 'function s(t) { split(t, p, /[ms]/); return 60 * p[1] + p[2] } BEGIN { printf "%.1f\n", s(a) + s(b) }'; }

# Runs all suites of the plan; 0: none failed.
run_all() {
    local plan=$1 next=0 process
    declare -A running=()
    passed=0 failed=0 ended=0 all_failed='' all_skipped=0
    scratch=$(mktemp -d) || exit 1
    trap 'rm -rf "$scratch"' EXIT
    trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM
    : >"$scratch/times"
    sort_suites
    while [ "$next" -lt ${#order[@]} ] || [ ${#running[@]} -gt 0 ]; do
        while [ "$next" -lt ${#order[@]} ] && [ ${#running[@]} -lt "$jobs" ]; do
            run_suite "${order[next]}" &
            running[$!]=${order[next]}
            next=$((next + 1))
        done
        wait -n -p process "${!running[@]}"
        ended=$((ended + 1))
        tell "${running[$process]}"
        unset "running[$process]"
    done
    [ -z "$all_failed" ] || echo "failed:$all_failed"
    [ "$all_skipped" -eq 0 ] || echo "$all_skipped tests skipped; they are named above"
    keep_results "$plan"
    echo "$passed passed, $failed failed"
    [ "$passed" -gt 0 ] && [ "$failed" -eq 0 ]
}

# For .ci/run and save-times.
keep_results() {
    mkdir -p build
    echo "$passed $failed" >"build/test-result.$1"
    { [ ! -e $measured ] || awk -F '\t' 'FNR == NR { new[$1]; next } !($1 in new)' "$scratch/times" $measured
        cat "$scratch/times"; } >"$scratch/all"
    cp "$scratch/all" $measured
}

save_times() {
    awk -F '\t' -v OFS='\t' 'FNR == NR { seconds[$1] = $2; next } { seconds[$1] = $2 } END { for (l in seconds) print l, seconds[l] }' \
        $times $measured | LC_ALL=C sort >"$times.new" && mv "$times.new" $times
}

# Suites of less than a second in `test` and four in `check-all` stand together in the last row but one.
table() {
    echo '| suite | seconds in `test` | seconds in `check-all` |'
    echo '|---|---:|---:|'
    awk -F '\t' '
        { name = $1; sub(/^(sanitize|full|long)\//, "", name); if (name == $1 && name !~ /\//) test[name] = $2; else all[name] += $2; names[name] }
        END { for (n in names) printf "%s\t%.1f\t%.1f\n", n, test[n], all[n] }' $times | LC_ALL=C sort -t "$(printf '\t')" -k 3,3rn -k 2,2rn -k 1,1 |
        awk -F '\t' '
            function cell(x) { return x > 0 ? sprintf("%.1f", x) : "" }
            { test += $2; all += $3 }
            $2 < 1 && $3 < 4 { rest++; rest_test += $2; rest_all += $3; next }
            { print "| " $1 " | " cell($2) " | " cell($3) " |" }
            END {
                printf "| %d others | %.1f | %.1f |\n", rest, rest_test, rest_all
                printf "| sum; six, then three at a time | %.0f | %.0f |\n", test, all
            }'
}

case ${1:-} in
test) plan_test; jobs=${TEST_JOBS:-$((jobs + 4))}; run_all test ;;
check-all) plan_check_all; jobs=${TEST_JOBS:-$((jobs + 1))}; run_all check-all ;;
suite)
    shift
    [ $# -gt 0 ] || { echo "usage: tests/run.sh suite NAME..." >&2; exit 2; }
    for name in "$@"; do suite_of '' "${BUILD:-build/release}" "$name"; done
    run_all suite
    ;;
table) table ;;
save-times) save_times ;;
*) sed -n '4,8s/^#   //p' "$0" >&2; exit 2 ;;
esac
