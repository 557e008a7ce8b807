#!/usr/bin/env bash
# The environment of a recorded program: its addresses are the same in every order of the threads, and what it got from outside
# can be given to it again. Prints "[       OK ] name", or the reason and "[  FAILED  ] name".
set -u
cd "$(dirname "$0")/.." || exit 1
maxrace=$(realpath "${BUILD:-build/release}/maxrace")
programs=$(realpath tests/environment)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. tests/support/check.sh
cd "$scratch" || exit 1
unset MAXRACE_CC MAXRACE_CXX

build() { # build NAME [FLAG…]: from tests/environment/NAME.c
    local name=$1
    shift
    "$maxrace" cc -g -O1 -Wall -Werror -Wno-unused-result -pthread "$programs/$name.c" -o "$name" "$@"
}

# The same addresses whatever the seed, so whatever the order of the threads.
addresses_stay() {
    local seed schedule
    build addresses || return 1
    "$maxrace" record -q -o 1.mrt -- ./addresses >expected || return 1
    [ "$(wc -l <expected)" -eq 1604 ] || { wc -l expected; return 1; }
    for seed in 2 3; do
        for schedule in random pct; do
            "$maxrace" record -q --seed $seed --schedule $schedule -o "$seed.mrt" -- ./addresses >seen || return 1
            cmp expected seen || return 1
        done
    done
    ! cmp -s 1.mrt 2.mrt || { echo "the order was the same"; return 1; }
}

# What is released is used again, also by threads other than the one that released it.
memory_is_bounded() {
    build hand-over || return 1
    "$maxrace" record -q --max-events 1000 -o bounded.mrt -- ./hand-over >used || return 1
    [ "$(cat used)" -lt 250 ] || { echo "$(cat used) MB"; return 1; }
}

# first PROGRAM ARGUMENTS: runs it recorded, with its inputs; they are in ./inputs, its output in ./expected.
first() {
    rm -f log log.inputs
    MAXRACE_LOG=$PWD/log MAXRACE_RECORD_INPUTS=1 timeout 30 "./$@" >expected || { echo "status $?"; return 1; }
    mv log.inputs inputs && rm log
}

# again PROGRAM ARGUMENTS: gives it the inputs; its output is in ./seen, what it said in ./errors.
again() {
    rm -f log
    MAXRACE_LOG=$PWD/log MAXRACE_INPUTS=$PWD/inputs timeout 30 "./$@" >seen 2>errors
    local status=$?
    rm -f log log.inputs
    return $status
}

same() { # the program saw what it saw
    cmp expected seen && [ ! -s errors ] && return
    diff expected seen
    cat errors
    return 1
}

# The file is gone, standard input is closed, the time is another one, and so are random numbers and the process.
inputs_are_fed() {
    build outside || return 1
    printf 'hello\n42 words and some more of them\n' >file
    printf 'one line\nword and what follows it\n' | first outside file || return 1
    [ "$(grep -c "fgets one line\|fgets hello\|scanf 1 word\|pipe 6 '696e73696465'" expected)" -eq 5 ] || { cat expected; return 1; }
    mv file moved
    again outside file <&- && same || return 1
    echo 'something else' >file
    echo 'other input' | again outside file && same || return 1
    mv moved file
    again outside file </dev/null && same
}

# Sockets: the peer is not there any more; connections of the program with itself happen.
peers_are_fed() {
    local other i port
    build peer || return 1
    ./peer other port &
    other=$!
    for ((i = 0; i < 200; i++)); do
        [ -s port ] && break
        sleep 0.05
    done
    port=$(cat port) && first peer here "$port" && wait $other || return 1
    [ "$(grep -c "got 17 'call from outside'\|then 6 'thanks'\|inside 8 'question'\|answered 6 'answer'" expected)" -eq 4 ] || { cat expected; return 1; }
    again peer here "$port" </dev/null && same
}

