#!/usr/bin/env bash
# Relative links of the documents in a folder (*.md, docs/*.md) lead to files, and to headings where they name one.
# Prints each that does not. Usage: doc_links.sh FOLDER
set -u
cd "$1" || exit 1

# The anchors that a page has, one a line, as GitHub makes them of headings.
anchors() {
    awk '/^```/ { code = !code } /^#+ / && !code { sub(/^#+ /, ""); print tolower($0) }' "$1" |
        sed 's/[^[:alnum:] _-]//g; s/ /-/g'
}

status=0
for document in *.md docs/*.md; do
    while read -r target; do
        file=${target%%#*} anchor=${target#"${target%%#*}"}
        [ -z "$file" ] && path=$document || path=$(dirname "$document")/$file
        if [ ! -e "$path" ]; then
            echo "$document: there is no $target"
            status=1
        elif [ -n "$anchor" ] && ! anchors "$path" | grep -qxF "${anchor#\#}"; then
            echo "$document: $file has no heading $anchor"
            status=1
        fi
    done < <(awk '/^```/ { code = !code } !code' "$document" | grep -o '](\([^)]*\))' | sed 's/^](//; s/)$//' | grep -v '^[a-z]*:')
done
exit $status
