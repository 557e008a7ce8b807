# Sourced by tests/check_source.sh. A file that a tool has found nothing in is not read again as long as the file, all that it
# includes of this project, the tool, its settings and the installed packages stay as they were. The keys of clean files are
# outside of the checkout, so another clone need not read them either: MAXRACE_LINT_CACHE names the folder.
lint_cache=${MAXRACE_LINT_CACHE:-${XDG_CACHE_HOME:-${HOME:-$PWD/build}/.cache}/maxrace/lint}
mkdir -p "$lint_cache"

# The packages whose headers the source includes; their content is taken for known by the version.
package_versions() {
    pkg-config --modversion z3 yaml-0.1 libzstd zlib jansson libxxhash libdw ompi-c 2>/dev/null
    ldd --version | head -n 1
}

# lint_with TOOL SETTINGS COMMAND...: runs "COMMAND... FILE" on each file of standard input that is not known to be clean,
# and prints what it says of those that are not. SETTINGS: files that the tool obeys, in one word.
lint_with() {
    local tool=$1 settings=$2 base
    shift 2
    # shellcheck disable=SC2086 # several files
    base=$({ "$tool" --version; cat $settings; package_versions; echo "$*"; } 2>&1 | sha256sum | cut -d ' ' -f 1)
    mkdir -p "$scratch/keys" "$scratch/said"
    rm -f "$scratch"/keys/* "$scratch"/said/*
    cat >"$scratch/list"
    find src windows encoder solver runtime tests bench examples -name '*.[ch]' -o -name '*.def' -o -name '*.inc' | xargs sha256sum |
        awk -v list="$scratch/list" -f tests/support/closure.awk >"$scratch/closures"
    # One file for each key, so that one sha256sum does all.
    awk -F '\t' -v folder="$scratch/keys/" -v base="$base" '{ name = $1; gsub("/", "%", name); print base $2 > (folder name); close(folder name) }' "$scratch/closures"
    (cd "$scratch/keys" && ls | xargs -r sha256sum) | awk '{ file = $2; gsub("%", "/", file); print file, $1 }' |
        while read -r file key; do
            if [ -e "$lint_cache/$key" ]; then touch "$lint_cache/$key"; else printf '%s\0%s\0' "$file" "$key"; fi
        done >"$scratch/todo"
    export scratch lint_cache
    # shellcheck disable=SC2016 # expanded by the inner shell
    xargs -0 -r -n 2 -P "$processors" -a "$scratch/todo" bash -c '
        file=${*: -2:1} key=${*: -1} said=$scratch/said/${*: -1}
        if "${@:1:$#-2}" "$file" >"$said" 2>&1; then
            touch "$lint_cache/$key"
            rm -f "$said"
        else
            echo "$file: see above, by $1" >>"$said"
        fi' lint "$@" 2>/dev/null
    ls "$scratch/said" | sed "s|^|$scratch/said/|" | xargs -r cat
    # What nobody has asked for in two months.
    find "$lint_cache" -type f -mtime +60 -delete
    [ -z "$(ls "$scratch/said")" ]
}
