#!/usr/bin/env bash
# Makes the .deb packages of a build and tries them. As root and with debootstrap: installs them on a bare Debian 12, runs
# the program there and builds examples/embed against the library. Otherwise: looks at what is in them.
# Usage: scripts/check-packages.sh [BUILD_DIR]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
command -v dpkg-shlibdeps >/dev/null || { echo "SKIPPED: no dpkg-shlibdeps (package dpkg-dev)" >&2; exit 0; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "== packages of $build"
cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work/packages" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
mkdir "$work/debs"
cp "$work"/packages/*.deb "$work/debs"
ls -l "$work/debs" | awk 'NR > 1 {print $5, $9}'

has() { # PACKAGE PATH: the package holds it
  dpkg-deb --contents "$work"/debs/"$1"_*.deb | awk '{print $6}' | grep -E "^\./$2\$" >/dev/null || { echo "package $1 has no $2" >&2; exit 1; }
}
needs() { # PACKAGE WORD: the package depends on it
  dpkg-deb --field "$work"/debs/"$1"_*.deb Depends | grep --fixed-strings "$2" >/dev/null || { echo "package $1 does not depend on $2" >&2; exit 1; }
}
has assay usr/bin/assay
has assay usr/share/man/man1/assay-cover.1
has assay usr/share/bash-completion/completions/assay
has assay-doc usr/share/doc/assay-doc/docs/first-steps.md
has assay-doc usr/share/doc/assay-doc/studies/run-all.sh
if ls "$work"/debs/assay-mpi_*.deb >/dev/null 2>&1; then
  has assay-mpi 'usr/lib/(.*/)?assay/libassay_mpi.so'
  needs assay-mpi libopenmpi
fi
has libassay-dev 'usr/include/assay/.*\.h'
has libassay-dev usr/lib/.*/assayConfig.cmake
has libassay-dev 'usr/lib/.*libassay\.(a|so)'
for package in g++ libhwy-dev libonnx-dev libprotobuf-dev libre2-dev libfmt-dev; do needs libassay-dev "$package"; done
if ls "$work"/debs/python3-assay_*.deb >/dev/null 2>&1; then
  has python3-assay 'usr/lib/python3/dist-packages/assay/_assay.*\.so'
  has python3-assay usr/lib/python3/dist-packages/assay/__init__.py
  needs python3-assay python3-numpy
fi
echo "== their contents are right"

if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
  echo "SKIPPED: not root, or no debootstrap; the packages were not installed" >&2
  exit 0
fi
root=$work/root
debootstrap --variant=minbase bookworm "$root" >"$work/log" 2>&1 || { tail -20 "$work/log"; exit 1; }
cp -r "$work/debs" "$root/debs"
cp -r examples/embed "$root/embed"
# With /proc and /sys, which go when the command ends.
inside() {
  unshare --mount sh -c 'mount --rbind /proc "$0/proc" && mount --rbind /sys "$0/sys" && exec chroot "$0" "$@"' "$root" \
    env DEBIAN_FRONTEND=noninteractive HOME=/root "$@"
}
echo "== installing the program"
inside sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends /debs/assay_*.deb $(ls /debs/libassay[0-9]*.deb 2>/dev/null)' >"$work/log" 2>&1 ||
  { tail -20 "$work/log"; exit 1; }
inside assay --version
inside sh -c 'cd /tmp && assay train --architecture lenet1 --data digits:500 --epochs 1 --out net.onnx --quiet &&
  assay cover --model net.onnx --train digits:500 --test digits:100,seed=2 --preset fast --quiet'
if ls "$work"/debs/python3-assay_*.deb >/dev/null 2>&1; then
  echo "== from Python"
  inside sh -c 'apt-get install -y -qq --no-install-recommends /debs/python3-assay_*.deb' >"$work/log" 2>&1 ||
    { tail -20 "$work/log"; exit 1; }
  inside sh -c 'cd /tmp && python3 -c "import assay; print(assay.evaluate(\"net.onnx\", \"digits:100\").headline)"'
fi
echo "== building against the library"
inside sh -c 'apt-get install -y -qq --no-install-recommends make /debs/libassay-dev_*.deb' >"$work/log" 2>&1 ||
  { tail -20 "$work/log"; exit 1; }
inside sh -c 'cmake -S /embed -B /tmp/embed && cmake --build /tmp/embed && cd /tmp && embed/embed' | tail -3
