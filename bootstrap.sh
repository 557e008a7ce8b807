#!/usr/bin/env bash
# Sets up maxrace on a fresh Debian 12 machine.
#
#   ./bootstrap.sh demo     installs missing packages, builds, and shows a race: in a trace, then in a program that it records
#   ./bootstrap.sh test     the same packages and build, then each test suite once; ends with "N passed, N failed"
#   ./bootstrap.sh deps     only installs missing packages
#   ./bootstrap.sh build    installs missing packages and builds
#
# Needs root or sudo only when a package is missing. Exit status: 0 all well, 1 not, 2 wrong use.
set -u
cd "$(dirname "$0")" || exit 1

build_packages=(gcc libc6-dev make pkg-config libz3-dev libyaml-dev zlib1g-dev libzstd-dev libjansson-dev libxxhash-dev libdw-dev
    libopenmpi-dev openmpi-bin)
test_packages=(libcmocka-dev g++ clang clang-tidy clang-format cppcheck binutils valgrind procps z3 libtbb-dev libomp-dev)

fail() {
    echo "bootstrap.sh: $1" >&2
    exit "${2:-1}"
}

usage() {
    sed -n '4,7s/^#   //p' "$0"
}

is_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Sets as_root to what a command must be preceded with.
find_root() {
    if [ "$(id -u)" -eq 0 ]; then
        as_root=(env)
    elif command -v sudo >/dev/null; then
        if [ -t 0 ]; then as_root=(sudo); else as_root=(sudo -n); fi
        "${as_root[@]}" true 2>/dev/null || fail "packages are missing ($1) and sudo refuses; run as root: apt-get install $1"
        as_root+=(env)
    else
        fail "packages are missing ($1) and there is no sudo; run as root: apt-get install $1"
    fi
    as_root+=(DEBIAN_FRONTEND=noninteractive LC_ALL=C)
}

# install_missing PACKAGE...: installs those that are not there; quiet when nothing is missing.
install_missing() {
    local missing=() package log
    command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
        fail "this is no Debian system; install a C compiler, make, pkg-config, cmocka and the development files of z3, libyaml, zlib, zstd, jansson, xxhash and libdw (and Open MPI, for predict --mpi), then run make"
    for package in "$@"; do
        is_installed "$package" || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    find_root "${missing[*]}"
    echo "installing: ${missing[*]}"
    log=$(mktemp) || fail "cannot make a temporary file"
    # An update that fails in part may still be enough.
    if ! { "${as_root[@]}" apt-get -qq -o DPkg::Lock::Timeout=300 update
        "${as_root[@]}" apt-get -qq -y --no-install-recommends -o DPkg::Lock::Timeout=300 install "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        reason=$(grep -m 1 '^[EW]: ' "$log" | cut -c 4-)
        rm -f "$log"
        fail "apt-get could not install ${missing[*]}: ${reason:-see above} (is there a network?)"
    fi
    rm -f "$log"
    for package in "${missing[@]}"; do
        is_installed "$package" || fail "apt-get did not install $package"
    done
}

job_count=$(nproc 2>/dev/null || echo 2)

build() {
    install_missing "${build_packages[@]}"
    echo "building"
    make --no-print-directory -s -j"$job_count" VARIANT=release all </dev/null || fail "the build failed; the reason is above"
}

# shown STATUS COMMAND...: prints the command and runs it; it must end with STATUS.
shown() {
    local expected=$1 status
    shift
    echo "\$ $*"
    PATH="$PWD/build/release:$PATH" "$@"
    status=$?
    [ $status -eq "$expected" ] || fail "the demo expected exit status $expected of this command, got $status"
    echo
}

demo() {
    local trace=examples/bank.std made=build/demo
    build
    shown 1 maxrace predict $trace
    echo "Seen: one recorded run of a small bank in which nothing went wrong, and the schedule, checked, in which the two marked accesses meet."
    echo "Now the program that such a trace comes from, examples/bank.c: build it, record a run, predict, and run it by the schedule."
    echo
    mkdir -p $made || fail "cannot make the folder $made"
    shown 0 maxrace cc -g -O1 examples/bank.c -o $made/bank
    shown 0 maxrace record -q --seed 1 -o $made/bank.mrt -- $made/bank
    shown 1 maxrace predict --brief $made/bank.mrt
    shown 1 maxrace replay $made/bank.mrt
    shown 1 maxrace predict --format html -o $made/bank.html $made/bank.mrt
    echo "Seen: the recorded run says 150, and so does the program in most runs; the replay has shown the run that says 100."
    echo "$made/bank.html shows the schedule as a picture, in any browser."
    echo "Next: docs/tutorial.md goes from here to the fix, with five more programs; or ./bootstrap.sh test."
}

run_tests() {
    install_missing "${build_packages[@]}" "${test_packages[@]}"
    echo "building, then testing"
    exec make --no-print-directory -s -j"$job_count" test </dev/null
}

[ $# -eq 1 ] || { usage >&2; exit 2; }
case $1 in
demo) demo ;;
test) run_tests ;;
deps)
    install_missing "${build_packages[@]}" "${test_packages[@]}"
    { is_installed debhelper && is_installed lintian; } || echo "for Debian packages (make deb), too: apt-get install debhelper lintian"
    is_installed libglib2.0-dev || echo "for tests of programs that use GLib, too: apt-get install libglib2.0-dev"
    { is_installed qtbase5-dev && is_installed qt6-base-dev; } || echo "for tests of programs that use Qt, too: apt-get install qtbase5-dev qt6-base-dev"
    ;;
build) build ;;
help | -h | --help) usage ;;
*) echo "bootstrap.sh: unknown command '$1'" >&2; usage >&2; exit 2 ;;
esac
