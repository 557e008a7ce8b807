#!/usr/bin/env bash
# predict --mpi as it is run: by mpirun, on this machine. What must hold of ranks in general is in tests/test_cluster.c.
# Prints "[       OK ] name", or the reason and "[  FAILED  ] name". Without mpirun, or when maxrace was built without MPI,
# the rest is skipped. TEST_LENGTH=full: only more ranks and jobs, on longer traces.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build/release}
MAXRACE=${MAXRACE:-$BUILD/maxrace}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. tests/support/check.sh
# Settings with which the trace has some hundred windows, and no bound on time ends a query.
settings=(-q --no-report-run --window-size 100 --candidates-report event --solver-timeout-ms 600000)

# mpi RANKS COMMAND…: no longer than a minute. The session folder is its own: see packaging/maxrace-mpirun.
mpi() {
    local ranks=$1
    shift
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_orte_top_session_dir="$scratch/ompi" \
        timeout -k 5 60 mpirun -q --oversubscribe --bind-to none -n "$ranks" "$@" </dev/null
}

# A trace of many events, few variables, and locks now and then: EVENTS SEED.
write_trace() {
    awk -v events="$1" -v seed="$2" 'BEGIN {
        srand(seed)
        for (i = 0; i < events; i++) {
            t = int(rand() * 6); x = int(rand() * 12); l = t % 3
            if (rand() < 0.15) {
                printf "T%d|acq(l%d)|%d\nT%d|w(x%d=%d)|%d\nT%d|rel(l%d)|%d\n", t, l, t, t, x, rand() * 2, x * 10 + t, t, l, t
                i += 2
                value[x] = 2
            } else
                printf "T%d|w(x%d=%d)|%d\n", t, x, rand() * 2, x * 10 + t
        }
    }'
}

is_full() { [ "${TEST_LENGTH:-}" = full ]; }

same_report() {
    local ranks jobs status
    "$MAXRACE" predict "${settings[@]}" "$scratch/trace.std" >"$scratch/expected"
    [ $? -eq 1 ] && [ -s "$scratch/expected" ] || return 1
    for ranks in 1 2 4; do
        for jobs in 1 2; do
            is_full || [ $jobs -eq $((1 + (ranks == 2))) ] || continue
            mpi "$ranks" "$MAXRACE" predict --mpi "${settings[@]}" -j $jobs "$scratch/trace.std" >"$scratch/report" 2>"$scratch/error"
            status=$?
            [ $status -eq 1 ] || { echo "$ranks ranks: exit status $status"; cat "$scratch/error"; return 1; }
            cmp "$scratch/expected" "$scratch/report" || return 1
            drop_open_mpi
            [ ! -s "$scratch/error" ] || { cat "$scratch/error"; return 1; }
        done
    done
}

# Ranks that read only a part of an .mrt file, with many races and with none.
same_report_of_parts() {
    local ranks trace expected parts=(-q --no-report-run --solver-timeout-ms 600000 --candidates-far none --find races)
    sed 's/w(x/r(x/' "$scratch/blocks.std" >"$scratch/reads.std"
    for trace in blocks reads; do
        "$MAXRACE" convert -q "$scratch/$trace.std" "$scratch/$trace.mrt" || return 1
        "$MAXRACE" predict "${parts[@]}" "$scratch/$trace.mrt" >"$scratch/expected"
        expected=$?
        [ "$trace $expected" = "blocks 1" ] || [ "$trace $expected" = "reads 0" ] || return 1
        for ranks in 2 5; do
            mpi "$ranks" "$MAXRACE" predict --mpi "${parts[@]}" -j 1 "$scratch/$trace.mrt" >"$scratch/report" 2>"$scratch/error"
            status=$?
            [ $status -eq $expected ] || { echo "$ranks ranks: exit status $status"; cat "$scratch/error"; return 1; }
            cmp "$scratch/expected" "$scratch/report" || return 1
        done
    done
}

