#!/usr/bin/env bash
# Runs a folder of programs that carry their expected outcome in comments (RUN lines, and CHECK lines about what ThreadSanitizer
# reports), under ThreadSanitizer and recorded by maxrace, and prints what each finds.
#
#   tests/peer.sh [--clang] [--seeds N] [--only PATTERN] [--tsv] FOLDER
#
# The RUN lines of a program are run by bash, with stand-ins (tests/peer/) for the tools that they name: FileCheck notes what was
# expected and what was found; %run is plain execution, or a recording and its prediction, with up to N (1) seeds. A line of the table is
# a program and one CHECK prefix. --clang: also both tools with clang. --tsv: the rows alone, for tests/peer/page.sh, which makes the
# page docs/peer.md of them. PEER_LIMIT: seconds for a run (60).
#
# Columns of tools: "found", "missed", "silent" (nothing expected, nothing found), "FALSE", "not built", "hangs", "crashes",
# "output" (a line that the program should print is not there).
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "${BUILD:-build/release}")
export PEER_MAXRACE=$build/maxrace PEER_SEEDS=${PEER_SEEDS:-1} PEER_LIMIT=${PEER_LIMIT:-60}
compilers=gcc only='*' suite=
. tests/peer/table.sh

usage() {
    echo "usage: $0 [--clang] [--seeds N] [--only PATTERN] [--tsv] FOLDER" >&2
    exit 2
}

# features FILE: fails, with the reason, when the program says that it is not for this system, or is known to fail.
features() {
    local line word
    while read -r line; do
        for word in ${line//,/ }; do
            case $word in linux | system-linux | x86_64-target-arch | x86_64 | stable-runtime) ;; *) echo "needs $word"; return 1 ;; esac
        done
    done < <(sed -n 's/.*REQUIRES: *//p' "$1")
    if grep -qE '(UNSUPPORTED|XFAIL):.*(\*|linux|x86)' "$1"; then
        echo "is not for this system, or known to fail"
        return 1
    fi
}

# The RUN lines of a file, those that end in a backslash joined with the next.
run_lines() { sed -n 's/.*RUN: *//p' "$1" | sed -e ':a' -e '/\\$/N; s/\\\n//; ta'; }

# substitute LINE FILE SCRATCH: the line as bash is to run it. Only words that are known are replaced.
substitute() {
    local line=$1 file=$2 scratch=$3 folder
    folder=$(dirname "$file")
    line=${line//%clangxx_tsan /peer-compile c++ -std=c++11 }
    line=${line//%clang_tsan /peer-compile cc }
    line=${line//%deflake /peer-again }
    line=${line//%run /peer-run }
    line=${line//%env_tsan_opts=/env TSAN_OPTIONS=}
    line=${line//%link_libcxx_tsan/}
    line=${line//CHECK-%os/CHECK-Linux}
    line=${line//%s/$file}
    line=${line//%t/$scratch/t}
    line=${line//%T/$scratch}
    line=${line//%p/$folder}
    printf '%s\n' "${line//%%/%}"
}

# one TOOL FILE SCRATCH: runs the lines; rows "prefix, verdict, reason, expected" go to standard output.
one() {
    local tool=$1 file=$2 scratch=$3 line runs=0 rows status
    mkdir -p "$scratch"
    export PEER_TOOL=${tool%-*} PEER_COMPILER=${tool##*-} PEER_SCRATCH=$scratch PEER_INCLUDE
    PEER_INCLUDE=$(dirname "$suite")
    : >"$scratch/rows"
    while read -r line; do
        rm -f "$scratch"/built "$scratch"/ended "$scratch"/output "$scratch"/again
        rows=$(wc -l <"$scratch/rows")
        (cd "$scratch" && PATH=$PWD_TESTS/peer:$PATH timeout -k 5 $((PEER_LIMIT * 4)) bash -o pipefail -c "$(substitute "$line" "$file" "$scratch")") \
            >"$scratch/line" 2>&1 </dev/null
        status=$?
        if [ -s "$scratch/built" ]; then
            ! grep -q '%deflake' "$file" || touch "$scratch/again"
            printf '%s\t%s\t%s\t%s\n' - 'not built' "$(reason_of_build "$scratch/line")" "$(expected_of "$file" CHECK)"
            return
        fi
        # Who is not asked for its output must end well.
        if [ -e "$scratch/ended" ] && [ "$(wc -l <"$scratch/rows")" -eq "$rows" ]; then
            runs=$((runs + 1))
            (cd "$scratch" && judge "-" "$file" <"$scratch/output" >>"$scratch/rows")
        fi
        [ $status -lt 124 ] || printf '%s\t%s\t%s\t%s\n' - hangs "status $status" "$(expected_of "$file" CHECK)" >>"$scratch/rows"
    done < <(run_lines "$file")
    cat "$scratch/rows"
}

if [ "${1:-}" = --one ]; then
    suite=$5 PWD_TESTS=$PWD/tests
    one "$2" "$3" "$4" >"$4.rows"
    rm -rf "$4"
    exit
fi

while [ $# -gt 0 ]; do
    case $1 in
    --clang) compilers='gcc clang' ;;
    --tsv) PEER_TSV=1 ;;
    --seeds) PEER_SEEDS=${2:-1}; shift ;;
    --only) only=${2:-}; shift ;;
    -*) usage ;;
    *) suite=$1 ;;
    esac
    shift
done
[ -d "$suite" ] || usage
suite=$(realpath "$suite")
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
tools=()
for compiler in $compilers; do tools+=("tsan-$compiler"); done
for compiler in $compilers; do tools+=("maxrace-$compiler"); done

number=0
while read -r file; do
    if ! why=$(features "$file"); then
        printf '%s\t%s\n' "${file#"$suite"/}" "$why" >>"$scratch/skipped"
        continue
    fi
    number=$((number + 1))
    printf '%s\t%s\n' "$number" "${file#"$suite"/}" >>"$scratch/files"
    for tool in "${tools[@]}"; do printf '%s\0%s\0%s\0%s\0' "$tool" "$file" "$scratch/$number.$tool" "$suite"; done
done < <(find "$suite" -type f \( -name '*.c' -o -name '*.cc' -o -name '*.cpp' \) -name "$only" -exec grep -l 'RUN:' {} + | sort) >"$scratch/tasks"
xargs -0 -r -n 4 -P "${TEST_JOBS:-$(nproc)}" "$0" --one <"$scratch/tasks"
print_table "$scratch" "${tools[@]}"
