#!/usr/bin/env bash
# The whole suite of kills, faults and hostile files (tests/hardness; ctest runs a part of it): every command is killed
# at every call that changes a file, every value of states and profiles is changed in every way. Prints, per test, the
# kills that were survived and the changes that were tried. Takes about half an hour.
# Usage: scripts/hardness.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
code=0
export ASSAY_HARDNESS=whole
"$build/tests/hardness/test_hardness" --gtest_brief=1 "--gtest_output=json:$results/hardness" || code=$?
"$build/tests/question/test_question" --gtest_brief=1 --gtest_filter='SpoiledStates.*' \
  "--gtest_output=json:$results/question" || code=$?
python3 - "$results"/* <<'PY'
import json, sys
tests = [t for file in sys.argv[1:] for suite in json.load(open(file))["testsuites"] for t in suite["testsuite"]]
print("| test | kills | changes | outcome |\n|---|---|---|---|")
for t in tests:
    outcome = "failed" if "failures" in t else "skipped" if t["result"] == "SKIPPED" else "passed"
    print(f"| {t['name']} | {t.get('kills', '')} | {t.get('changes', '')} | {outcome} |")
print(f"\n{sum(int(t.get('kills', 0)) for t in tests)} kills, {sum('failures' in t for t in tests)} of {len(tests)} tests failed")
PY
exit "$code"
