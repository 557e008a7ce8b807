#!/usr/bin/env bash
# make install into a temporary folder, and a program outside the tree that uses what is there with pkg-config alone.
# Prints "[       OK ] name", or the reason and "[  FAILED  ] name".
set -u
cd "$(dirname "$0")/.." || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
prefix="$scratch/usr"
. tests/support/check.sh

install_tree() {
    make --no-print-directory -s VARIANT=release install PREFIX="$prefix"
}

every_file_is_there() {
    local file status=0
    for file in bin/maxrace lib/libmaxrace.a lib/libmaxrace.so lib/libmaxrace.so.0 lib/libmaxrace.so.0.1.0 \
        include/maxrace.h lib/pkgconfig/maxrace.pc share/maxrace/config.yaml share/doc/maxrace/README.md \
        share/doc/maxrace/NEWS.md share/doc/maxrace/docs/semantics.md share/doc/maxrace/examples/bank.std lib/maxrace/libmaxrace_rt.so lib/maxrace/cc/cxx/bits/c++config.h include/maxrace/annotate.h \
        $(pkg-config --exists ompi-c && echo lib/maxrace/maxrace-mpi.so); do
        [ -e "$prefix/$file" ] || { echo "there is no $file"; status=1; }
    done
    return $status
}

write_program() {
    cat >"$scratch/program.c" <<'END'
#include <maxrace.h>
#include <string.h>

int main(void)
{
    static const char text[] = "T1|w(x=1)|10\nT2|r(x=1)|20\n";
    mr_failure *failure = mr_failure_create();
    mr_prediction *prediction = NULL;
    mr_trace *trace = mr_trace_open_memory("text", text, strlen(text), false, failure);
    if (trace == NULL || !mr_prediction_run(trace, NULL, &prediction, failure)) {
        fprintf(stderr, "%s\n", mr_failure_message(failure));
        return 1;
    }
    printf("maxrace %s: %zu\n", mr_version(), mr_prediction_race_count(prediction));
    mr_prediction_free(prediction);
    mr_trace_close(trace);
    mr_failure_destroy(failure);
    return 0;
}
END
}

# compile_and_run LANGUAGE PKG-CONFIG-FLAGS… -- COMPILER-FLAGS…
compile_and_run() {
    local language=$1 flags output
    shift
    flags=$(PKG_CONFIG_PATH="$prefix/lib/pkgconfig" pkg-config "$@" --cflags --libs maxrace) || return 1
    # shellcheck disable=SC2086
    gcc -x "$language" -Wall -Wextra -Wpedantic -Werror "$scratch/program.c" -x none -o "$scratch/program" $flags $extra || return 1
    output=$(LD_LIBRARY_PATH="$prefix/lib" "$scratch/program") || return 1
    [ "$output" = "maxrace 0.1.0: 1" ] || { echo "it printed: $output"; return 1; }
}

shared_program() {
    extra='' compile_and_run c &&
        LD_LIBRARY_PATH="$prefix/lib" ldd "$scratch/program" | grep -q "$prefix/lib/libmaxrace.so.0"
}

static_program() {
    rm -f "$prefix"/lib/libmaxrace.so*
    extra='' compile_and_run c --static && ! ldd "$scratch/program" | grep -q libmaxrace
}

# The header is C++ as well.
header_in_cplusplus() {
    echo '#include <maxrace.h>' >"$scratch/header.cc"
    clang++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -nostdinc++ -I"$prefix/include" "$scratch/header.cc"
}

installed_program() {
    local output
    output=$("$prefix/bin/maxrace" predict -c "$prefix/share/maxrace/config.yaml" "$prefix/share/doc/maxrace/examples/bank.std")
    [ $? -eq 1 ] && grep -q '^1 race' <<<"$output"
}

# Finds the library for --mpi where it was installed.
installed_mpi() {
    local expected="without MPI"
    pkg-config --exists ompi-c && expected="with MPI (predict --mpi)"
    [ "$("$prefix/bin/maxrace" version | tail -n 1)" = "$expected" ]
}

# Builds, records and predicts with what is installed.
installed_recorder() {
    local output
    "$prefix/bin/maxrace" cc -g "tests/programs/hidden-race.c" -o "$scratch/hidden" &&
        "$prefix/bin/maxrace" record -q -o "$scratch/hidden.mrt" -- "$scratch/hidden" || return 1
    output=$("$prefix/bin/maxrace" predict "$scratch/hidden.mrt")
    [ $? -eq 1 ] && grep -q '^1 race' <<<"$output"
}

