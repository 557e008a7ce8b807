#!/usr/bin/env bash
# The documents do what they say: the commands of README, tutorial and the pages by job run as they stand, in a copy of the
# tree, and print what the documents show (tests/support/doc_commands.sh); the script lines of the CI examples run; links and
# their anchors lead somewhere. TEST_LENGTH=full: also what takes long, and README in a tree without a build.
# Prints "[       OK ] name", or the reason and "[  FAILED  ] name".
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build/release}
top=$PWD
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. tests/support/check.sh
. tests/support/doc_commands.sh
# Documents are read by people who have none of this set.
unset MAXRACE MAXRACE_CC MAXRACE_CXX TSAN_OPTIONS MAKEFLAGS

# copy_tree FOLDER: what a clone would have, without a build.
copy_tree() {
    mkdir -p "$1" || return 1
    if git rev-parse --git-dir >/dev/null 2>&1; then
        git ls-files -co --exclude-standard -z | xargs -0 cp --parents -a -t "$1" 2>/dev/null
        [ -e "$1/README.md" ]
    else
        tar -cf - --exclude=./build --exclude=./.git . | tar -xf - -C "$1"
    fi
}

# built_tree FOLDER: the same, with this build.
built_tree() {
    copy_tree "$1" && mkdir -p "$1/build" && ln -s "$top/$BUILD" "$1/build/release"
}

# page NAME: runs docs/NAME.md in a tree of its own.
page() {
    built_tree "$scratch/$1" && run_document "$top/docs/$1.md" "$scratch/$1"
}

for name in tutorial unknown windows not-recorded embed; do check "docs_$name" page $name; done
[ $failures -eq 0 ]
