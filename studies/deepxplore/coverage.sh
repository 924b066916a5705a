#!/usr/bin/env bash
# Neuron coverage of as many findings, adversarial records (FGSM) and random test records (Pei et al., SOSP 2017, figure 9: 1 % of the
# test set each, thresholds from 0 to 0.75).
#
# Usage: studies/deepxplore/coverage.sh ASSAY OUT DATA MODEL MODEL MODEL...
# Everything is kept in OUT and taken from there when the same command is given again. Environment: COUNT records of each kind,
# EPS of FGSM, CONSTRAINT, OPTIONS (further flags of `assay explore`).
set -euo pipefail
assay=$1 out=$2 data=$3
shift 3
count=${COUNT:-100} eps=${EPS:-0.3} constraint=${CONSTRAINT:-light}
mkdir -p "$out"

# Findings, from seeds in their order until there are enough.
# shellcheck disable=SC2086
[ -f "$out/findings.json" ] || "$assay" explore "$@" --data "$data" --constraint "$constraint" --findings "$count" --criterion 'nc[threshold=0.25]' --pictures 0 --quiet \
  --out "$out/findings" --json "$out/findings.json" ${OPTIONS:-} > /dev/null
spec=$(grep -o '"data": *"[^"]*findings.npz[^"]*"' "$out/findings.json" | head -1 | sed 's/.*: *"//; s/"$//')

criteria=()
for threshold in 0 0.25 0.5 0.75; do criteria+=(--criterion "nc[threshold=$threshold]"); done
cover() {  # model, records, result
  [ -f "$3" ] || "$assay" cover --model "$1" --train "$data[:1000]" --test "$2" "${criteria[@]}" --quiet --json "$3" > /dev/null
}
value() {  # result, threshold: coverage of all layers in percent
  awk -v wanted="\"nc[threshold=$2]\"" 'BEGIN { RS = "{" } index($0, wanted) && /"layer": *"all"/ && match($0, /"coverage": *[0-9.e-]+/) { text = substr($0, RSTART, RLENGTH); sub(/.*: */, "", text); printf "%.1f", 100 * text; exit }' "$1"
}

printf '%-20s %-10s %10s %12s %10s\n' network threshold findings adversarial random
for model in "$@"; do
  name=$(basename "$model" .onnx)
  [ -f "$out/$name-fgsm/fgsm.npz" ] || "$assay" attack "$model" "$data[:$count]" --attack "fgsm[eps=$eps]" --all --pictures 0 --levels --quiet --out "$out/$name-fgsm" --json "$out/$name-fgsm.json" > /dev/null
  cover "$model" "$spec[:$count]" "$out/$name-findings.json"
  cover "$model" "$out/$name-fgsm/fgsm.npz" "$out/$name-adversarial.json"
  cover "$model" "$data[$count:$((2 * count))]" "$out/$name-random.json"
  for threshold in 0 0.25 0.5 0.75; do
    printf '%-20s %-10s %9s%% %11s%% %9s%%\n' "$name" "$threshold" "$(value "$out/$name-findings.json" "$threshold")" "$(value "$out/$name-adversarial.json" "$threshold")" \
      "$(value "$out/$name-random.json" "$threshold")"
  done
done
