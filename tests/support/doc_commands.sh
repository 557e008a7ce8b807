#!/usr/bin/env bash
# Runs the commands of a document in a folder, and compares what they print with what the document shows. Prints what is not as
# the document says; then the exit status is 1. Usage: doc_commands.sh DOCUMENT FOLDER (a process of its own: a trap on errors
# sees nothing in a function that is a condition)
#
# Commands stand in blocks of ```sh. All blocks of a document run in one shell, from top to bottom, as they stand. A ```text
# block after one shows what it prints: the same lines, where a line "…" stands for any lines, and … in a line for any text.
# A command ends with status 0; those of maxrace that report findings may also end with 1, which stands for findings. A command
# whose line has the comment "# exit status N" must end with N. In the line before a block,
#     <!-- not run: reason -->     the block is not run
#     <!-- check-all: reason -->   it is run by make check-all only
#     <!-- needs TOOL -->          it is run where there is the command TOOL

# split_document DOCUMENT FOLDER: writes FOLDER/NNN.sh for each block that is run here, NNN.text for what it prints, and NNN.line.
split_document() {
    awk -v folder="$2" -v length_="${TEST_LENGTH:-share}" '
        function name(kind) { return sprintf("%s/%03d.%s", folder, count, kind) }
        /^```sh$/ {
            inside = "sh"; count++
            if (match(mark, /needs [a-z]+ -->/))
                missing = system("command -v " substr(mark, RSTART + 6, RLENGTH - 10) " >/dev/null")
            else missing = 0
            run = !missing && !(mark ~ /not run:/) && !(mark ~ /check-all:/ && length_ != "full")
            if (run) { print FNR + 1 > name("line"); printf "" > name("sh") }
            fresh = 1; mark = ""; next
        }
        /^```text$/ && fresh { inside = "text"; fresh = 0; if (run) printf "" > name("text"); next }
        /^```/ { if (inside == "") inside = "other"; else inside = ""; mark = ""; next }
        inside == "sh" && run {
            if (match($0, /# exit status [0-9]+/)) {
                split(substr($0, RSTART), words, " ")
                print "expect " words[4] + 0 > name("sh"); print > name("sh"); print "expected \"$?\"" > name("sh")
            } else print > name("sh")
        }
        inside == "text" && run { print > name("text") }
        inside == "" && NF { mark = $0; if ($0 !~ /^<!-- (check-all:|not run:|needs )/) fresh = 0 }
    ' "$1"
}

# same_lines EXPECTED SEEN: is SEEN as EXPECTED says? Prints the first line that is missing.
same_lines() {
    awk -v seen="$2" '
        BEGIN { while ((getline line < seen) > 0) { sub(/[ \t]+$/, "", line); got[++n] = line } at = 1 }
        function fits(line, pattern,   parts, i, k, place) {
            k = split(pattern, parts, "…")
            if (k == 1) return line == pattern
            if (substr(line, 1, length(parts[1])) != parts[1]) return 0
            line = substr(line, length(parts[1]) + 1)
            for (i = 2; i < k; i++) {
                place = index(line, parts[i])
                if (!place) return 0
                line = substr(line, place + length(parts[i]))
            }
            return length(line) >= length(parts[k]) && substr(line, length(line) - length(parts[k]) + 1) == parts[k]
        }
        { sub(/[ \t]+$/, "") }
        $0 == "…" { skip = 1; next }
        {
            if (!skip && at <= n && fits(got[at], $0)) { at++; next }
            if (skip) for (i = at; i <= n; i++) if (fits(got[i], $0)) { at = i + 1; skip = 0; next }
            print "the document shows  " $0
            print "the command printed " (skip ? "no such line" : at <= n ? got[at] : "nothing more")
            bad = 1; exit
        }
        END { if (!bad && !skip && at <= n) { print "the command also printed " got[at]; bad = 1 } exit bad }' "$1"
}

# What blocks call, and what happens when a command of one fails.
expect() { wanted_status=$1; }
expected() {
    [ "$1" -eq "$wanted_status" ] || complain "ended with $1, not with $wanted_status, as the document says"
    wanted_status=
}
complain() {
    echo "$document:$block_line: $*" >&3
    complaints=$((complaints + 1))
}
on_error() {
    [ -z "$wanted_status" ] || return 0
    [[ $2 != 'eval "$(cat "$block")"'* ]] || return 0 # the block; its commands have been looked at
    [[ $1 -eq 1 && $2 =~ ^(timeout [0-9]+ )?(mpirun .*)?maxrace(-mpirun)?\ .*(predict|run|replay|order|compare|merge|report|hunt) ]] && return 0
    complain "'$2' ended with $1"
}

[ $# -eq 2 ] || { echo "usage: doc_commands.sh DOCUMENT FOLDER" >&2; exit 2; }
document=$1 complaints=0 wanted_status=''
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
split_document "$document" "$work" && cd "$2" || exit 1
exec 3>&1 # complaints; what commands print goes to files
set -E
trap 'on_error "$?" "$BASH_COMMAND"' ERR
for block in "$work"/*.sh; do
    [ -e "$block" ] || { echo "$document: there is no block to run" >&3; exit 1; }
    block_line=$(cat "${block%.sh}.line")
    before=$complaints
    eval "$(cat "$block")" >"${block%.sh}.seen" 2>&1 </dev/null
    if [ -e "${block%.sh}.text" ]; then
        reason=$(trap - ERR; same_lines "${block%.sh}.text" "${block%.sh}.seen") || { complain "$reason"; }
    fi
    [ "$before" -eq "$complaints" ] || { echo "---- it printed:"; tail -n 30 "${block%.sh}.seen"; } >&3
done
trap - ERR
[ "$complaints" -eq 0 ]
