# For each C file of the list LIST: its name, a tab, and the names and checksums of all that it includes of this project,
# at any depth, on one line. Input: the lines of sha256sum for all files of the project.
{ sum[$2] = $1 }

function resolve(place, target) {
    while (sub(/^\.\.\//, "", target)) sub(/\/?[^\/]*$/, "", place)
    if ((place "/" target) in sum) return place "/" target
    if (("src/" target) in sum) return "src/" target
    if (("tests/" target) in sum) return "tests/" target
    if (("runtime/include/" target) in sum) return "runtime/include/" target
    return (target in sum) ? target : ""
}

# Sets direct[file]: what the file itself includes.
function read(file,    line, place, target) {
    place = file
    sub(/\/[^\/]*$/, "", place)
    direct[file] = ""
    while ((getline line < file) > 0) {
        if (line !~ /^[ \t]*#[ \t]*include[ \t]*["<]/) continue
        target = line
        sub(/^[^"<]*["<]/, "", target)
        sub(/[">].*/, "", target)
        target = resolve(place, target)
        if (target != "") direct[file] = direct[file] " " target
    }
    close(file)
}

function gather(file,    parts, n, i) {
    if (file in seen) return
    seen[file]
    content = content " " file " " sum[file]
    if (!(file in direct)) read(file)
    n = split(direct[file], parts, " ")
    for (i = 1; i <= n; i++) gather(parts[i])
}

END {
    while ((getline file < list) > 0) {
        split("", seen)
        content = ""
        gather(file)
        print file "\t" content
    }
}
