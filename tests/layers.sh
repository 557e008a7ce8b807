#!/usr/bin/env bash
# Which folder may include which: the rule is the file tests/layers, this script compares the source with it.
#
#   tests/layers.sh            says each include that is not allowed, each folder that the rule lacks or that does not
#                              exist, each cycle of folders, and where the table of docs/architecture.md differs
#   tests/layers.sh --graph    what the includes are now, in the form of tests/layers
#   tests/layers.sh --table    the rows of the table in docs/architecture.md; what lives in a folder is taken from there
#
# A line of tests/layers is "folder: entry entry ...". An entry is a folder or a single header ("predict/result.h"); a
# folder may always include itself, and never the folders in it without an entry. Names of folders below src/ are
# without it, as in the source. The folder of src/maxrace.h is called "src". A row of the table is
# "| `folder` | what lives there | may include: a, b, c |" ("may include: nothing"), where `src/folder/` is the same.
set -u
cd "$(dirname "$0")/.." || exit 1
rule=${LAYERS_RULE:-tests/layers} document=${LAYERS_DOCUMENT:-docs/architecture.md} top=${LAYERS_TOP:-.}
mode=${1:-}
case $mode in '' | --graph | --table) ;; *) sed -n '4,7s/^#   //p' "$0" >&2; exit 2 ;; esac

paths=$(mktemp) || exit 1
trap 'rm -f "$paths"' EXIT
(cd "$top" && find src windows encoder solver runtime -name '*.[ch]' -o -name '*.def') 2>/dev/null | LC_ALL=C sort >"$paths"