# Every rank has decided something.
# On a busy machine a rank may begin when the others have done all, so there are three tries.
all_work() {
    local try rank idle
    for try in 1 2 3; do
        idle=
        mpi 3 "$MAXRACE" predict --mpi "${settings[@]}" --report-run -j 1 --format json "$scratch/shared.std" >"$scratch/report.json"
        for rank in 0 1 2; do
            tr -d ' \n' <"$scratch/report.json" | grep -q "\"rank\":$rank,\"worker\":0,\"units\":[1-9]" || idle=$rank
        done
        [ -n "$idle" ] || return 0
    done
    echo "rank $idle has done nothing in run $try"
    return 1
}

no_race() {
    mpi 2 "$MAXRACE" predict --mpi -q examples/bank-locked.std >"$scratch/report" || return 1
    grep -q '^no race' "$scratch/report"
}

# What Open MPI itself says now and then: that there is no /sys (in a bare container), that a dead process cannot be read.
drop_open_mpi() {
    sed -i '/^\[[^]]*\]/d' "$scratch/error"
}

# one_line STATUS TEXT: the last run ended with STATUS and a single line on standard error, which has TEXT.
one_line() {
    drop_open_mpi
    [ "$status" -eq "$1" ] || echo "exit status $status, not $1"
    [ "$(wc -l <"$scratch/error")" -eq 1 ] || echo "not one line"
    grep -q "$2" "$scratch/error" || echo "no '$2'"
    [ "$status" -eq "$1" ] && [ "$(wc -l <"$scratch/error")" -eq 1 ] && grep -q "$2" "$scratch/error" && return
    cat "$scratch/error"
    return 1
}

# A rank gets a trace of its own: RANK FILE.
as_rank() {
    cat >"$scratch/rank.sh" <<END
#!/bin/sh
[ "\$OMPI_COMM_WORLD_RANK" = $1 ] && exec "$MAXRACE" predict --mpi -q "$2"
exec "$MAXRACE" predict --mpi -q "$scratch/trace.std"
END
    chmod +x "$scratch/rank.sh"
    mpi 3 "$scratch/rank.sh" >"$scratch/report" 2>"$scratch/error"
    status=$?
    [ ! -s "$scratch/report" ] || { echo "there is a report"; return 1; }
}

no_trace_on_a_rank() {
    as_rank 1 "$scratch/absent.std" && one_line 4 "^$scratch/absent.std: rank 1 on .*: cannot open"
}

no_trace_on_rank_0() {
    as_rank 0 "$scratch/absent.std" && one_line 4 "^$scratch/absent.std: cannot open"
}

another_trace_on_a_rank() {
    as_rank 2 "$scratch/long.std" && one_line 3 'rank 2 on .* has read another trace than rank 0'
}

# kill_rank RANK SIGNAL: when some work is done and saved.
kill_rank() {
    local began=$SECONDS
    cat >"$scratch/rank.sh" <<END
#!/bin/sh
echo \$\$ >"$scratch/process.\$OMPI_COMM_WORLD_RANK"
exec "$MAXRACE" predict --mpi ${settings[*]} -j 1 --window-size 400 --checkpoint "$scratch/checkpoint" ${kill_flags---resume} \\
    -o "$scratch/report" "${kill_trace-$scratch/long.std}"
END
    chmod +x "$scratch/rank.sh"
    rm -f "$scratch"/process.* "$scratch/checkpoint" "$scratch/report"
    mpi 3 "$scratch/rank.sh" 2>"$scratch/error" &
    until [ -n "$(find "$scratch/checkpoint" -size +16k 2>/dev/null)" ] || [ $((SECONDS - began)) -ge 20 ]; do sleep 0.02; done
    kill -"$2" "$(cat "$scratch/process.$1")"
    wait $!
    status=$?
    [ $((SECONDS - began)) -lt 30 ] || { echo "it took $((SECONDS - began)) s to end"; return 1; }
}

# mpirun 4.1.4 may crash itself (SIGSEGV, SIGABRT) when its ranks die, and the line is lost then; only that is tried again.
dies() {
    local try
    for try in 1 2 3; do
        kill_rank "$1" KILL && one_line 137 "^maxrace: rank $1 on .* (process [0-9]*) has died" && return
        [ "$status" -eq 139 ] || [ "$status" -eq 134 ] || return 1
    done
    return 1
}

