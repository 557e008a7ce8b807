#!/usr/bin/env bash
# What the variables on stacks are called. Each program of tests/programs with a line "Names:" at its top is built by gcc with
# -O1 (TEST_LENGTH=full: by gcc and clang, with -O0, -O1 and -O2), and recorded; the texts for people of its variables and locks are to be exactly these names (T*:
# any thread), and the races are reported by name. Without debug information they stay places: "T0.stack-88".
# The types of variables in static memory and on stacks are those of the lines "Type:" in tests/programs/types-*, and reports show "Values:" by them.
# Prints "[       OK ] name", or the reason and "[  FAILED  ] name".
set -u
cd "$(dirname "$0")/.." || exit 1
maxrace=$(realpath "${BUILD:-build/release}/maxrace")
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. tests/support/check.sh
unset MAXRACE_CC MAXRACE_CXX
if [ "${TEST_LENGTH:-}" = full ]; then compilers='gcc clang' levels='-O0 -O1 -O2' versions='4 5'; else compilers=gcc levels=-O1 versions=5; fi

# build COMPILER SOURCE FLAG…
build() {
    local compiler=$1 source=$2 command=cc
    shift 2
    case $source in *.cpp) command=c++ compiler=${compiler/gcc/g}++ ;; esac
    MAXRACE_CC=$compiler MAXRACE_CXX=$compiler "$maxrace" $command "$@" -pthread "$source" -o "$scratch/program"
}

record() { "$maxrace" record -q -o "$scratch/trace.mrt" -- "$scratch/program" >/dev/null; }

