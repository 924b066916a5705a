#!/usr/bin/env bash
# Coverage of a test set and of the set extended by noise and by each kind of adversarial input (Gerasimou et al., Importance-Driven
# Deep Learning System Testing, ICSE 2020, Table 4, and Table 3 by the way), and how Importance-Driven Coverage goes with the other
# criteria over these sets (RQ4).
#
# Usage: studies/deepimportance/run.sh ASSAY OUT TRAIN TEST NETWORK...
# NETWORK: .onnx or .h5; data as `assay data` takes it. Everything is kept in OUT, by the networks' names: the same command goes on where it
# was interrupted. Environment: PRESET of criteria, or CRITERIA as --criterion takes them, and ATTACKS (default of both: deepimportance), SEED.
set -euo pipefail
assay=$1 out=$2 train=$3 test=$4 here=$(dirname "$0")
shift 4
mkdir -p "$out"
criteria=(--preset "${PRESET:-deepimportance}")
if [ -n "${CRITERIA:-}" ]; then
  criteria=()
  for criterion in $CRITERIA; do criteria+=(--criterion "$criterion"); done
fi

for network in "$@"; do
  result=$out/$(basename "${network%.*}")
  [ -f "$result-tables/extensions.csv" ] && continue
  echo "== $(basename "$result")"
  "$assay" cover --model "$network" --train "$train" --test "$test" "${criteria[@]}" --seed "${SEED:-1}" \
    --extend-with "${ATTACKS:-deepimportance}" --made-dir "$result" --json "$result.json" --csv "$result-tables" > /dev/null
done
"$here/table.sh" "$out"
"$here/correlation.sh" "$out"
