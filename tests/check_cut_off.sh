#!/usr/bin/env bash
# A trace that another process changes while it is mapped: cut off, or written over. maxrace says so in a line, with status 4, or what is wrong in
# the trace, and never crashes. Prints "[       OK ] name", or the reason and "[  FAILED  ] name".
. "$(dirname "$0")/support/in_scratch.sh"

# Two traces of the same length with other locks.
make_traces() {
    local number
    for number in 1 2; do
        awk -v n=$number 'BEGIN { for (i = 0; i < 200000; i++) { t = (i * n) % 5; l = (i * (n + 2)) % 7; print "T" t "|acq(l" l ")|1\nT" t "|w(x" (i % 11) ")|2\nT" t "|rel(l" l ")|3" } }' |
            "$maxrace" convert - "$number.mrt" || return 1
    done
}

# changed COMMAND…: is done to trace.mrt in the midst of an order, until one has met it.
changed() {
    local try status
    for ((try = 0; try < 100; try++)); do
        cp 1.mrt trace.mrt
        "$maxrace" order --relation hb trace.mrt >said 2>&1 &
        sleep "0.0$((RANDOM % 4))$((RANDOM % 10))"
        "$@"
        wait $!
        status=$?
        [ $status -le 4 ] || { echo "status $status"; cat said; return 1; }
        [ $status -ne 4 ] || break
    done
    [ $status -eq 4 ] && grep -q 'trace.mrt: the file has changed since it was first read; run the command again' said || { echo "status $status"; cat said; return 1; }
}

check cut_off_traces make_traces
check cut_off_truncated changed truncate -s 4096 trace.mrt
check cut_off_written_over changed dd if=2.mrt of=trace.mrt conv=notrunc status=none
exit $((failures > 0))
