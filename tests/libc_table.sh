#!/usr/bin/env bash
# The wrappers of libc, from the tables runtime/libc/*.def.
#
#   tests/libc_table.sh            the text of docs/libc.md
#   tests/libc_table.sh --names    the functions, one a line
set -u
cd "$(dirname "$0")/.." || exit 1

# rows FILE: "name|READS … ENDS WRITES … ENDS …", each row of the table a line.
rows() {
    { macros; cat "$1"; } | ${CC:-gcc} -E -P -x c - | tr -d '"\\\\' | sed 's/ROW /\n&/g' | sed -n 's/^ROW \(.*\)| *$/\1/p'
}

macros() {
    cat <<'MACROS'
#define TEXT_OF(x...) #x
#define TEXT(x...) TEXT_OF(x)
#define in(from, bytes) READS `from[bytes]` ENDS
#define out(to, bytes) WRITES `to[bytes]` ENDS
#define out_if(when, to, bytes) WRITES `to[bytes]` if `when` ENDS
#define locked_out(to, bytes) WRITES `to[bytes]` atomically ENDS
#define stream(file) READS the stream ENDS
#define input(file) stream(file)
#define sends(file)
#define receives(file)
#define gives(fd)
#define looks_for_signals
#define starts_child
#define leads_to_child(file)
#define child_ends
#define asks_for_units(from)
#define end_stream(file) WRITES the stream ENDS
#define both(a, b, bytes) READS `a[bytes]` ENDS READS `b[bytes]` ENDS
#define nothing
#define compares(a, bytes, b, other)
#define remember(bytes)
#define remember_text(from)
#define remember_wide(from)
#define remember_texts
#define remember_time
#define end_moved(path, result) WRITES the NUL behind the result, where it is in `path` ENDS
#define out_changed(to) WRITES the members of `*to` that changed ENDS
#define out_user(user) WRITES `*user` and its texts ENDS
#define out_group(group) WRITES `*group` and its texts ENDS
#define in_texts(texts) READS `texts` and what they point to ENDS
#define out_entry(entry) WRITES `*entry`, its path, name and status ENDS
#define out_entries(entry) WRITES the list of entries, as fts_read ENDS
#define out_host(host) WRITES `*host`, its texts and addresses ENDS
#define out_interfaces(of) WRITES the list of interfaces and their names ENDS
#define out_protocol(of) WRITES `*of` and its texts ENDS
#define out_addresses(of) WRITES the list of addresses ENDS
#define out_entered(action, item, found, table) READS the text of `found->key` ENDS WRITES `*found` and `table->filled`, where it is new ENDS
#define out_tree(root) WRITES `root[sizeof *root]` ENDS
#define out_wide(to, result, room) WRITES `to`, as many as were made ENDS
#define out_wide_up_to(to, result, room, ends) WRITES `to`, as many as were made ENDS
#define QUICK(type, name, parameters, arguments, before, after) ROW name|TEXT(before after)|
#define OPEN QUICK
#define INPUT QUICK
#define CHANGE QUICK
#define pair(result, to)
#define shown(name)
#define QUICK_VOID(name, parameters, arguments, before, after) ROW name|TEXT(before after)|
#define OPEN_VOID QUICK_VOID
#define NUMBER(type, name, parameters, arguments) ROW name|TEXT(READS `from`, up to the character that ends the number ENDS WRITES `to[sizeof *to]` ENDS)|
#define APPEND(name, parameters, arguments, bytes) ROW name|TEXT(READS `to[text(to)]` ENDS READS `from[bytes]` ENDS WRITES `to`, from its end on ENDS)|
#define BY_HAND(name, reads, writes, file) ROW name|TEXT(READS reads ENDS WRITES writes ENDS)|
MACROS
}

# What a file is about, from its first comment.
title() {
    sed -n '1,/\*\//p' "$1" | tr '\n' ' ' | sed 's/^\/\* //; s/ Read by .*//; s/ \* / /g; s/\. *\*\/ *$//; s/\. *$//'
}

document() {
    cat <<'HEAD'
# Functions of libc

What a function of libc reads and writes for instrumented code is recorded as accesses of its caller, at the call. This page is
made from the tables in `runtime/libc` (`tests/libc_table.sh`); a test compares them.

`to[n]` are the n bytes at `to`. `text(from)` are the bytes of a text with its NUL, `text_up_to(from, most)` those of at most `most`
characters, `wide` the same of wide characters; `result` is what the function returns. Parameters have the names of the tables:
`from` is what is read, `to` what is written. Nothing is recorded for NULL, nor are
reads of literals and other constants of the program. Reads come before a call that may block, writes
after it.

**Streams.** libc locks a stream during each call, so calls for the same stream do not race. Each is a read of the stream, `fclose`,
`pclose` and `freopen` are writes of it: using a stream that another thread closes is a race. `flockfile` is a lock like a mutex. What `fflush` says of the text of `open_memstream`, and what the functions of a stream of `fopencookie` do,
is done with the lock of the stream, as far as the call takes it (not in `putc_unlocked` and its like). Calls for
single characters (`getc`, `putc` and the like) are not recorded. Nor is the buffer that a program gives a stream (`setvbuf`, `fmemopen`).
Who reads from a stream that leads to a pipe or socket, other than a standard stream, comes after those who wrote to it.

**Memory of libc** that functions give (`localtime`, `getpwnam`, `strtok` …) is memory: two threads that call such a function race.
The environment is the variable `environ`: `getenv` reads it, `setenv` and its like change it atomically, because libc locks them.

**Trees** of `tsearch` are the variable that has their root, whose value `tsearch` and `tdelete` leave open: each search is possible with the tree that it saw. What libc
writes in the nodes is not recorded. In the same way the count of a table of `hsearch_r` stands for its slots, and `search_table` for the table of `hsearch`. Not recorded are `obstack_printf`,
`twalk`, `tdestroy` and what `nftw` gives to its function.

**Comparisons** of `qsort` and `bsearch` are functions of the program, so what they read is recorded as it is. `qsort` moves the elements
after all comparisons, and is stable.
HEAD
    local file
    for file in runtime/libc/{text,stdio,wide,time,system,search,net}.def; do
        printf '\n## %s\n\n| functions | read | written |\n|---|---|---|\n' "$(title "$file")"
        rows "$file" | awk -F'|' '
            # The parts of kind "READS" or "WRITES" in a row.
            function parts(row, kind,    part, count, all, i, seen) {
                count = split(row, part, / ENDS */)
                all = ""
                for (i = 1; i <= count; i++)
                    if (index(part[i], kind " ") == 1 && !seen[part[i]]++)
                        all = all (all == "" ? "" : ", ") substr(part[i], length(kind) + 2)
                return all == "" ? "nothing" : all
            }
            {
                name = $1
                row = substr($0, length($1) + 2)
                gsub(/\|\|/, "or", row)
                gsub(/^ +| +$/, "", row)
                accesses = parts(row, "READS") " | " parts(row, "WRITES")
                if (accesses != last && NR > 1) print "| " names " | " last " |"
                names = (accesses == last ? names ", " : "") "`" name "`"
                last = accesses
            }
            END { print "| " names " | " last " |" }'
    done
}

case ${1:-} in
--names) for file in runtime/libc/*.def; do rows "$file" | cut -d'|' -f1; done | tr -d ' ' ;;
*) document ;;
esac
