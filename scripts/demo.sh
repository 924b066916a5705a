#!/usr/bin/env bash
# From a bare Debian 12 or 13 to a first result: installs dependencies, builds an optimised assay, runs the demonstration.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh assay_program
echo "== assay demo"
exec build/release/bin/assay demo "$@"
