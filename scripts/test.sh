#!/usr/bin/env bash
# Installs dependencies, builds everything, runs all tests and the checks of the sources.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-dependencies.sh --checks
scripts/build.sh
echo "== testing"
ctest --preset release
scripts/check-style.sh
scripts/check-tidy.sh --changed