killed_rank() {
    dies 1
}

killed_rank_0() {
    dies 0
}

# A rank with a part of the trace: what it had is not there, so nothing says that there is no race.
killed_part() {
    local kill_trace=$scratch/blocks.mrt kill_flags="--candidates-far none --find races"
    "$MAXRACE" convert -q "$scratch/blocks.std" "$kill_trace" && dies 2 || return 1
    [ ! -s "$scratch/report" ] || ! grep -q '^no race in' "$scratch/report"
}

# What was saved by the run whose rank 1 was killed is used; the report is that of one process, which uses it, too.
resumed() {
    kill_rank 1 KILL && [ -s "$scratch/checkpoint" ] || return 1
    cp "$scratch/checkpoint" "$scratch/copy"
    set -- "${settings[@]}" --window-size 400 --resume
    mpi 2 "$MAXRACE" predict --mpi "$@" --format json --report-run --checkpoint "$scratch/checkpoint" "$scratch/long.std" >"$scratch/report.json"
    tr -d ' \n' <"$scratch/report.json" | grep -q '"saved":[1-9]' || { echo "nothing was saved"; return 1; }
    "$MAXRACE" predict "$@" --checkpoint "$scratch/copy" "$scratch/long.std" >"$scratch/expected"
    mpi 3 "$MAXRACE" predict --mpi "$@" --checkpoint "$scratch/checkpoint" "$scratch/long.std" >"$scratch/report"
    cmp "$scratch/expected" "$scratch/report"
}

# Shards of a job array, each decided by two ranks: each says what it has saved, once, and merge reports what one process does.
shards() {
    local k
    "$MAXRACE" predict "${settings[@]}" "$scratch/trace.std" >"$scratch/expected"
    for k in 1 2 3 4 5; do
        mpi 2 "$MAXRACE" predict --mpi "${settings[@]}" -j 1 --shard $k/5 --checkpoint "$scratch/part-$k" "$scratch/trace.std" \
            >"$scratch/said" 2>"$scratch/error"
        status=$?
        drop_open_mpi
        [ $status -eq 0 ] && [ ! -s "$scratch/error" ] && [ "$(wc -l <"$scratch/said")" -eq 1 ] &&
            grep -Eq "^shard $k/5: ([0-9]+) of \1 units are in $scratch/part-$k\$" "$scratch/said" && continue
        echo "shard $k: exit status $status"
        cat "$scratch/said" "$scratch/error"
        return 1
    done
    "$MAXRACE" merge -q --no-report-run "$scratch/trace.std" "$scratch"/part-? >"$scratch/report"
    [ $? -eq 1 ] && cmp "$scratch/expected" "$scratch/report"
}

standard_input() {
    "$MAXRACE" predict --mpi - </dev/null 2>"$scratch/error"
    status=$?
    one_line 2 'not standard input'
}

# launched STATUS OUTPUT ERROR FLAGS…: what maxrace-mpirun ends with, and a line that its output and its error have ('': they are empty).
launched() {
    local expected=$1 output=$2 error=$3
    shift 3
    timeout -k 5 60 "$(dirname "$MAXRACE")/maxrace-mpirun" "$@" >"$scratch/report" 2>"$scratch/error" </dev/null
    status=$?
    drop_open_mpi
    [ $status -eq "$expected" ] || { echo "$*: exit status $status"; cat "$scratch/error"; return 1; }
    { [ -n "$output" ] || [ ! -s "$scratch/report" ]; } && grep -q "$output" "$scratch/report" || [ -z "$output" ] || { echo "$*: no '$output'"; return 1; }
    [ -n "$error" ] || [ ! -s "$scratch/error" ] || { cat "$scratch/error"; return 1; }
    [ -z "$error" ] || grep -q "$error" "$scratch/error" || { echo "$*: no '$error'"; cat "$scratch/error"; return 1; }
}

# More ranks than cores, as any user, with the statuses of maxrace and nothing else on standard error.
launcher() {
    launched 1 '^1 race' '' -n 3 predict -q examples/bank.std && launched 0 '^no race' '' -n 3 predict -q examples/bank-locked.std &&
        launched 4 '' 'absent.std: cannot open' -n 2 predict -q "$scratch/absent.std" && launched 2 '' "unknown flag '--bogus'" -n 2 predict --bogus examples/bank.std
}