# Manual pages that man shows without a warning, for each command; completions that the shell takes.
installed_pages() {
    local page output
    [ "$(ls "$prefix/share/man/man1" | wc -l)" -eq $(("$("$prefix/bin/maxrace" help | grep -c '^  [a-z]')" + 2)) ] || return 1
    grep -q '^.TH MAXRACE' "$prefix/share/man/man1/maxrace-predict.1" && bash -n "$prefix/share/bash-completion/completions/maxrace" || return 1
    output=$(bash -c '. "$1"; COMP_WORDS=(maxrace predict --format s); COMP_CWORD=3; _maxrace; echo "${COMPREPLY[*]}"' - \
        "$prefix/share/bash-completion/completions/maxrace") && [ "$output" = sarif ] || { echo "$output"; return 1; }
    command -v groff >/dev/null || return 0
    for page in "$prefix"/share/man/man1/*; do
        output=$(groff -man -Tutf8 -ww -z "$page" 2>&1) && [ -z "$output" ] || { echo "$page: $output"; return 1; }
    done
}

# Links between the installed documents lead somewhere.
installed_links() {
    local document target status=0
    cd "$prefix/share/doc/maxrace" || return 1
    for document in *.md docs/*.md; do
        while read -r target; do
            target=${target%%#*}
            [ -z "$target" ] || [ -e "$(dirname "$document")/$target" ] || { echo "$document: there is no $target"; status=1; }
        done < <(grep -o '](\([^)]*\))' "$document" | sed 's/^](//; s/)$//' | grep -v '^[a-z]*:')
    done
    return $status
}

# The program that the README shows compiles against what is installed, and finds the race of its demo.
readme_program() {
    local flags output
    awk '/^```c$/ {inside = 1; next} /^```$/ {inside = 0} inside' README.md >"$scratch/readme.c"
    flags=$(PKG_CONFIG_PATH="$prefix/lib/pkgconfig" pkg-config --cflags --libs maxrace) || return 1
    # shellcheck disable=SC2086
    gcc -std=c17 -Wall -Wextra -Wpedantic -Werror "$scratch/readme.c" -o "$scratch/readme" $flags || return 1
    output=$(LD_LIBRARY_PATH="$prefix/lib" "$scratch/readme" examples/bank.std) || return 1
    [ "$output" = "event 3 races with event 10" ] || { echo "it printed: $output"; return 1; }
}

orders_example() {
    ${BUILD:-build/release}/examples/orders syncp examples/bank.std | grep -q '^bank.balance: teller at bank.c:21 with auditor at bank.c:34 (race)'
}

library_example() {
    ${BUILD:-build/release}/examples/library examples/bank.std | grep -q '^bank.balance: teller at bank.c:21 races with auditor at bank.c:34'
}

nothing_is_rebuilt() {
    local output
    output=$(make --no-print-directory VARIANT=release all)
    [ "$output" = "make: Nothing to be done for 'all'." ] || { echo "$output"; return 1; }
}

nothing_is_left() {
    make --no-print-directory -s VARIANT=release uninstall PREFIX="$prefix"
    [ -z "$(find "$prefix" -not -type d)" ] || { find "$prefix" -not -type d; return 1; }
}

staged_files_name_the_prefix() {
    make --no-print-directory -s VARIANT=release install PREFIX=/opt/maxrace DESTDIR="$scratch/stage" &&
        grep -qx 'prefix=/opt/maxrace' "$scratch/stage/opt/maxrace/lib/pkgconfig/maxrace.pc"
}

write_program
check install_tree install_tree
check install_every_file_is_there every_file_is_there
check install_installed_program installed_program
check install_installed_pages installed_pages
check install_installed_links installed_links
check install_readme_program readme_program
check install_installed_mpi installed_mpi
check install_installed_recorder installed_recorder
check install_shared_program shared_program
check install_static_program static_program
needs clang++ install_header_in_cplusplus && check install_header_in_cplusplus header_in_cplusplus
check install_staged_files_name_the_prefix staged_files_name_the_prefix
check install_nothing_is_left_by_uninstall nothing_is_left
check install_library_example library_example
check install_orders_example orders_example
check install_nothing_is_rebuilt nothing_is_rebuilt
[ $failures -eq 0 ]
