#!/usr/bin/env bash
# The documents do what they say: the commands of README, tutorial and the pages by job run as they stand, in a copy of the
# tree, and print what the documents show (tests/support/doc_commands.sh); the script lines of the CI examples run; links and
# their anchors lead somewhere. TEST_LENGTH=full: also the other pages, and README in a tree without a build.
# Prints "[       OK ] name", or the reason and "[  FAILED  ] name".
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build/release}
top=$PWD
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. tests/support/check.sh
# run_document DOCUMENT FOLDER
run_document() {
    timeout 600 tests/support/doc_commands.sh "$1" "$2"
}
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

# README in a tree with this build; TEST_LENGTH=full: in one without, as after 'git clone'.
readme() {
    if [ "${TEST_LENGTH:-share}" = full ]; then copy_tree "$scratch/README"; else built_tree "$scratch/README"; fi &&
        run_document "$top/README.md" "$scratch/README"
}

# A project with a Makefile and a program that has a race, as docs/ci.md expects it, beside the sources of maxrace.
small_project() {
    mkdir -p "$1/tests" "$1/bin" && cp examples/bank.c "$1/tests/queue_test.c" && cp examples/bank.h "$1/tests" && ln -s "$top" "$1/maxrace" || return 1
    printf 'tests/queue_test: tests/queue_test.c tests/bank.h\n\t$(CC) $(CFLAGS) -pthread $< -o $@\n' >"$1/Makefile"
    printf '# nothing to suppress yet\n' >"$1/races.supp"
    # The loader's cache is the machine's; everything else stays below DESTDIR.
    printf '#!/bin/sh\n' >"$1/bin/ldconfig" && chmod +x "$1/bin/ldconfig"
}

# script_lines LANGUAGE: the commands of the yaml example after the heading "## LANGUAGE…" of docs/ci.md.
script_lines() {
    awk -v heading="## $1" '
        /^## / { here = index($0, heading) == 1 }
        /^```yaml/ && here { inside = 1; next }
        /^```/ { inside = 0 }
        inside && /^ *- run: / { sub(/^ *- run: /, ""); print }
        inside && /^ *script:/ { script = 1; next }
        inside && script && /^ *- / { sub(/^ *- /, ""); print; next }
        inside { script = 0 }' docs/ci.md
}

# ci LANGUAGE FILE LINES: runs the script lines as they stand, as root's 'make install' would, but below DESTDIR. The program has a race,
# so the last one fails, and FILE has it.
ci() {
    local project=$scratch/ci-$2 line count=0 status
    small_project "$project" && script_lines "$1" >"$project/lines" && [ "$(wc -l <"$project/lines")" -eq "$3" ] ||
        { echo "docs/ci.md has other lines for $1:"; cat "$project/lines"; return 1; }
    while read -r line; do
        count=$((count + 1))
        (cd "$project" && DESTDIR=$project/tree PATH="$project/bin:$project/tree/usr/local/bin:$PATH" bash -e -c "$line") >"$project/output" 2>&1 </dev/null
        status=$?
        [ $status -eq $((count == $3)) ] || { echo "'$line' ended with $status"; cat "$project/output"; return 1; }
    done <"$project/lines"
    grep -q 'bank.balance' "$project/$2" || { echo "$2 does not name the race"; return 1; }
}

# The tasks for VS Code do what the page says, as far as that can be seen without the editor.
editor_tasks() {
    local folder=$scratch/editor
    mkdir -p "$folder" && cp examples/bank.[ch] "$folder" && (
        export PATH="$top/$BUILD:$PATH"
        (cd "$folder" && maxrace cc -g -O1 bank.c -o bank) && node tests/support/editor_tasks.js docs/debugger.md "$folder"
    )
}

links() {
    tests/support/doc_links.sh .
}

# What this test is made of finds mistakes: a wrong output, a wrong status, a command that fails, a dead link.
finds_mistakes() {
    local folder=$scratch/mistakes document wanted status=0
    mkdir -p "$folder/docs"
    while IFS='|' read -r document wanted; do
        printf "$document" >"$folder/docs/page.md"
        if output=$(run_document "$folder/docs/page.md" "$folder") || [[ $output != *"$wanted"* ]]; then
            echo "$document: expected '$wanted', got '$output'"
            status=1
        fi
    done <<'END'
```sh\necho a b\n```\n\n```text\na c\n```\n|the document shows  a c
```sh\nprintf 'a\\nb\\n'\n```\n\n```text\na\n```\n|the command also printed b
```sh\necho a\n```\n\n```text\n…\nb\n```\n|the command printed no such line
```sh\nfalse\ntrue\n```\n|'false' ended with 1
```sh\ntrue # exit status 1\n```\n|ended with 0, not with 1
no commands\n|there is no block
END
    printf '# A b\n[x](#a-b) [y](#no) [z](docs/none.md)\n' >"$folder/README.md"
    output=$(tests/support/doc_links.sh "$folder")
    [ "$output" = "$(printf 'README.md:  has no heading #no\nREADME.md: there is no docs/none.md')" ] || { echo "$output"; status=1; }
    return $status
}

check docs_links links
check docs_finds_mistakes finds_mistakes
check docs_readme readme
pages=(tutorial embed hunt)
if [ "${TEST_LENGTH:-share}" = full ]; then
    pages+=(unknown windows not-recorded debugger cluster hunt-exhaustive hunt-inputs)
    pages+=(daily-use debugging explain findings long-runs mrt-format orders recording replay)
    check docs_ci_github ci 'GitHub Actions' races.sarif 3
fi
for name in "${pages[@]}"; do check "docs_$name" page "$name"; done
if needs node docs_editor_tasks; then check docs_editor_tasks editor_tasks; fi
check docs_ci_gitlab ci 'GitLab CI' races.xml 3
[ $failures -eq 0 ]