# A run that does not start is never silent, and never ends with 1.
launcher_that_fails() {
    launched 4 '' 'slots' --host localhost:1 -n 4 predict examples/bank.std && tail -n 1 "$scratch/error" | grep -q 'has started no rank' &&
        launched 4 '' 'has started no rank' --no-such-flag -n 2 predict examples/bank.std && MPIRUN=no-mpirun launched 4 '' 'there is no no-mpirun' -n 2 predict examples/bank.std &&
        launched 2 '' '^usage' -n 2 predict
}

# The session folder that all mpirun of a user share cannot be made here, so each start that ends well has one of its own. A folder
# that the user names is left to the user. Nothing stays.
launcher_session() {
    local name tmp=$scratch/session
    mkdir "$tmp" && for name in "$(hostname)" "$(hostname -s)"; do : >"$tmp/ompi.$name.$(id -u)"; done
    TMPDIR=$tmp launched 1 '^1 race' '' -n 2 predict -q examples/bank.std || return 1
    OMPI_MCA_orte_top_session_dir="$tmp/ompi.$(hostname).$(id -u)/below" TMPDIR=$tmp launched 4 '' 'session' -n 2 predict -q examples/bank.std || return 1
    [ -z "$(find "$tmp" -mindepth 1 ! -name 'ompi.*')" ] || { find "$tmp"; return 1; }
}

# A signal reaches the ranks: the report says that it is not complete.
launcher_signal() {
    local process
    "$(dirname "$MAXRACE")/maxrace-mpirun" -n 2 predict "${settings[@]}" -j 1 --window-size 400 --checkpoint "$scratch/signal.ck" -o "$scratch/signal.txt" \
        "$scratch/longer.std" 2>"$scratch/error" </dev/null &
    process=$!
    until [ -n "$(find "$scratch/signal.ck" -size +16k 2>/dev/null)" ] || ! kill -0 $process 2>/dev/null; do sleep 0.02; done
    kill -TERM $process
    wait $process
    status=$?
    # mpirun gives the ranks a second for their report, which may not be enough under load.
    [ $status -gt 1 ] && { [ ! -s "$scratch/signal.txt" ] || [ $status -ne 5 ] || ! grep -q '^no race in' "$scratch/signal.txt"; } ||
        { echo "exit status $status"; tail -n 3 "$scratch/signal.txt"; cat "$scratch/error"; return 1; }
}

# A copy of the program alone, away from what it loads.
without_library() {
    cp "$MAXRACE" "$scratch/maxrace" && [ "$("$scratch/maxrace" version | tail -n 1)" = "without MPI" ] || return 1
    "$scratch/maxrace" predict --mpi examples/bank.std 2>"$scratch/error"
    status=$?
    one_line 2 'install libopenmpi-dev'
}

check mpi_without_library without_library
check mpi_standard_input standard_input
tests=(same_report same_report_of_parts all_work no_race no_trace_on_a_rank no_trace_on_rank_0 another_trace_on_a_rank killed_rank killed_rank_0
    killed_part resumed shards launcher launcher_that_fails launcher_session launcher_signal)
if is_full; then tests=(same_report all_work); fi
if [ ! -e "$(dirname "$MAXRACE")/maxrace-mpi.so" ]; then
    for name in "${tests[@]}"; do skip "mpi_$name" "maxrace was built without MPI"; done
elif needs mpirun "${tests[@]/#/mpi_}"; then
    write_trace 1500 1 >"$scratch/trace.std"
    write_trace 5000 2 >"$scratch/long.std"
    write_trace 20000 2 >"$scratch/longer.std"
    write_trace 400000 3 >"$scratch/blocks.std" # of several blocks as an .mrt file
    if is_full; then cp "$scratch/longer.std" "$scratch/shared.std"; else write_trace 6000 2 >"$scratch/shared.std"; fi
    for name in "${tests[@]}"; do check "mpi_$name" "$name"; done
fi
[ $failures -eq 0 ]
