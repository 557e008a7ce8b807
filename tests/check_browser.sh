#!/usr/bin/env bash
# The HTML reports in headless Chromium (Debian packages chromium, chromium-driver, nodejs): makes the pages and lets
# tests/browser/pages.js look at them. Prints "[       OK ] name", or the reason and "[  FAILED  ] name".
#
#   PICTURES=DIR tests/check_browser.sh    also keeps pictures of the pages
set -u
cd "$(dirname "$0")/.." || exit 1
maxrace=${MAXRACE:-${BUILD:-build/release}/maxrace}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. tests/support/check.sh

tests=(bank steps zoom filters long narrow access compare plots strange empty)
names=("${tests[@]/#/browser_}")
for tool in node chromedriver chromium; do
    needs "$tool" "${names[@]}" || exit 0
done

page() {
    local name=$1
    shift
    "$maxrace" predict -q --format html -o "$scratch/$name.html" "$@"
    [ $? -le 1 ] || { echo "[  FAILED  ] browser_pages"; exit 1; }
}

# The lines of bank.c that the example speaks of.
{ for _ in {1..20}; do echo; done; echo "    balance += 50;"; for _ in {22..33}; do echo; done; echo "    return balance;"; } >"$scratch/bank.c"
page bank --source-dir "$scratch" examples/bank.std
page none examples/bank-locked.std

# A hunt, whose journal says how its behaviours grew.
cat >"$scratch/hunted.c" <<'END'
#include <pthread.h>
static int balance;
static void *add(void *unused) { balance++; return unused; }
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, add, 0);
    balance++;
    pthread_join(thread, 0);
    return balance != 2;
}
END
"$maxrace" cc -g -o "$scratch/hunted" "$scratch/hunted.c" && "$maxrace" hunt -q --runs 12 --dir "$scratch/hunt" "$scratch/hunted" >/dev/null
"$maxrace" hunt --report "$scratch/hunt" --format html -o "$scratch/plots.html"

# Twelve variables, three of them known.
trace() {
    local i
    for ((i = 0; i < $1; i++)); do printf 'T1|w(v%d=1)|a.c:%d\nT2|w(v%d=2)|b.c:%d\n' $i $((i + 1)) $i $((100 - i)); done
}
trace 3 >"$scratch/three.std"
trace 12 >"$scratch/many.std"
"$maxrace" predict -q --format json -o "$scratch/base.json" "$scratch/three.std"
page many --baseline "$scratch/base.json" "$scratch/many.std"

awk 'BEGIN { print "A|fork(B)|a.c:1"; for (i = 1; i < 120000; i++) print (i % 7 < 4 ? "A" : "B") "|" (i % 5 ? "r" : "w") "(q" i % 7 "=1)|a.c:" i % 90
    print "A|w(x=1)|a.c:91"; print "B|w(x=2)|a.c:92" }' >"$scratch/long.std"
page long --no-witness-minimise --window-size 0 --candidates-far none --candidates-ignore-locations "$(seq -s, -f 'a.c:%g' 0 89)" "$scratch/long.std"

printf '%s\n' '#@var V <!--<script>"&x' '#@thread A </script><b>A' '#@thread B <img src=x onerror="bad()">' 'A|w(V=1)|a.c:1' 'B|w(V=2)|a.c:2' >"$scratch/strange.std"
page strange "$scratch/strange.std"

"$maxrace" compare -q --format html -o "$scratch/compare.html" examples/bank.std examples/account.std
[ $? -le 1 ] || { echo "[  FAILED  ] browser_pages"; exit 1; }

node tests/browser/pages.js "$scratch"
