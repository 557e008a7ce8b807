# Sourced by tests/check_*.sh, first of all, whose tests run in a folder of their own, $scratch: it is the current one then, and goes away at the end. $maxrace is the
# program that is tested. The functions are those of check.sh.
set -u
cd "$(dirname "$0")/.." || exit 1
maxrace=$(realpath "${BUILD:-build/release}/maxrace")
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. tests/support/check.sh
cd "$scratch" || exit 1
