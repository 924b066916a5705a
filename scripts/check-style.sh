#!/usr/bin/env bash
# Compares every C++ file with .clang-format. Formatting differs between versions of clang-format: where version 14 is
# absent this says so and passes. To repair: clang-format-14 -i FILE.
set -euo pipefail
cd "$(dirname "$0")/.."

for name in clang-format-14 clang-format; do
  command -v "$name" >/dev/null || continue
  "$name" --version | grep -q 'version 14\.' || continue
  format=$name
  break
done
if [ -z "${format:-}" ]; then
  echo "SKIPPED: no clang-format 14; the style of the C++ sources was not checked" >&2
  exit 0
fi

# Outside a clone: every file that is not in a build folder.
files() { git ls-files -z -- '*.cpp' '*.h' 2>/dev/null || find . -path './build*' -prune -o -path '*/node_modules' -prune -o \( -name '*.cpp' -o -name '*.h' \) -print0; }
mapfile -d '' -t sources < <(files)
if [ "${#sources[@]}" -eq 0 ]; then
  echo "no C++ files found in $PWD" >&2
  exit 1
fi
printf '%s\0' "${sources[@]}" | xargs -0 -n 40 -P "$(nproc)" "$format" --dry-run --Werror
echo "== style: ${#sources[@]} files agree with .clang-format"
