#!/usr/bin/env bash
# Every test of a build is either quick or slow.
# Usage: labels_test.sh BUILD_DIR
set -euo pipefail
names() { ctest --test-dir "$1" -N "${@:2}" | sed -n 's/^ *Test *#[0-9]*: //p' | sort; }
all=$(names "$1") quick=$(names "$1" -L '^quick$') slow=$(names "$1" -L '^slow$')
[ -n "$quick" ] && [ -n "$slow" ] || { echo "no test is quick, or none is slow" >&2; exit 1; }
missing=$(comm -23 <(echo "$all") <(printf '%s\n%s\n' "$quick" "$slow" | sort))
[ -z "$missing" ] || { echo "without a label; call assay_label() for: $missing" >&2; exit 1; }
both=$(comm -12 <(echo "$quick") <(echo "$slow"))
[ -z "$both" ] || { echo "quick and slow: $both" >&2; exit 1; }
echo "$(wc -l <<<"$quick") tests are quick, $(wc -l <<<"$slow") slow"
