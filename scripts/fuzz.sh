#!/bin/bash
# Builds the fuzz targets with clang in build/fuzz and runs each for some seconds from generated seeds.
# Usage: scripts/fuzz.sh [seconds] [target...]     seconds: 60; targets: all
# Exit status 0: clean. Otherwise the input that failed lies in build/fuzz/NAME/.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true

lacks() {
  echo "fuzz: $1 is absent, which the targets need; on Debian: apt-get install $2" >&2
  exit 1
}
compiler=
for name in clang++ clang++-{20..14}; do
  if command -v "$name" > /dev/null; then compiler=$name && break; fi
done
[ -n "$compiler" ] || lacks "clang" "clang"
version=$("$compiler" -dumpversion)
version=${version%%.*}
echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
  "$compiler" -x c++ - -fsanitize=fuzzer,address,undefined -o /dev/null 2> /dev/null ||
  lacks "the runtime of clang's sanitizers and libFuzzer" "libclang-rt-$version-dev"

echo "fuzz: building with $compiler in build/fuzz"
cmake -S . -B build/fuzz -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER="${compiler/clang++/clang}" \
  -DCMAKE_CXX_COMPILER="$compiler" -DASSAY_FUZZERS=ON -DASSAY_TESTS=OFF ${ASSAY_FUZZ_CMAKE:-} > /dev/null
cmake --build build/fuzz --target fuzzers

# Libraries built without the sanitizer share containers with ours, which looks like an overflow to it.
export ASAN_OPTIONS=detect_container_overflow=0:${ASAN_OPTIONS:-}
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for program in build/fuzz/fuzz/fuzz_*; do
    [ -x "$program" ] && [ -f "$program" ] && targets+=("${program##*/fuzz_}")
  done
fi
[ ${#targets[@]} -gt 0 ] || { echo "fuzz: no targets were built" >&2; exit 1; }
for target in "${targets[@]}"; do
  folder=build/fuzz/$target
  mkdir -p "$folder/corpus"
  ASSAY_FUZZ_SEEDS=$folder/corpus "build/fuzz/fuzz/fuzz_$target"
  echo "fuzz: $target for $seconds seconds"
  "build/fuzz/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$folder/" "$folder/corpus" 2> "$folder/log.txt" ||
    { tail -40 "$folder/log.txt" >&2; echo "fuzz: $target failed; its input and log.txt are in $folder" >&2; exit 1; }
  grep -E "number_of_executed_units|peak_rss_mb" "$folder/log.txt" | sed "s/^/fuzz: $target /"
done
echo "fuzz: all clean"
