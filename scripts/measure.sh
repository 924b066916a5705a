#!/usr/bin/env bash
# Prints sizes and counts of the sources; with --build also what a build from nothing takes (in a separate folder,
# without ccache: as long as it says).
set -euo pipefail
cd "$(dirname "$0")/.."

lines() { cat -- "$@" | wc -l; }
sources() { find "$@" \( -name '*.cpp' -o -name '*.h' \) | sort; }
row() { printf '%-46s %s\n' "$1" "$2"; }

headers=include/assay
[ -d "$headers" ] || headers=assay
mapfile -t public < <(find "$headers" -name '*.h' | sort)
longest=$(wc -l "${public[@]}" | sed '$d' | sort -n | tail -1)
row "installed headers: for users, to extend" "$(find "$headers" -maxdepth 1 -name '*.h' | wc -l), $(find "$headers/extend" -name '*.h' 2>/dev/null | wc -l)"
row "longest installed header, lines" "$(echo "$longest" | awk '{print $1 " (" $2 ")"}')"
row "lines of the library" "$(lines $(sources assay include 2>/dev/null))"
row "lines of apps/frame" "$(lines $(sources apps/frame))"
row "lines of apps/assay" "$(lines $(sources apps/assay))"
row "sources of library and program" "$(find assay apps -name '*.cpp' | wc -l)"
row "tests in the sources" "$(cat $(sources tests) | grep -cE '^(TEST|TEST_F|TEST_P)\(')"

objects() { ninja -C "$1" -t targets all 2>/dev/null | grep -c '\.o: ' || true; }
cpu_seconds() { # of what follows, in seconds
  local TIMEFORMAT='%U %S'
  { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{print $1 + $2}'
}
if [ "${1:-}" = --build ]; then
  build=$(mktemp -d)
  trap 'rm -rf "$build"' EXIT
  export CCACHE_DISABLE=1
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null
  row "objects" "$(objects "$build")"
  row "library and program, CPU minutes" "$(cpu_seconds cmake --build "$build" --target assay_program | awk '{printf "%.1f", $1 / 60}')"
  row "the tests beside them, CPU minutes" "$(cpu_seconds cmake --build "$build" | awk '{printf "%.1f", $1 / 60}')"
  row "tests that run" "$(find "$build/tests" -name 'test_*' -type f -executable -exec {} --gtest_list_tests \; | grep -c '^  ')"
elif [ -f build/release/build.ninja ]; then
  row "objects (build/release)" "$(objects build/release)"
fi
