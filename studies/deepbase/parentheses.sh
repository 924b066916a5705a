#!/usr/bin/env bash
# Nested parentheses (Sellam et al., DeepBase, SIGMOD 2019): a character LSTM learns a language of nested parentheses; which
# units count depth, before and after training, and do perturbations say the same?
#
# Usage: studies/deepbase/parentheses.sh ASSAY OUT
# Environment: UNITS (64), RECORDS (10000), EPOCHS (5).
set -euo pipefail
assay=$1 out=$2 here=$(cd "$(dirname "$0")" && pwd)
units=${UNITS:-64} records=${RECORDS:-10000} epochs=${EPOCHS:-5} architecture="next-symbol-lstm[units=${UNITS:-64}]"
mkdir -p "$out"
for epoch in 1 "$epochs"; do
  [ -f "$out/epoch-$epoch.onnx" ] ||
    "$assay" train --architecture "$architecture" --data "parentheses:$records" --optimiser adam --learning-rate 0.003 --train-batch 128 --last-epoch \
      --epochs "$epoch" --out "$out/epoch-$epoch.onnx"
done
[ -f "$out/fresh.onnx" ] || "$assay" train --architecture "$architecture" --data parentheses:128 --optimiser sgd --learning-rate 1e-12 --epochs 1 --out "$out/fresh.onnx"
"$assay" inspect --model "fresh=$out/fresh.onnx" --model "early=$out/epoch-1.onnx" --model "late=$out/epoch-$epochs.onnx" --data "parentheses:$records,seed=3" \
  --vocabulary "$here/ascii.txt" --padding padding --units layer=lstm --hypotheses 'counter[of=depth]' --hypotheses 'regex[pattern=[()],name=parenthesis]' \
  --measure pearson,linear --no-early-stop --top 3 --json "$out/parentheses.json" --html "$out/parentheses.html"
