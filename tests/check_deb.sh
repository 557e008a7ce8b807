#!/usr/bin/env bash
# The Debian packages: they build as from a clean clone, lintian is content, and what is in them works where it is unpacked.
# Part of make check-all. Prints "[       OK ] name", or the reason and "[  FAILED  ] name".
set -u
cd "$(dirname "$0")/.." || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. tests/support/check.sh

packages() {
    packaging/deb.sh "$scratch/out" && [ "$(ls "$scratch"/out/*.deb | grep -vc dbgsym)" -eq 4 ]
}

unpacked() {
    local package
    for package in "$scratch"/out/*.deb; do
        dpkg-deb -x "$package" "$scratch/tree" || return 1
    done
}

# Builds, records, predicts and replays with the packaged program alone.
program() {
    local maxrace=$scratch/tree/usr/bin/maxrace output
    cp examples/bank.[ch] "$scratch" && "$maxrace" cc -g -O1 "$scratch/bank.c" -o "$scratch/bank" &&
        "$maxrace" record -q -o "$scratch/bank.mrt" -- "$scratch/bank" || return 1
    ldd "$scratch/bank" | grep -q "$scratch/tree/usr/.*libmaxrace_rt.so" || { ldd "$scratch/bank"; return 1; }
    output=$("$maxrace" replay "$scratch/bank.mrt")
    grep -q 'confirmed, changes the output' <<<"$output" || { echo "$output"; return 1; }
    [ "$("$maxrace" version | tail -n 1)" = "with MPI (predict --mpi)" ]
}

# The example of the library compiles against the packaged header and library.
library() {
    local usr=$scratch/tree/usr flags output
    flags=$(PKG_CONFIG_SYSROOT_DIR=$scratch/tree PKG_CONFIG_LIBDIR=$(echo "$usr"/lib/*/pkgconfig):$(pkg-config --variable pc_path pkg-config) \
        pkg-config --cflags --libs maxrace) || return 1
    # shellcheck disable=SC2086
    gcc examples/library.c -I"$usr/include" -o "$scratch/library" -L"$(echo "$usr"/lib/*-linux-gnu)" $flags || return 1
    output=$(LD_LIBRARY_PATH=$(echo "$usr"/lib/*-linux-gnu) "$scratch/library" examples/bank.std) || return 1
    grep -q '^bank.balance: teller at bank.c:21 races with auditor at bank.c:34' <<<"$output"
}

# The program is not linked with Z3, which it loads.
depends_on_z3() {
    dpkg-deb -f "$scratch"/out/maxrace_*.deb Depends | grep -q libz3
}

documents() {
    [ "$(readlink "$scratch/tree/usr/share/doc/maxrace/LICENSE")" = copyright ] || { echo "LICENSE is no link to copyright"; return 1; }
    tests/support/doc_links.sh "$scratch/tree/usr/share/doc/maxrace"
}

for tool in dpkg-buildpackage dh lintian; do
    needs $tool deb_packages || exit 0
done
if check deb_packages packages && [ $failures -eq 0 ]; then
    check deb_unpacked unpacked
    check deb_program program
    check deb_depends_on_z3 depends_on_z3
    check deb_library library
    check deb_documents documents
fi
[ $failures -eq 0 ]
