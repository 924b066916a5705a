#!/usr/bin/env bash
# A strong and a weak test set by DeepCrime's operators and statistics (Humbatova et al., DeepCrime, ISSTA 2021) on MNIST.
#
# Usage: studies/deepcrime/run.sh ASSAY OUT MNIST_TRAIN MNIST_TEST
# Trained networks are kept in OUT/store, the result in OUT; the same command goes on from there. Environment: RUNS (5,10,20), RECORDS
# of training data per class (6000 or so: all: 0), EPOCHS (12), ARCHITECTURE (deepmutation-a), OPERATORS (the preset's), JOBS.
# The weak test set has the records of five of the ten classes.
set -euo pipefail
assay=$1 out=$2 training=$3 test=$4
records=${RECORDS:-0} epochs=${EPOCHS:-12}
mkdir -p "$out"
[ "$records" = 0 ] || training=$training,per_class=$records
operators=(--preset deepcrime)
if [ -n "${OPERATORS:-}" ]; then
  operators=()
  for operator in $OPERATORS; do operators+=(--operator "$operator"); done
fi
"$assay" mutate --architecture "${ARCHITECTURE:-deepmutation-a}" --train "$training" --validation "$test,per_class=100,seed=9" --test "$test" \
  --test "$test,classes=0+1+2+3+4" "${operators[@]}" --runs "${RUNS:-5,10,20}" --optimiser adadelta --epochs "$epochs" --train-batch 128 \
  --store "$out/store" ${JOBS:+--jobs "$JOBS"} --json "$out/deepcrime.json" --csv "$out/deepcrime.csv" --html "$out/deepcrime.html" \
  --markdown "$out/deepcrime.md"