# shellcheck disable=SC2016 # the dollars are awk's
awk -v mode="$mode" -v rule="$rule" -v document="$document" -v top="$top" '
    function fail(text) { print text; bad = 1 }

    # "src/a/b.h" -> "a", "src/maxrace.h" -> "src", "runtime/log.h" -> "runtime"
    function folder_of(path) {
        sub(/\/[^\/]*$/, "", path)
        return short(path)
    }
    function short(folder) {
        sub(/\/$/, "", folder)
        if (folder != "src") sub(/^src\//, "", folder)
        return folder
    }

    # "a/b/../c.h" -> "a/c.h"
    function plain(path) {
        while (match(path, /[^\/.][^\/]*\/\.\.\//)) path = substr(path, 1, RSTART - 1) substr(path, RSTART + RLENGTH)
        gsub(/\/\.\//, "/", path)
        return path
    }

    # The file that "#include "target"" in a file of this place means; empty: there is none.
    function resolve(place, target,    path) {
        path = plain(place "/" target)
        if (path in is_file) return path
        if (("src/" target) in is_file) return "src/" target
        if (("runtime/include/" target) in is_file) return "runtime/include/" target
        return target in is_file ? target : ""
    }

    function read_source(file,    line, place, path, target, number) {
        place = file
        sub(/\/[^\/]*$/, "", place)
        number = 0
        while ((getline line < (top "/" file)) > 0) {
            number++
            if (line !~ /^[ \t]*#[ \t]*include[ \t]*"/) continue
            target = line
            sub(/^[^"]*"/, "", target)
            sub(/".*/, "", target)
            path = resolve(place, target)
            if (path == "") fail(file ":" number ": there is no \"" target "\"")
            else note_include(file, number, path)
        }
        close(top "/" file)
    }

    function note_include(file, number, path,    from, to, header) {
        from = folder_of(file)
        to = folder_of(path)
        if (from == to) return
        header = path
        sub(/^src\//, "", header)
        if (!((from, to) in includes)) { includes[from, to] = 1; graph[from] = graph[from] " " to }
        if (mode == "" && !((from, to) in may) && !((from, header) in may))
            fail(file ":" number ": " from " may not include " to " (" rule "): " header)
    }

    # Entries of an allowed header are edges of the graph, too.
    function read_rule(    line, parts, n, i, name, to) {
        while ((getline line < rule) > 0) {
            sub(/#.*/, "", line)
            if (line !~ /[^ \t]/) continue
            if (line !~ /^[^ :]+:/) { fail(rule ": not a line \"folder: folder ...\": " line); continue }
            name = line
            sub(/:.*/, "", name)
            sub(/^[^:]*:/, "", line)
            if (name in listed) fail(rule ": " name " stands twice")
            listed[name] = 1
            order[++count] = name
            n = split(line, parts, " ")
            for (i = 1; i <= n; i++) {
                may[name, parts[i]] = 1
                list[name] = list[name] (i > 1 ? ", " : "") parts[i]
                to = parts[i]
                if (to ~ /\.[a-z]+$/) {
                    if (!(("src/" to) in is_file) && !(to in is_file)) fail(rule ": " name ": there is no " to)
                    to = to ~ /\// ? folder_of(to) : "src"
                } else if (!(to in is_folder)) fail(rule ": " name ": there is no folder " to)
                if (to != name) edges[name] = edges[name] " " to
            }
        }
        close(rule)
        for (name in is_folder) if (!(name in listed)) fail(rule ": the folder " name " is missing")
        for (name in listed) if (!(name in is_folder)) fail(rule ": there is no folder " name)
    }

    # Depth first; state 1: on the way, 2: done.
    function visit(name, way,    parts, n, i) {
        state[name] = 1
        n = split(edges[name], parts, " ")
        for (i = 1; i <= n; i++) {
            if (state[parts[i]] == 1) {
                sub(".* " parts[i] " ", " " parts[i] " ", way)
                fail(rule ": a cycle:" way name " " parts[i])
            } else if (!state[parts[i]]) visit(parts[i], way name " ")
        }
        state[name] = 2
    }

    # The rows of the table: `folder` in the first column, its text in the second.
    function read_document(    line, cells, name) {
        while ((getline line < document) > 0) {
            if (line !~ /^\| *`[^`]*` *\|/) continue
            split(line, cells, "|")
            name = cells[2]
            gsub(/[ `]/, "", name)
            name = short(name)
            gsub(/^ +| +$/, "", cells[3])
            gsub(/^ +| +$/, "", cells[4])
            if (cells[4] !~ /^may include: / && !(name in is_folder)) continue
            lives[name] = cells[3]
            told[name] = cells[4]
        }
        close(document)
    }

    function wanted(name) { return "may include: " (list[name] == "" ? "nothing" : list[name]) }

    function compare_document(    name, i) {
        for (i = 1; i <= count; i++) {
            name = order[i]
            if (!(name in told)) fail(document ": the table of folders has no row `" name "`; tests/layers.sh --table writes it")
            else if (told[name] != wanted(name)) fail(document ": `" name "`: \"" told[name] "\" should be \"" wanted(name) "\"")
        }
        for (name in told) if (!(name in listed)) fail(document ": `" name "` is no folder of " rule)
    }

    function long(name) { return (("src/" name) in is_path) ? "src/" name "/" : name "/" }

    { is_file[$0] = 1; files[++file_count] = $0; is_folder[folder_of($0)] = 1; path = $0; sub(/\/[^\/]*$/, "", path); is_path[path] = 1 }
    END {
        if (mode != "--graph") { read_rule(); read_document() }
        if (mode == "--table") {
            for (i = 1; i <= count; i++)
                print "| `" long(order[i]) "` | " ((order[i] in lives) ? lives[order[i]] : "…") " | " wanted(order[i]) " |"
            exit bad
        }
        for (i = 1; i <= file_count; i++) read_source(files[i])
        if (mode == "--graph") {
            for (i = 1; i <= file_count; i++) {
                name = folder_of(files[i])
                if (!(name in shown)) print name ":" graph[name]
                shown[name] = 1
            }
            exit bad
        }
        for (i = 1; i <= count; i++) if (!state[order[i]]) visit(order[i], " ")
        compare_document()
        exit bad
    }' "$paths"
