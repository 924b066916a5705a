#!/usr/bin/env bash
# Installs dependencies, builds everything, runs all tests.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh
echo "== testing"
ctest --preset release
