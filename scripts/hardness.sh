#!/usr/bin/env bash
# The whole suite of kills, faults and hostile files (tests/hardness; ctest runs a part of it): every command is killed
# at every call that changes a file. Prints, per command, the kills that were survived. Takes about half an hour.
# Usage: scripts/hardness.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
result=$(mktemp)
trap 'rm -f "$result"' EXIT
code=0
ASSAY_HARDNESS=whole "$build/tests/hardness/test_hardness" --gtest_brief=1 "--gtest_output=json:$result" || code=$?
python3 - "$result" <<'PY'
import json, sys
tests = [t for suite in json.load(open(sys.argv[1]))["testsuites"] for t in suite["testsuite"]]
print("| test | kills | outcome |\n|---|---|---|")
for t in tests:
    outcome = "failed" if "failures" in t else "skipped" if t["result"] == "SKIPPED" else "passed"
    print(f"| {t['name']} | {t.get('kills', '')} | {outcome} |")
print(f"\n{sum(int(t.get('kills', 0)) for t in tests)} kills, {sum('failures' in t for t in tests)} of {len(tests)} tests failed")
PY
exit "$code"
