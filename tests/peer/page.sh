#!/usr/bin/env bash
# The page docs/peer.md: a table of tests/peer.sh --clang --tsv, with the explanations of tests/peer/notes.tsv.
#
#   tests/peer/page.sh TABLE >docs/peer.md
#
# A note is "pattern<TAB>sentence"; the pattern is a regular expression for the first column, and the first that matches counts. An
# exception without a note ends the script with status 1.
set -u
cd "$(dirname "$0")/../.." || exit 1
[ $# -eq 1 ] && [ -r "$1" ] || { echo "usage: $0 TABLE" >&2; exit 2; }
awk -F '\t' -v OFS='\t' '
    FNR == NR { if ($0 !~ /^#/ && NF == 2) { pattern[++notes] = $1; sentence[notes] = $2 } next }
    FNR == 1 { columns = NF - 1; for (i = 3; i <= columns; i++) tool[i] = $i; next }
    { rows++; for (i = 1; i <= NF; i++) cell[rows, i] = $i }

    function kind(row) {
        return cell[row, 2] == "race" || cell[row, 2] == "none" || cell[row, 2] == "use-after-free" ? cell[row, 2] : "other"
    }
    # The verdict of maxrace in column i is none that was wanted, and none that the compiler decides.
    function is_exception(row, i) {
        return tool[i] ~ /^maxrace/ && cell[row, i] !~ /^(found|silent|-)$/ &&
            !(cell[row, i] == "not built" && cell[row, i - tools] == "not built")
    }
    function note_of(row,    n) {
        for (n = 1; n <= notes; n++) if (cell[row, 1] ~ "^(" pattern[n] ")$") return sentence[n]
        missing = 1
        return "not explained"
    }
    # Rows with the same cells are one line, which says how many they are.
    function key(row,    text, i) {
        text = cell[row, 1] SUBSEP kind(row)
        for (i = 3; i <= columns; i++) text = text SUBSEP cell[row, i]
        return text
    }
    function is_first(row) { return first[key(row)] == row }
    function line(row,    text, i, count) {
        count = equal[key(row)]
        text = "| `" cell[row, 1] "`" (count > 1 ? " (" count " ×)" : "") " | " (kind(row) == "other" ? "other report" : cell[row, 2])
        for (i = 3; i <= columns; i++) text = text " | " cell[row, i]
        return text " |"
    }
    function head(more,    text, i) {
        text = "| program | expected"
        for (i = 3; i <= columns; i++) text = text " | " tool[i]
        print text " |" more
        text = "|---|---"
        for (i = 3; i <= columns; i++) text = text "|---"
        print text "|" (more == "" ? "" : "---|")
    }
    function count_table(    name, verdicts, v, row, k, kinds, i, n, text) {
        split("race use-after-free other none", kinds, " ")
        split("found missed silent FALSE output hangs crashes", verdicts, " ")
        print "| expected | tool | found | missed | silent | FALSE | output | hangs | crashes | not built |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"
        verdicts[8] = "not built"
        for (k = 1; k <= 4; k++)
            for (i = 3; i <= columns; i++) {
                text = "| " kinds[k] " | " tool[i]
                for (v = 1; v <= 8; v++) {
                    n = 0
                    for (row = 1; row <= rows; row++) n += kind(row) == kinds[k] && cell[row, i] == verdicts[v]
                    text = text " | " (n ? n : "")
                }
                print text " |"
            }
    }
    END {
        tools = (columns - 2) / 2
        for (row = 1; row <= rows; row++) if (!equal[key(row)]++) first[key(row)] = row
        while ((getline text < "tests/peer/head.md") > 0) print text
        print "\n## Counts\n"
        count_table()
        print "\n## Where maxrace differs from what is expected\n"
        head(" why |")
        for (row = 1; row <= rows; row++) {
            differs = 0
            for (i = 3; i <= columns; i++) differs = differs || is_exception(row, i)
            if (differs && is_first(row)) print line(row) " " note_of(row) " |"
        }
        print "\n## All\n"
        head("")
        for (row = 1; row <= rows; row++) if (is_first(row)) print line(row)
        exit missing
    }' tests/peer/notes.tsv "$1"
