#!/usr/bin/env bash
# A hunt that searches inputs, on programs of bench/hunt: what their manifest says is found, and no more. TEST_LENGTH=full: all of them, one with
# clang, too.
# Prints "[       OK ] name", or the reason and "[  FAILED  ] name".
set -u
cd "$(dirname "$0")/.." || exit 1
maxrace=$(realpath "${BUILD:-build/release}/maxrace")
programs=$(realpath bench/hunt)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. tests/support/check.sh
cd "$scratch" || exit 1
unset MAXRACE_CC MAXRACE_CXX

# hunt NAME RUNS FLAGS… -- ARGUMENTS…: its findings are in NAME.out.
hunt() {
    local name=$1 runs=$2
    shift 2
    local flags=()
    while [ "$1" != -- ]; do flags+=("$1") && shift; done
    rm -rf "$name.hunt"
    timeout -k 5 100 "$maxrace" hunt --dir "$name.hunt" --runs "$runs" --jobs 2 --minimise no -q "${flags[@]}" -- "./$name" "${@:2}" \
        >"$name.out" 2>"$name.err" </dev/null
    local status=$?
    [ $status -le 1 ] || { cat "$name.err" && return 1; }
}

build() { # build NAME [FLAG…]
    "$maxrace" cc -g -O1 "${@:2}" "$programs/$1.c" -o "$1"
}

first() { # first TEXT: the folder `in` has this input
    rm -rf in && mkdir in && printf '%s' "$1" >in/first
}

found() { # found NAME KIND: once
    [ "$(grep -c "^  [0-9]* $2 " "$1.out")" -eq 1 ] || { cat "$1.out" && return 1; }
}

# A number and a byte, in two threads: no run of the first input comes near.
magic() {
    build magic --hunt-inputs && first abcdefghij && hunt magic 300 --inputs in -- && found magic race &&
        [ "$(head -c 8 magic.hunt/findings/1-race/input | tail -c 4 | od -An -tx4 | tr -d ' ')" = cafe1234 ]
}

magic_clang() {
    command -v clang >/dev/null || return 0
    MAXRACE_CC=clang magic
}

# Without comparisons, and without the search, it is not found: the test above means something.
magic_without() {
    build magic && first abcdefghij && hunt magic 60 --inputs in --input-search none -- && ! grep -q " race " magic.out
}

file_with_header() {
    build header --hunt-inputs && first abcdefgh && hunt header 300 --inputs in -- @@ && found header race &&
        grep -q '^program: ./header /.*/inputs/0' header.hunt/findings/1-race/report.txt && replays header race
}

arguments() {
    build flags --hunt-inputs && printf -- '--slow\n' >args && hunt flags 150 --args-file args -- && found flags race &&
        grep -q '^program: ./flags --fast' flags.hunt/findings/1-race/report.txt
}

generated() {
    build word --hunt-inputs && hunt word 200 --generate 'echo "add $MAXRACE_SEED"' -- && found word race &&
        grep -q transfer word.hunt/findings/1-race/input
}

# replays NAME KIND: with the input that the finding has, also where the hunt is no more; without it nothing is repeated.
replays() {
    local folder
    folder=$(echo "$1".hunt/findings/*-"$2")
    rm -rf moved && cp -r "$folder" moved && mv "$1.hunt" "$1.gone"
    timeout -k 5 60 "$maxrace" replay moved >replayed 2>&1
    [ $? -eq 1 ] && grep -q "$2 repeated" replayed || { cat replayed; return 1; }
    rm -f moved/input moved/inputs
    timeout -k 5 60 "$maxrace" replay moved >replayed 2>&1
    grep -q "$2 not repeated" replayed || { cat replayed; return 1; }
    rm -rf "$1.gone"
}

# Its twin has none, whatever is tried; and says how much that was.
locked() {
    build locked --hunt-inputs && first 'add 5' && hunt locked 150 --inputs in -- && grep -q '^No run failed' locked.out &&
        ! grep -q '^  1 ' locked.out && grep -q 'inputs tried' locked.out && grep -q 'may still fail' locked.out
}

# An input that fails in one order is a finding of that order, with the input.
assertion() {
    build lost --hunt-inputs && first 0 && hunt lost 250 --inputs in -- && found lost assertion &&
        grep -q '^[2-9]' lost.hunt/findings/*-assertion/input && replays lost assertion
}

# refuses TEXT FLAGS…: going on with these is refused in one line.
refuses() {
    "$maxrace" hunt --resume magic.hunt -q "${@:2}" -- ./magic >out 2>err </dev/null
    [ $? -eq 2 ] && grep -q -e "$1" err && [ "$(wc -l <err)" -eq 1 ] || { cat err; return 1; }
}

resumed() {
    build magic --hunt-inputs && first abcdefghij && hunt magic 40 --inputs in -- || return 1
    refuses 'was begun with --inputs in,' && refuses 'was begun without --generate,' --inputs in --generate 'echo 1' &&
        refuses 'was begun with --input-search all,' --inputs in --input-search mutate || return 1
    timeout -k 5 100 "$maxrace" hunt --resume magic.hunt --runs 350 --inputs in -q -- ./magic >magic.out 2>magic.err </dev/null
    [ $? -le 1 ] && found magic race
}

usage() {
    build magic && rm -rf magic.hunt && ! "$maxrace" hunt --inputs nowhere -- ./magic >out 2>err </dev/null && grep -q 'nowhere: cannot be read' err &&
        rm -rf magic.hunt && ! "$maxrace" hunt --inputs in --input-search some -- ./magic >out 2>err && grep -q "'some' is not all, solve" err
}

check hunt_inputs_magic magic
check hunt_inputs_file file_with_header
check hunt_inputs_usage usage
if [ "${TEST_LENGTH:-}" = full ]; then
    check hunt_inputs_clang magic_clang
    check hunt_inputs_without magic_without
    check hunt_inputs_arguments arguments
    check hunt_inputs_generated generated
    check hunt_inputs_locked locked
    check hunt_inputs_assertion assertion
    check hunt_inputs_resumed resumed
fi
exit $((failures > 0))
