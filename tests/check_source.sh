#!/usr/bin/env bash
# Checks of the source and of the built library, each counted as a test: prints "[       OK ] name", or the reason and
# "[  FAILED  ] name". BUILD is the folder with the built library (default build/release).
#
#   tests/check_source.sh [clang|tidy|cppcheck|rest]...    these parts; without any, all
#
# What clang-tidy and cppcheck have found nothing in is not read again before it changes (tests/support/lint_cache.sh).
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build/release}
processors=${TEST_JOBS:-$(nproc)}
# The flags that clang-tidy and cppcheck need to read the source as the compiler does.
language=(-std=c17 -Isrc -I. -D_POSIX_C_SOURCE=200809L '-DMR_VERSION="0"')
# shellcheck disable=SC2207 # one flag a word
mpi_language=($(pkg-config --cflags ompi-c 2>/dev/null))
. tests/support/check.sh

# The library of recorded programs replaces functions of libc, and is compiled in its own way.
runtime_language=(-std=gnu17 -D_GNU_SOURCE -DMAXRACE_RUNTIME -Iruntime/include)

# The C files of the given folders, one a line.
c_files() {
    find "$@" -name '*.[ch]' | sort
}

all_folders=(src windows encoder solver runtime tests bench examples)
# tests/programs is wrong on purpose, and tests/libc calls functions in every way they allow.
checked_folders=(src windows encoder solver bench examples $(find tests -mindepth 1 -maxdepth 1 -type d ! -name programs ! -name libc))

# clang's warnings do not depend on optimisation, and nobody runs what is built here.
clang_build() {
    make --no-print-directory -s -j"$processors" VARIANT=clang OPTIMISE_clang=-O0 all tests \
        build/clang/bench/bench build/clang/bench/results build/clang/bench/orders build/clang/bench/rdit build/clang/bench/big_trace build/clang/bench/ladder build/clang/bench/planted \
        build/clang/bench/planted_check build/clang/bench/whole
}

