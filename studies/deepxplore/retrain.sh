#!/usr/bin/env bash
# Retraining with what was found (Pei et al., DeepXplore, SOSP 2017, section 7.3): 100 inputs on which the three LeNets disagree, labelled
# by their majority, are added to the training data; 5 more epochs; against as many adversarial and random inputs, and none.
#
# Usage: studies/deepxplore/retrain.sh ASSAY OUT MNIST_FOLDER [NETWORKS]
# NETWORKS: files of three LeNets (default: they are trained). Everything is kept in OUT and taken from there when the same command is given
# again. Environment: EPOCHS of fine-tuning, REPEATS, COUNT, SEED, SEEDS (records to search from), CONSTRAINT.
set -euo pipefail
assay=$1 out=$2 mnist=$3
shift 3
epochs=${EPOCHS:-5} repeats=${REPEATS:-5} count=${COUNT:-100} seed=${SEED:-1} seeds=${SEEDS:-2000} constraint=${CONSTRAINT:-occl}
train=$mnist/train-images-idx3-ubyte.gz test=$mnist/t10k-images-idx3-ubyte.gz
mkdir -p "$out"

networks=("$@")
if [ "${#networks[@]}" -eq 0 ]; then
  for name in lenet1 lenet4 lenet5; do
    [ -f "$out/$name.onnx" ] || "$assay" train --architecture "$name" --data "$train" --epochs 10 --seed "$seed" --checkpoint "$out/$name.npz" --out "$out/$name.onnx" > /dev/null
    networks+=("$out/$name.onnx")
  done
fi

# Seeds are training records: what is found from test records would carry the test set into training.
echo "== looking for inputs on which the networks disagree"
"$assay" explore "${networks[@]}" --data "$train,sample=$seeds,seed=$seed" --constraint "$constraint" --seed "$seed" --plausibility none --pictures 0 \
  --out "$out/found" --json "$out/found.json" | head -1

for network in "${networks[@]}"; do
  name=$(basename "$network" .onnx)
  echo "== retraining $name"
  "$assay" retrain "$network" --train "$train" --test "$test" --add "$out/found/voted.npz" --against noise,fgsm --evaluate-on noise \
    --count "$count" --repeats "$repeats" --epochs "$epochs" --seed "$seed" --made-dir "$out/made-$name" --checkpoint "$out/checkpoint-$name" \
    --json "$out/retrain-$name.json" --html "$out/retrain-$name.html"
done
