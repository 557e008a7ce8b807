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

check environment.addresses_stay addresses_stay
check environment.memory_is_bounded memory_is_bounded
exit $((failures > 0))