# The texts of locks, and of variables that several threads access, sorted.
texts() {
    "$maxrace" convert "$scratch/trace.mrt" - | awk -F'|' '
        /^#@(var|lock) / { split($0, word, " "); text[word[2]] = substr($0, length(word[1] word[2]) + 3); lock[word[2]] = word[1] == "#@lock"; next }
        /^#/ { next }
        { name = $2; sub(/^[^(]*\(/, "", name); sub(/[=)].*/, "", name); threads[name] += !(name SUBSEP $1 in seen); seen[name, $1] = 1 }
        END { for (name in text) if (lock[name] || threads[name] > 1) print text[name] }' | sed 's/^T[0-9]*\./T*./' | sort
}

names_are() {
    local compiler=$1 source=$2 level=$3
    build "$compiler" "$source" -g "$level" && record || return 1
    diff <(sed -n '/Names:/,/\*\//p' "$source" | sed 's/.*Names://; s/\*\/$//; s/^ \* / /' | tr -s ' ' '\n' | grep . | sort) <(texts) || return 1
    "$maxrace" predict -q "$scratch/trace.mrt" >"$scratch/report"
    grep -q '^Race [0-9]* of [0-9]* on main\.[a-z.]* (T0\.stack-[0-9]*)$' "$scratch/report" && ! grep '^Race .* on T[0-9]*\.stack-' "$scratch/report"
}

# The lines `#@type` of the trace, and the values that the report of every race shows.
types_are() {
    local compiler=$1 source=$2 level=$3 value
    build "$compiler" "$source" -g "$level" && record || return 1
    # Variables on stacks by their texts for people.
    diff <(sed -n 's/^ \* Type: /#@type /p' "$source" | sort) <("$maxrace" convert "$scratch/trace.mrt" - |
        awk '$1 == "#@var" { text[$2] = $3 } $1 == "#@type" { line[$2] = $0 } END { for (v in line) { l = line[v]; if (v in text) sub(" [^ ]+", " " text[v], l); print l } }' | sort) || return 1
    "$maxrace" predict -q --report-shown 0 "$scratch/trace.mrt" >"$scratch/report"
    for value in $(sed -n 's/^ \* Values: //p' "$source"); do
        grep -q -F "($value)" "$scratch/report" || { echo "no $value in the report"; return 1; }
    done
}

no_names() {
    build gcc tests/programs/local-race.c -O1 && record || return 1
    [ -z "$(texts)" ] || { texts; return 1; }
    build gcc tests/programs/local-race.c -O1 -g && strip "$scratch/program" && record || return 1
    [ -z "$(texts)" ] || { texts; return 1; }
}

# The same names where the debug information is in files of its own: in .dwo files, or in one that a link names. Where it is missing in one
# recording and there in the next, the next has the names.
elsewhere() {
    local compiler=$1 version=$2 source=tests/programs/local-race.c
    build "$compiler" $source -g "-gdwarf-$version" -O1 && record || return 1
    texts >"$scratch/names"
    "$maxrace" predict -q --brief "$scratch/trace.mrt" >"$scratch/findings"
    [ -s "$scratch/names" ] && grep -q "^$source:[0-9]*:[0-9]*: race on " "$scratch/findings" || return 1
    as_before() {
        record || return 1
        "$maxrace" predict -q --brief "$scratch/trace.mrt" | diff "$scratch/findings" - && texts | diff "$scratch/names" -
    }
    build "$compiler" $source "-gdwarf-$version" -gsplit-dwarf -O1 || return 1
    for split in "$scratch"/*.dwo ./*.dwo; do # gcc, clang
        [ ! -e "$split" ] || break
    done
    mv "$split" "$scratch/away" && record && [ -z "$(texts)" ] && mv "$scratch/away" "$split" && as_before
    local result=$?
    rm -f "$split"
    [ $result -eq 0 ] || return 1
    build "$compiler" $source -g "-gdwarf-$version" -O1 && objcopy --only-keep-debug "$scratch/program" "$scratch/program.debug" &&
        strip "$scratch/program" && objcopy --add-gnu-debuglink="$scratch/program.debug" "$scratch/program" || return 1
    mv "$scratch/program.debug" "$scratch/away" && record && [ -z "$(texts)" ] || return 1
    mkdir -p "$scratch/.debug" && mv "$scratch/away" "$scratch/.debug/program.debug" && as_before || return 1
    # The debug information of another program is not taken: it has another build-id, or another checksum.
    local link
    for link in --build-id --build-id=none; do
        build "$compiler" $source -g "-gdwarf-$version" -O0 "-Wl,$link" && strip "$scratch/program" && cp "$scratch/.debug/program.debug" "$scratch" &&
            objcopy --add-gnu-debuglink="$scratch/program.debug" "$scratch/program" || return 1
        [ $link = --build-id ] || echo >>"$scratch/program.debug"
        mv "$scratch/.debug/program.debug" "$scratch/away" && record && [ -z "$(texts)" ] && mv "$scratch/away" "$scratch/.debug/program.debug" || return 1
    done
}

# Functions in namespaces and classes have their whole names. clang puts their code there, gcc outside.
functions() {
    printf '%s\n' '#include <pthread.h>' 'static int x;' 'namespace deep {' \
        'struct box { static void put(int *p) { *p = 1; } };' 'namespace { void fill(int *p) { box::put(p); } }' \
        'void *work(void *p) { fill((int *)p); return p; }' '}' \
        'int main() { pthread_t t; pthread_create(&t, 0, deep::work, &x); deep::work(&x); return pthread_join(t, 0); }' >"$scratch/deep.cpp"
    build "$1" "$scratch/deep.cpp" -g -O0 && record || return 1
    "$maxrace" predict -q "$scratch/trace.mrt" >"$scratch/report"
    grep -q '^ *in deep::box::put at ' "$scratch/report" && grep -q '^ *by deep::(anonymous)::fill at ' "$scratch/report" &&
        grep -q '^ *by deep::work at ' "$scratch/report" || { cat "$scratch/report"; return 1; }
}

# A lambda has the name of the function around it, also where its code stands within that function's entry (-O0). A block that
# a library allocates has the name of the place in the program, and so has the finding: in the list, for editors, and for code scanning.
lambdas() {
    printf '%s\n' '#include <pthread.h>' '#include <memory>' 'template <class F> void *call(void *p) { (*(F *)p)(); return nullptr; }' \
        'struct box { std::unique_ptr<int> n; void both() {' 'n = std::make_unique<int>(0);' 'auto f = [this] { ++*n; };' \
        'pthread_t t; pthread_create(&t, nullptr, call<decltype(f)>, &f);' 'f(); pthread_join(t, nullptr); } };' 'int main() { box b; b.both(); }' >"$scratch/lambda.cpp"
    build "$1" "$scratch/lambda.cpp" -g "$2" && record || return 1
    "$maxrace" predict --brief "$scratch/trace.mrt" >"$scratch/brief"
    # clang gives the function around an inlined lambda no name.
    grep -q -E 'lambda.cpp:6:[0-9]*: race on [^ ]*lambda.cpp:5:[0-9]*#1 between (box::both::)?<lambda> and (box::both::)?<lambda>; and ' "$scratch/brief" || { cat "$scratch/brief"; return 1; }
    # Code of a library belongs to the place and the function of the program.
    for place in "$scratch/lambda.cpp:5:*" box::both; do
        "$maxrace" explain "$scratch/trace.mrt" "$place" | grep -q 'lambda.cpp:5:[0-9]* .*no race' || { echo "explain $place"; return 1; }
    done
    "$maxrace" predict --format sarif -o "$scratch/sarif" "$scratch/trace.mrt"
    grep -o '"uri":"[^"]*"' "$scratch/sarif" | sort -u >"$scratch/files"
    ! grep -v 'lambda.cpp"$' "$scratch/files" && [ -s "$scratch/files" ]
}

for compiler in gcc clang; do
    needs "${compiler/gcc/g}++" "names_lambdas_$compiler" && check "names_lambdas_$compiler" lambdas $compiler -O0 && check "names_lambdas_optimised_$compiler" lambdas $compiler -O1
    needs "${compiler/gcc/g}++" "names_functions_$compiler" && check "names_functions_$compiler" functions $compiler
done
for source in tests/programs/*; do
    grep -q 'Names:' "$source" || continue
    for compiler in $compilers; do
        for level in $levels; do
            name=names_$(basename "$source" | tr '.-' '__')_$compiler$level
            needs "${compiler/gcc/g}++" "$name" && check "$name" names_are "$compiler" "$source" $level
        done
    done
done
for compiler in gcc clang; do
    for version in $versions; do
        needs $compiler "names_elsewhere_$compiler-$version" && check "names_elsewhere_$compiler-$version" elsewhere $compiler $version
    done
done
for source in tests/programs/types-*; do
    for compiler in $compilers; do
        # The library of C++ takes long to compile.
        [[ $source != *.cpp ]] || [ "${TEST_LENGTH:-}" = full ] || continue
        name=types_$(basename "$source" | tr '.-' '__')_$compiler
        needs "${compiler/gcc/g}++" "$name" && check "$name" types_are "$compiler" "$source" -O0
    done
done
check names_without_debug_information no_names
[ $failures -eq 0 ]
