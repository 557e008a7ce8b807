#!/usr/bin/env bash
# Builds the Debian packages as from a clean clone, in a folder of its own, and has lintian look at them. Ends with 1 when the
# build fails or lintian has a word of complaint. Usage: packaging/deb.sh OUT
set -eu
cd "$(dirname "$0")/.."
[ $# -eq 1 ] || { echo "usage: packaging/deb.sh OUT" >&2; exit 2; }
for tool in dpkg-buildpackage dh lintian; do
    command -v $tool >/dev/null || { echo "there is no $tool; install debhelper and lintian" >&2; exit 1; }
done
mkdir -p "$1"
out=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/maxrace"
if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files -co --exclude-standard -z | xargs -0 cp --parents -a -t "$scratch/maxrace"
else
    tar -cf - --exclude=./build --exclude=./.git . | tar -xf - -C "$scratch/maxrace"
fi
cd "$scratch/maxrace"
DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS-nocheck} dpkg-buildpackage -us -uc -b >"$out/build.log" 2>&1 ||
    { tail -n 20 "$out/build.log"; echo "the packages could not be built; $out/build.log has the rest"; exit 1; }
rm -f "$out"/*.deb
cp ../*.deb "$out"
# The project has no public address: who uploads a package puts an own one into control and changelog.
lintian --fail-on error,warning --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog --allow-root ../*.changes >"$out/lintian.txt" ||
    { cat "$out/lintian.txt"; exit 1; }
ls "$out"/*.deb
