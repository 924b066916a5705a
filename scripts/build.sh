#!/usr/bin/env bash
# Configures and builds in build/release. Arguments: targets (default: everything).
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-dependencies.sh
echo "== configuring build/release"
cmake --preset release >build-configure.log 2>&1 || { cat build-configure.log; rm -f build-configure.log; exit 1; }
rm -f build-configure.log
echo "== building ${*:-everything} (some minutes the first time)"
cmake --build --preset release ${@:+--target "$@"}