# A program that asks for something else is told so, and goes on with what is really there.
others_are_told() {
    build outside && printf 'hello\n' >file && first outside file <file || return 1
    cp outside other && build asked && cp asked outside
    echo 'something' | again outside
    cp other outside
    grep -q 'another input than recorded is asked for; expected an open of a new descriptor' errors || { cat errors; return 1; }
}

# The trace has the inputs, up to the bound; nothing else stays.
trace_has_inputs() {
    build outside || return 1
    mkdir -p alone && cp outside alone && cd alone || return 1
    head -c 100000 /dev/zero >file
    "$maxrace" record -o with.mrt -- ./outside file <file >out 2>said && "$maxrace" record --record-inputs no -o without.mrt -- ./outside file <file >out 2>>said || return 1
    [ "$(stat -c %s with.mrt)" -gt "$(stat -c %s without.mrt)" ] && ! grep -q inputs said || { cat said; ls -l; return 1; }
    "$maxrace" record --max-inputs 5K -o short.mrt -- ./outside file <file >out 2>said || return 1
    grep -q 'inputs ended at --max-inputs' said || { cat said; return 1; }
    [ "$(stat -c %s short.mrt)" -lt "$(stat -c %s with.mrt)" ] && "$maxrace" info short.mrt >info && "$maxrace" info with.mrt >info || return 1
    "$maxrace" record --record-inputs maybe -o no.mrt -- ./outside file 2>said
    [ $? -eq 2 ] && grep -q "'maybe' is not yes or no" said || { cat said; return 1; }
    [ "$(echo *)" = 'file info out outside said short.mrt with.mrt without.mrt' ] || { ls; return 1; }
}

# Only a file that the program makes is written: not one that is there, nor what a link leads to.
files_are_own() {
    build asked || return 1
    rm -f log log.inputs
    echo kept >log.inputs
    echo word | MAXRACE_LOG=$PWD/log MAXRACE_RECORD_INPUTS=1 ./asked >seen 2>errors || return 1
    [ "$(cat log.inputs)" = kept ] && grep -q 'cannot write inputs' errors || { cat errors; return 1; }
    rm log log.inputs
    ln -s elsewhere log.inputs
    echo word | MAXRACE_LOG=$PWD/log MAXRACE_RECORD_INPUTS=1 ./asked >seen 2>errors || return 1
    [ ! -e elsewhere ] || { echo "the link was followed"; return 1; }
    rm log log.inputs
}

# A replay needs no standard input.
replay_has_inputs() {
    build asked && echo race | "$maxrace" record -q -o asked.mrt -- ./asked >expected || return 1
    "$maxrace" replay asked.mrt </dev/null >report 2>&1
    [ $? -eq 1 ] && grep -q "1 of 1 confirmed" report || { cat report; return 1; }
    "$maxrace" record -q --record-inputs no -o asked.mrt -- ./asked <<<race >expected || return 1
    "$maxrace" replay asked.mrt </dev/null >report 2>&1
    [ $? -eq 0 ] || { echo "without inputs:"; cat report; return 1; }
}

# A child asks nothing in the name of its parent: the parent's file of inputs has its header alone.
children_ask_for_themselves() {
    printf '#include <sys/wait.h>\n#include <unistd.h>\nint main(void) { if (fork() == 0) return 0; wait(0); return 0; }\n' >child.c
    "$maxrace" cc -g child.c -o child && MAXRACE_LOG=$PWD/child.log MAXRACE_RECORD_INPUTS=1 ./child || return 1
    [ "$(stat -c %s child.log.inputs)" -eq 4096 ] || { ls -l child.log.inputs; return 1; }
}

check environment.addresses_stay addresses_stay
check environment.memory_is_bounded memory_is_bounded
check environment.inputs_are_fed inputs_are_fed
check environment.peers_are_fed peers_are_fed
check environment.others_are_told others_are_told
check environment.trace_has_inputs trace_has_inputs
check environment.files_are_own files_are_own
check environment.replay_has_inputs replay_has_inputs
check environment.children_ask_for_themselves children_ask_for_themselves
exit $((failures > 0))
