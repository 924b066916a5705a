#!/usr/bin/env bash
# Runs every command that ranks share by 1, 2, 4 and 8 of them, on generated data, and compares results and files byte for
# byte; other numbers: RANKS="1 3". More than the test suite has time for.
# Usage: scripts/check-ranks.sh [PROGRAM] (default: build/release/bin/assay)
set -euo pipefail
cd "$(dirname "$0")/.."
assay=$(realpath "${1:-build/release/bin/assay}")
command -v mpirun >/dev/null || { echo "SKIPPED: no mpirun" >&2; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

"$assay" train --architecture lenet1 --data digits:600 --epochs 1 --out net.onnx --quiet
train=digits:600 test=digits:600,seed=2 idc='--layer -2 -m 3'

declare -A commands=(
  [evaluate]="evaluate --model net.onnx --data $test --predictions predictions.csv"
  [importance]="importance --model net.onnx --data $test --layer -2"
  [profile-and-cover]="cover --model net.onnx --train $train --test $test $idc --criterion idc --criterion kmnc --criterion nlc --criterion dsc --profile net.profile --state net.cov"
  [select]="select --model net.onnx --train $train --test $test --by additional --criterion kmnc --out order.txt"
  [mutate]="mutate --model net.onnx --test $test --count 3 --state net.mut --matrix matrix.csv"
  [attack]="attack net.onnx $test --attack fgsm --attack pgd[steps=3] --pictures 0 --out attacked"
  [explore]="explore net.onnx --mutant ws --data digits:64,seed=2 --train $train --criterion nc --iterations 3 --round 32 --pictures 0 --out explored"
)

# Files and result of a run, without what tells one run from another.
run() { # NAME RANKS
  mkdir "$1.$2" && cp net.onnx "$1.$2" && (
    cd "$1.$2"
    launcher=(mpirun --oversubscribe -n "$2")
    [ "$2" != 1 ] || launcher=()
    # shellcheck disable=SC2086 # words
    "${launcher[@]}" "$assay" ${commands[$1]} --batch 16 --threads 1 --quiet --json result.json >log 2>&1 || { cat log; exit 1; }
    rm -rf log explored/journal # the order in which things came in
    python3 - <<'PYTHON'
import json, pathlib

def without_time(value):
    if isinstance(value, dict):
        return {k: without_time(v) for k, v in value.items() if k not in ("seconds", "per_second", "finished")}
    return [without_time(v) for v in value] if isinstance(value, list) else value

for path in pathlib.Path(".").rglob("*.json"):
    path.write_text(json.dumps(without_time(json.loads(path.read_text()))))
PYTHON
  )
}

failed=0
for name in evaluate importance profile-and-cover select mutate attack explore; do
  for ranks in ${RANKS:-1 2 4 8}; do
    run "$name" "$ranks" || { failed=1; echo "$name: $ranks ranks: failed"; continue; }
    if [ "$ranks" = 1 ] || diff -r "$name.1" "$name.$ranks"; then
      echo "$name: $ranks ranks: $(find "$name.$ranks" -type f | wc -l) files$([ "$ranks" = 1 ] || echo ', the same bytes')"
    else
      failed=1
    fi
  done
done
[ "$failed" = 0 ] || { echo "== not the same" >&2; exit 1; }
echo "== the same by any number of ranks"
