#!/usr/bin/env bash
# Configures and builds in build/release. Arguments: targets (default: everything). For the targets assay_program and
# assay_python it installs the least that these need.
set -euo pipefail
cd "$(dirname "$0")/.."
needs=() options=(-DASSAY_TESTS=ON)
case "$*" in
  assay_program) needs=(--program) ;;
  assay_python | "assay_program assay_python") needs=(--module) ;;
esac
if [ ${#needs[@]} -gt 0 ]; then dpkg-query -W libgtest-dev libgmock-dev libzip-dev >/dev/null 2>&1 || options=(-DASSAY_TESTS=OFF); fi
scripts/install-dependencies.sh "${needs[@]}"
[ ! -d build/packages ] || options+=("-DCMAKE_PREFIX_PATH=$PWD/build/packages/usr")
configured() { cmake --preset release "$@" >build-configure.log 2>&1; }
echo "== configuring build/release"
if ! configured "${options[@]}" && [ -d build/packages ]; then
  # The static libraries of a release may need more than is unpacked.
  rm -rf build/packages build/release/CMakeCache.txt
  scripts/install-dependencies.sh
  configured -DASSAY_TESTS=ON || true
fi
grep -q 'Build files have been written' build-configure.log || { cat build-configure.log; rm -f build-configure.log; exit 1; }
rm -f build-configure.log
echo "== building ${*:-everything} (some minutes the first time)"
cmake --build --preset release ${@:+--target "$@"}
