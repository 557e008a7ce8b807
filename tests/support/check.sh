# Sourced by tests/check_*.sh, which count as test programs.
failures=0

# Names of recorded programs are kept in the suite's own folder, not in the user's.
[ -z "${scratch:-}" ] || export MAXRACE_SYMBOL_CACHE=$scratch/symbol-cache

# check NAME COMMAND…: the test passes when the command succeeds; what it prints is its reason.
check() {
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then
        echo "[       OK ] $name"
    else
        printf '%s\n[  FAILED  ] %s\n' "$output" "$name"
        failures=$((failures + 1))
    fi
}

# skip NAME REASON: the test cannot run here.
skip() {
    echo "[  SKIPPED ] $1: $2"
}

# needs TOOL NAME...: true when there is the command TOOL; else these tests are skipped.
needs() {
    local tool=$1 name
    shift
    command -v "$tool" >/dev/null && return
    for name in "$@"; do skip "$name" "there is no $tool"; done
    return 1
}

# flags_of SOURCE: those of GLib for a program glib-*, which is linked with it.
flags_of() {
    case ${1##*/} in glib-*) pkg-config --cflags --libs glib-2.0 ;; esac
}

# has_library SOURCE NAME: is the library of the program there? Else this test is skipped.
has_library() {
    case ${1##*/} in glib-*) pkg-config --exists glib-2.0 2>/dev/null || { skip "$2" "there is no libglib2.0-dev"; return 1; } ;; esac
}
