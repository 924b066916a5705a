#!/usr/bin/env bash
# Importance-Driven Coverage by layer, of a test set and of the set extended by a copy with noise on the most relevant pixels (Gerasimou et
# al., ICSE 2020, Table 5).
#
# Usage: studies/deepimportance/layers.sh ASSAY OUT TRAIN TEST NETWORK:M:LAYER+LAYER...
# M: the number of important neurons; layers by name. Results stay in OUT. Environment: ATTACKS (default: noise-relevant), SEED.
set -euo pipefail
assay=$1 out=$2 train=$3 test=$4 here=$(dirname "$0")
shift 4
mkdir -p "$out"
for entry in "$@"; do
  IFS=: read -r network neurons names <<< "$entry"
  result=$out/$(basename "${network%.*}")
  [ -f "$result-tables/extensions.csv" ] && continue
  layers=()
  for name in ${names//+/ }; do layers+=(--layer "$name"); done
  "$assay" cover --model "$network" --train "$train" --test "$test" --criterion idc -m "$neurons" "${layers[@]}" --seed "${SEED:-1}" \
    --extend-with "${ATTACKS:-noise-relevant}" --made-dir "$result" --json "$result.json" --csv "$result-tables" > /dev/null
done
"$here/table.sh" "$out"
