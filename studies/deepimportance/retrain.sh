#!/usr/bin/env bash
# RQ6 of Gerasimou et al.: does training on inputs that raise Importance-Driven Coverage help against inputs whose important features are
# missing, more than training on random perturbations? Training records with noise on their most relevant pixels are made; of them those that
# cover what the test set does not are added, against as many with noise on random pixels, and none; judged by the test set, and by test
# records without their most relevant tenth.
#
# Usage: studies/deepimportance/retrain.sh ASSAY OUT TRAIN TEST NETWORK...
# Results stay in OUT; the same command goes on where it was interrupted. Environment: COUNT, REPEATS, EPOCHS, SEEDS (training records that
# noise is put on), CRITERION, SEED.
set -euo pipefail
assay=$1 out=$2 train=$3 test=$4
shift 4
count=${COUNT:-500} repeats=${REPEATS:-5} epochs=${EPOCHS:-5} seeds=${SEEDS:-5000} criterion=${CRITERION:-idc[m=6]} seed=${SEED:-1}
mkdir -p "$out"
for network in "$@"; do
  name=$(basename "${network%.*}")
  echo "== $name"
  [ -f "$out/noisy-$name/noise-relevant.npz" ] || "$assay" attack "$network" --data "$train,sample=$seeds,seed=$seed" --attack noise-relevant --all \
    --seed "$seed" --out "$out/noisy-$name" > /dev/null
  "$assay" retrain "$network" --train "$train" --test "$test" --add "$out/noisy-$name/noise-relevant.npz" --coverage-raising "$criterion" \
    --against noise-random --pool "$seeds" --evaluate-on removal,noise --count "$count" --repeats "$repeats" --epochs "$epochs" --seed "$seed" \
    --made-dir "$out/made-$name" --checkpoint "$out/checkpoint-$name" --json "$out/$name.json" --html "$out/$name.html"
done
