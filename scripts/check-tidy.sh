#!/usr/bin/env bash
# Runs the checks of .clang-tidy and fails where they find something: in these files, in the lines that changed (--changed:
# since the branch left main, in the last commit where it has not, and in the working tree; of more than ASSAY_TIDY_MOST
# files so many, drawn by the commit), or in everything, which takes an hour. Where clang-tidy 14 is absent this says so and
# passes.
# Usage: scripts/check-tidy.sh [--changed | FILE...]
set -euo pipefail
cd "$(dirname "$0")/.."

for name in clang-tidy-14 clang-tidy; do
  command -v "$name" >/dev/null || continue
  "$name" --version | grep -q 'LLVM version 14\.' || continue
  tidy=$name
  break
done
if [ -z "${tidy:-}" ]; then
  echo "SKIPPED: no clang-tidy 14; the C++ sources were not checked for bugs" >&2
  exit 0
fi

base() {
  local found
  found=$(git merge-base HEAD origin/main 2>/dev/null || git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)
  [ "$found" != "$(git rev-parse HEAD)" ] || found=$(git rev-parse --quiet --verify HEAD~1 || echo "$found")
  echo "$found"
}

changed() {
  # Of a header its source is checked, which includes it.
  { git diff --name-only --diff-filter=d "$(base)"; git ls-files --others --exclude-standard; } |
    sed -n -e 's/\.h$/.cpp/' -e '/\.cpp$/p' | sort -u
}

# The lines of these sources and of their headers that changed, as clang-tidy takes them: [{"name": "a.cpp", "lines": [[3, 5], [9, 9]]}, ...]. Files that git does
# not know yet are new from the first line to the last.
changed_lines() {
  {
    git diff --unified=0 --no-color --no-ext-diff --diff-filter=d "$(base)" -- "$@" "${@/%.cpp/.h}" | awk '
      /^\+\+\+ b\// { file = substr($0, 7) }
      /^@@ / { split(substr($3, 2), at, ","); count = at[2] == "" ? 1 : at[2]; if (count > 0) print file, at[1], at[1] + count - 1 }'
    git ls-files --others --exclude-standard -- "$@" "${@/%.cpp/.h}" | sed 's/$/ 1 1000000/'
  } | awk '
    $1 != before { printf "%s{\"name\": \"%s\", \"lines\": [", before == "" ? "[" : "]}, ", $1; before = $1; separator = "" }
    { printf "%s[%d, %d]", separator, $2, $3; separator = ", " }
    END { print before == "" ? "[]" : "]}]" }'
}

# Precompiled headers and sources in groups are GCC's and not for clang; nothing is compiled here.
build=build/tidy
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release -DASSAY_UNITY=OFF -DASSAY_BENCHMARKS=ON \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >$build.log 2>&1 || { cat $build.log; exit 1; }
rm -f $build.log
# clang does not have an omp.h, and all of GCC's folder would hide what clang has.
mkdir -p $build/include
ln -sf "$(gcc -print-file-name=include)/omp.h" $build/include/omp.h

lines=()
if [ "${1:-}" = --changed ]; then
  mapfile -t wanted < <(changed)
elif [ $# -gt 0 ]; then
  wanted=("$@")
else
  mapfile -t wanted < <(sed -n "s|^ *\"file\": \"$PWD/\(.*\.cpp\)\".*|\1|p" $build/compile_commands.json | sort -u)
fi
files=()
for file in "${wanted[@]}"; do
  if grep -q "\"file\": \"$PWD/$file\"" $build/compile_commands.json; then files+=("$file"); fi
done
most=${ASSAY_TIDY_MOST:-30} drawn=
if [ "${1:-}" = --changed ] && [ ${#files[@]} -gt "$most" ]; then
  echo "== tidy: ${#files[@]} files changed, $most of them are checked (ASSAY_TIDY_MOST)"
  drawn=1
  mapfile -t files < <(for file in "${files[@]}"; do
    echo "$(echo "$(git rev-parse HEAD) $file" | cksum | cut -d' ' -f1) $file"
  done | sort -n | head -"$most" | cut -d' ' -f2-)
fi
if [ ${#files[@]} -eq 0 ]; then
  echo "== tidy: no source to check"
  exit 0
fi
[ "${1:-}" != --changed ] || lines=(--line-filter="$(changed_lines "${files[@]}")")
echo "== tidy: checking ${#files[@]} files"
# clang 14 cannot read some headers of libraries in C++20: sources that include them are left out, aloud.
check() {
  local found
  found=$("$tidy" --quiet -p "$build" "${@:2}" --extra-arg=-Wno-unknown-warning-option \
    --extra-arg=-isystem"$PWD/$build/include" "$1" 2>&1) && return
  if grep -qE '(/usr/|omp\.h).*clang-diagnostic-error' <<<"$found"; then
    echo "SKIPPED: clang 14 cannot read what $1 includes" >&2
    return
  fi
  grep -v 'warnings generated' <<<"$found"
  return 1
}
export -f check
export tidy build
printf '%s\0' "${files[@]}" | xargs -0 -I {} -P "${ASSAY_JOBS:-$(nproc)}" bash -c 'check "$@"' bash {} "${lines[@]}" || {
  [ -n "$drawn" ] || exit 1
  echo "== tidy: findings in files that were drawn, see above"
  exit 0
}
echo "== tidy: nothing found"
