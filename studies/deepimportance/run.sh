#!/usr/bin/env bash
# Coverage of the MNIST test set and of the set extended by noise and by each kind of adversarial input (Gerasimou et al.,
# Importance-Driven Deep Learning System Testing, ICSE 2020, Table 4; Table 3 by the way) for the published LeNet-1, -4 and -5.
#
# Usage: studies/deepimportance/run.sh ASSAY OUT MODELS MNIST_TRAIN MNIST_TEST [NETWORKS]
# MODELS holds LeNet1.onnx, LeNet4.onnx, LeNet5.onnx (or .h5); data as `assay data` takes it; NETWORKS such as "1 4" (default: 1 4 5).
# Everything is kept in OUT: the same command goes on where it was interrupted. Environment: RECORDS of the test set (default: all),
# ATTACKS (default: the preset deepimportance), SEED.
set -euo pipefail
assay=$1 out=$2 models=$3 train=$4 test=$5 networks=${6:-1 4 5}
mkdir -p "$out"
[ -n "${RECORDS:-}" ] && test="$test[:$RECORDS]"

for network in $networks; do
  result=$out/lenet$network
  model=$models/LeNet$network.onnx
  [ -f "$model" ] || model=$models/LeNet$network.h5
  [ -f "$result-tables/extensions.csv" ] && continue
  echo "== LeNet-$network"
  "$assay" cover --model "$model" --train "$train" --test "$test" --preset deepimportance --seed "${SEED:-1}" \
    --extend-with "${ATTACKS:-deepimportance}" --made-dir "$result" --json "$result.json" --csv "$result-tables" > /dev/null
done
"$(dirname "$0")/table.sh" "$out"