# The C files that clang-tidy and cppcheck read.
linted_files() {
    { c_files "${checked_folders[@]}"; ls tests/*.c; } | grep '\.c$' | { [ ${#mpi_language[@]} -gt 0 ] && cat || grep -v '/mpi/'; }
}
runtime_files() {
    c_files runtime | grep '\.c$'
}

# The analyser of clang-tidy looks at a fifteenth of the states that it would look at (225,000 a function), in a seventh of the time.
# The library of recorded programs is smaller, and is read to the full depth.
shallow=(-Xclang -analyzer-config -Xclang max-nodes=15000)

clang_tidy() {
    local status=0
    linted_files | lint_with clang-tidy '.clang-tidy tests/.clang-tidy' tests/support/tidy.sh "${language[@]}" "${mpi_language[@]}" "${shallow[@]}" || status=1
    runtime_files | lint_with clang-tidy .clang-tidy tests/support/tidy.sh "${runtime_language[@]}" || status=1
    return $status
}

cppcheck_clean() {
    local flags=(--inline-suppr --quiet --suppressions-list=tests/cppcheck.txt --error-exitcode=1 --std=c11) status=0
    linted_files | lint_with cppcheck tests/cppcheck.txt cppcheck "${flags[@]}" --enable=warning,style,performance,portability "${language[@]:1}" || status=1
    runtime_files | lint_with cppcheck tests/cppcheck.txt cppcheck "${flags[@]}" --enable=warning,performance,portability \
        -D__x86_64__ "${runtime_language[@]:1}" || status=1
    return $status
}

formatted() {
    c_files "${all_folders[@]}" | xargs clang-format --dry-run -Werror 2>&1 |
        sed -n 's/: error:.*//p' | cut -d: -f1 | sort | uniq -c |
        awk '{ printf "%s: %d places are not as clang-format (.clang-format) writes them; run make format\n", $2, $1; bad = 1 } END { exit bad }'
}

# Every symbol that other object files can see begins with mr_.
symbol_prefix() {
    local bad
    bad=$(nm -g --defined-only -A "$BUILD/libmaxrace.a" 2>/dev/null | awk 'NF >= 3 && $NF !~ /^mr_/ && $NF !~ /^__/ { print $1, $NF }')
    [ -z "$bad" ] || { printf 'symbols without the prefix mr_:\n%s\n' "$bad"; return 1; }
    [ "$(nm -g --defined-only "$BUILD/libmaxrace.a" 2>/dev/null | grep -c ' mr_')" -gt 50 ]
}

# The shared library exports what maxrace.h declares with MR_API, no less and no more.
exported_symbols() {
    diff <(tr '\n' ' ' <src/maxrace.h | grep -o 'MR_API [^;]*;' | grep -o 'mr_[a-z0-9_]* *(' | tr -d ' (' | sort -u) \
        <(nm -D --defined-only "$BUILD/libmaxrace.so" | awk '{ print $NF }' | grep -v '^_' | sort -u) |
        awk '/^</ { print $2 " is declared in maxrace.h and not exported"; bad = 1 }
             /^>/ { print $2 " is exported and not declared in maxrace.h"; bad = 1 }
             END { exit bad }'
}

# The runtime library shows programs nothing of its own but the annotations.
runtime_symbols() {
    ! nm -D --defined-only "$BUILD/libmaxrace_rt.so" | awk '{ print $NF }' | grep '^mr_' &&
        [ "$(nm -D --defined-only "$BUILD/libmaxrace_rt.so" | grep -c ' __tsan_')" -gt 100 ]
}

# What the program loads for --mpi shows one function, and needs nothing of the program.
mpi_symbols() {
    local library=$BUILD/maxrace-mpi.so
    [ -e "$library" ] || [ ${#mpi_language[@]} -eq 0 ] || { echo "there is no $library"; return 1; }
    [ ! -e "$library" ] || {
        [ "$(nm -D --defined-only "$library" | awk '{ print $NF }' | grep -v '^_')" = mr_mpi_start ] &&
            ! nm -D --undefined-only "$library" | awk '{ print $NF }' | grep '^mr_'
    }
}

# No global state: tables are const. Each exception has its reason here.
global_state() {
    local allowed='^(fail_countdown)$' # base/memory.c: lets tests make allocations fail
    local bad
    bad=$(nm --defined-only -A "$BUILD/libmaxrace.a" 2>/dev/null | awk '$(NF - 1) ~ /^[bBcCdDsSgG]$/ && $NF !~ /^\./ { print $NF, $1 }' |
        while read -r symbol object; do
            name=${symbol%%.*}
            [[ $name =~ $allowed ]] && continue
            # Position-independent tables of pointers are constant, too: they are in .data.rel.ro.
            member=${object#*:} member=${member%%:*}
            ar p "$BUILD/libmaxrace.a" "$member" >"$scratch/object.o"
            objdump -t "$scratch/object.o" | awk -v s="$symbol" '$NF == s && $0 !~ /\.data\.rel\.ro/ { print s }' | sed "s|\$| in $member is not constant|"
        done)
    [ -z "$bad" ] || { echo "$bad"; return 1; }
}

# Files and functions that can be read at a sitting.
sizes() {
    c_files "${all_folders[@]}" | xargs awk '
        FNR == 1 { if (file != "") end_of_file(); file = FILENAME; start = 0 }
        { lines = FNR }
        /^\{/ { start = FNR }
        /^\}/ { if (start && FNR - start > 81) { print file ":" start ": a function of " FNR - start - 1 " lines; the limit is 80"; bad = 1 } start = 0 }
        function end_of_file() {
            if (lines > 700) { print file ": " lines " lines; the limit is 700"; bad = 1 }
        }
        END { end_of_file(); exit bad }'
}

# -Wswitch-enum looks at switches over enums only, and operations are kept as bytes.
op_switches() {
    ! c_files "${all_folders[@]}" | xargs grep -n -A1 'switch (' | grep -B1 'case MR_OP_' | grep 'switch (' | grep -v '(mr_op)' |
        sed 's/$/  (write switch ((mr_op)…), so that a new operation cannot be forgotten)/' | grep .
}

# A header can be included alone, first.
headers_stand_alone() {
    local header status=0
    for header in $(c_files src windows encoder solver | grep '\.h$'); do
        gcc "${language[@]}" -Wall -Werror -fsyntax-only -x c -include "$header" /dev/null || status=1
    done
    return $status
}

# Relative links between the documents lead somewhere.
links() {
    local document target status=0
    for document in *.md docs/*.md; do
        while read -r target; do
            target=${target%%#*}
            [ -z "$target" ] || [ -e "$(dirname "$document")/$target" ] || { echo "$document: there is no $target"; status=1; }
        done < <(grep -o '](\([^)]*\))' "$document" | sed 's/^](//; s/)$//' | grep -v '^[a-z]*:')
    done
    return $status
}

# Assertions say of what kind they are (src/base/assert.h).
assertion_kinds() {
    ! grep -nE '(^|[^_[:alnum:]])assert\(|<assert\.h>' $(c_files src windows encoder solver)
}

# The rule tests/layers, the includes and the table of docs/architecture.md agree.
layers() {
    tests/layers.sh
}

# The check of layers finds what it is there for: each line is a mistake in a small tree, and a part of what is to be said.
layers_find_mistakes() {
    local tree=$scratch/layers rule table output status=0
    while IFS='|' read -r rule table wanted; do
        rm -rf "$tree"
        mkdir -p "$tree/src/a/in" "$tree/src/b" "$tree/windows"
        echo '#include "b/b.h"' >"$tree/src/a/a.c"
        echo '#include "in/x.h"' >"$tree/src/a/a.h"
        touch "$tree/src/a/in/x.h" "$tree/src/b/b.h"
        echo '#include "../src/a/a.h"' >"$tree/windows/w.c"
        echo "$rule" | tr ';' '\n' >"$tree/rule"
        echo "$table" | tr ';!' '\n|' >"$tree/table"
        output=$(LAYERS_TOP=$tree LAYERS_RULE=$tree/rule LAYERS_DOCUMENT=$tree/table tests/layers.sh)
        if [ $? -ne $((${#wanted} > 0)) ] || [[ $output != *"$wanted"* ]]; then
            echo "$rule: expected '$wanted', got '$output'"
            status=1
        fi
    done <<'END'
b:;a/in:;a: b/b.h a/in;windows: a|! `b` ! ! may include: nothing !;! `src/a/in/` ! ! may include: nothing !;! `a` ! ! may include: b/b.h, a/in !;! `windows/` ! ! may include: a !|
b:;a/in:;a: b a/in;windows:|! `b` ! ! may include: nothing !;! `a/in` ! ! may include: nothing !;! `a` ! ! may include: b, a/in !;! `windows` ! ! may include: nothing !|windows/w.c:1: windows may not include a
b:;a/in:;a: b;windows: a||src/a/a.h:1: a may not include a/in
b:;a: b a/in;windows: a||the folder a/in is missing
b:;c:;a/in:;a: b a/in;windows: a||there is no folder c
b:;a/in:;a: b a/in c/c.h;windows: a||there is no c/c.h
b: windows;a/in:;a: b a/in;windows: a||a cycle: b windows a b
b:;a/in:;a: b a/in;windows: a|! `b` ! ! may include: nothing !|no row `a`
b:;a/in:;a: b a/in;windows: a|! `a` ! ! may include: b !|should be "may include: b, a/in"
b:;a/in:;a: b a/in;windows: a|! `d` ! ! may include: b !|`d` is no folder
END
    return $status
}

# The table of times in CONTRIBUTING.md is what tests/run.sh makes of tests/times.tsv.
table_of_times() {
    diff <(tests/run.sh table) <(sed -n '/^| suite /,/^$/p' CONTRIBUTING.md | grep .) ||
        { echo "CONTRIBUTING.md is not as 'tests/run.sh table' writes it"; return 1; }
}

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. tests/support/lint_cache.sh
[ $# -gt 0 ] || set -- clang tidy cppcheck rest
for part in "$@"; do
    case $part in
    clang) needs clang source_builds_with_clang && check source_builds_with_clang clang_build ;;
    tidy) needs clang-tidy source_clang_tidy && check source_clang_tidy clang_tidy ;;
    cppcheck) needs cppcheck source_cppcheck && check source_cppcheck cppcheck_clean ;;
    rest)
        needs clang-format source_clang_format && check source_clang_format formatted
        check source_symbol_prefix symbol_prefix
        check source_exported_symbols exported_symbols
        check source_runtime_symbols runtime_symbols
        check source_mpi_symbols mpi_symbols
        check source_global_state global_state
        check source_sizes sizes
        check source_op_switches op_switches
        check source_layers layers
        check source_layers_find_mistakes layers_find_mistakes
        check source_headers_stand_alone headers_stand_alone
        check source_links links
        check source_assertion_kinds assertion_kinds
        check source_table_of_times table_of_times
        ;;
    *) echo "tests/check_source.sh: there is no part '$part'" >&2; exit 2 ;;
    esac
done
[ $failures -eq 0 ]
