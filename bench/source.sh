#!/usr/bin/env bash
# bench/source.sh: the size of the source: files and lines by folder, lengths of files and functions, assertions, comments,
# cycles of includes. For docs and for comparing two versions; needs universal-ctags.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 0 ] || cd "$1"
command -v ctags >/dev/null || { echo "bench/source.sh: install universal-ctags" >&2; exit 2; }
product=$(git ls-files 'src/*.[ch]' 'src/*.def' 'windows/*.[ch]' 'encoder/*.[ch]' 'solver/*.[ch]' 'runtime/*.[ch]')

quantiles() { # of numbers, one a line
    sort -n | awk '{ v[NR] = $1 } END { printf "median %d, p90 %d, max %d (of %d)\n", v[int((NR + 1) / 2)], v[int(NR * 0.9 + 0.5)], v[NR], NR }'
}

printf '%-24s %5s %6s\n' folder files lines
for file in $product $(git ls-files 'tests/*.[ch]' 'tests/*.sh' 'bench/*.[ch]' 'bench/*.sh'); do
    printf '%s %d\n' "$(dirname "$file")" "$(wc -l <"$file")"
done | awk '{ files[$1]++; lines[$1] += $2; all_files++; all += $2 }
    END { for (f in files) printf "%-24s %5d %6d\n", f, files[f], lines[f] | "sort"; close("sort"); printf "%-24s %5d %6d\n", "all", all_files, all }'
echo
printf 'lines of a file      '; for file in $product; do wc -l <"$file"; done | quantiles
printf 'lines of a function  '
ctags -x --_xformat='%{end} %{line}' --fields=+ne --kinds-C=f $(grep '\.c$' <<<"$product") 2>/dev/null | awk '{ print $1 - $2 + 1 }' | quantiles
code=$(cat $product | wc -l)
checks=$(cat $product | grep -cE '\b(assert|MR_REQUIRE|MR_ASSERT|MR_ASSERT_COSTLY)\(' || true)
comments=$(cat $product | awk '/^[ \t]*\/\*/ { inside = 1 } inside { n++ } /\*\// { inside = 0 } END { print n }')
awk -v code="$code" -v checks="$checks" -v comments="$comments" 'BEGIN {
    printf "assertions           %d, %.1f for each 1,000 lines\n", checks, checks * 1000 / code
    printf "lines of comments    %d, %.0f %%\n", comments, comments * 100 / code }'
