#!/usr/bin/env bash
# Builds with AddressSanitizer and UndefinedBehaviorSanitizer and runs the tests, or builds with ThreadSanitizer and runs
# those of what has threads: readers, sessions, mutation, exploration. About an hour and a half, or one, on two cores.
# Usage: scripts/sanitize.sh [address|thread]     address
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-dependencies.sh
case ${1:-address} in
  address)
    cmake --preset asan
    cmake --build --preset asan
    # Leaks are off: protobuf keeps process-wide tables that are never freed.
    # Left out is what is loaded into a Python without it, and what makes packages.
    # Tests that kill load a library of theirs before the sanitizer's.
    ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
      ctest --preset asan -E "^(python|package)\$"
    ;;
  thread)
    tests=(support data model keras engine backends mutation explore)
    cmake --preset tsan
    cmake --build --preset tsan --target "${tests[@]/#/test_}"
    # Libraries that were not built with it would look like further races.
    TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1 \
      ctest --preset tsan -R "^($(IFS='|'; echo "${tests[*]}"))\$"
    ;;
  *)
    echo "usage: scripts/sanitize.sh [address|thread]" >&2
    exit 1
    ;;
esac
