# Sourced by tests/peer.sh and its stand-ins: what a program expects, what a run has found, and the table of both.

# expected_of FILE PREFIX…: race, use-after-free, another report in its own words, or none. In a run that is repeated until it
# fails, some report is expected.
expected_of() {
    local file=$1 pattern
    shift
    pattern=$(IFS='|'; echo "$*")
    grep -E "(^|[^A-Za-z0-9_-])($pattern)(-NEXT|-SAME|-DAG)?:" "$file" | kind_of | sort -u | paste -sd '+' | grep . && return
    if [ -e "$PEER_SCRATCH/again" ] && ! grep -E "($pattern)-NOT:.*ThreadSanitizer" "$file" >/dev/null; then echo race; else echo none; fi
}

# The kinds of the reports in standard input, one a line.
kind_of() {
    grep -vE 'SUMMARY|suppression|ThreadSanitizer: reported' | sed -nE 's/.*ThreadSanitizer:? ?//p' |
        sed -E 's/ \(pid=[0-9]+\).*//; s/ *[({].*//; s/^(data race|race on).*/race/; s/^heap-use-after-free.*/use-after-free/; s/^$/race/; s/ $//'
}

# lines_of FILE PREFIX…: what the program itself must print, where that is plain text.
lines_of() {
    local file=$1 pattern
    shift
    pattern=$(IFS='|'; echo "$*")
    sed -nE "s/.*(^|[^A-Za-z0-9_-])($pattern)(-NEXT|-DAG)?: *//p" "$file" | grep -vE '\{\{|\[\[|ThreadSanitizer|^ *#[0-9]|^ *$' | sed 's/ *$//'
}

# judge PREFIXES FILE <OUTPUT: a row. Reads what the run stand-in left in PEER_SCRATCH.
judge() {
    local prefixes=$1 file=$2 output expected found ended verdict reason='' line
    output=$(cat)
    read -r ended <"$PEER_SCRATCH/ended" || ended=0
    # shellcheck disable=SC2086 # prefixes are words
    expected=$([ "$prefixes" = - ] && echo none || expected_of "$file" ${prefixes//,/ })
    if [ "$PEER_TOOL" = maxrace ]; then found=$(cat "$PEER_SCRATCH/found"); else found=$(kind_of <<<"$output" | sort -u | paste -sd '+'); fi
    found=${found:-none}
    if [ "$expected" = none ]; then
        [ "$found" = none ] && verdict=silent || verdict=FALSE
    elif [[ $found == *"$expected"* || $expected == *"$found"* || $expected-$found == use-after-free-race || $found == *observed* ]]; then
        verdict=found
    else
        verdict=missed
    fi
    case $verdict-$ended in
    FALSE-* | missed-*) reason="found $found" ;;
    silent-0)
        # shellcheck disable=SC2086
        while read -r line; do
            grep -qF -- "$line" <<<"$output" || { verdict=output reason="does not print '$line'"; }
        done < <([ "$prefixes" = - ] || lines_of "$file" ${prefixes//,/ })
        ;;
    esac
    case $ended in
    124 | 137) [ $verdict = found ] || { verdict=hangs; reason="after $PEER_LIMIT s"; } ;;
    12[89] | 1[3-9]?) [ $verdict = found ] || { verdict=crashes; reason="status $ended"; } ;;
    esac
    printf '%s\t%s\t%s\t%s\n' "$prefixes" "$verdict" "$reason" "$expected"
}

# reason_of_build FILE: the first line that says why.
reason_of_build() { grep -m 1 -oE "undefined reference to .*|(fatal )?error: .*|cannot find .*" "$1" | cut -c 1-80; }

# print_table SCRATCH TOOL…: the table and the counts.
print_table() {
    local scratch=$1 tool
    shift
    for tool in "$@"; do
        while IFS=$'\t' read -r number name; do
            awk -v OFS='\t' -F '\t' -v name="$name" -v tool="$tool" '{ print name, NR, $1, $4, tool, $2, $3 }' "$scratch/$number.$tool.rows"
        done <"$scratch/files"
    done | awk -F '\t' -v tools="$*" -v tsv="${PEER_TSV:-}" -f tests/peer/table.awk
    if [ -e "$scratch/skipped" ] && [ -z "${PEER_TSV:-}" ]; then
        echo
        echo "not run: $(wc -l <"$scratch/skipped")"
        sed 's/^/  /' "$scratch/skipped"
    fi
}
