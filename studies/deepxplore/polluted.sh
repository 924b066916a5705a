#!/usr/bin/env bash
# Polluted training data (Pei et al., DeepXplore, SOSP 2017, section 7.3): 30 % of the nines of MNIST are labelled 1. Of two LeNet-5,
# one learns from these data and one from the right ones; inputs on which one says 9 and the other 1 are generated, and the
# training records labelled 1 that are structurally most similar to them are the suspects.
#
# Usage: studies/deepxplore/polluted.sh ASSAY OUT MNIST_FOLDER
# Everything is kept in OUT and taken from there when the same command is given again. Environment: EPOCHS, SEED,
# CONSTRAINTS (of `assay explore`).
set -euo pipefail
assay=$1 out=$2 mnist=$3
epochs=${EPOCHS:-5} seed=${SEED:-1} constraints=${CONSTRAINTS:-linf[eps=0.1]}
train=$mnist/train-images-idx3-ubyte.gz test=$mnist/t10k-images-idx3-ubyte.gz
polluted="$train,relabel=9>1:0.3,seed=$seed"
mkdir -p "$out"

# name, data, seed
train() {
  [ -f "$out/$1.onnx" ] && return
  echo "== training the $1 network"
  "$assay" train --architecture lenet5 --data "$2" --epochs "$epochs" --seed "$3" --checkpoint "$out/$1.npz" --out "$out/$1.onnx" > /dev/null
}

train clean "$train" "$seed"
train misled "$polluted" "$((seed + 1))"
for network in clean misled; do "$assay" evaluate --quiet --model "$out/$network.onnx" --data "$test" | head -1; done

# The clean network is to say 9, the misled one 1: the search starts from nines of the test set and pushes the misled network away. It
# climbs probabilities, whose slope points to the class that comes second; that of scores points anywhere away from 9.
findings=()
for constraint in $constraints; do
  folder=$out/found-${constraint%%[*}
  findings+=(--findings "$folder/findings.npz")
  [ -f "$folder/findings.npz" ] && continue
  echo "== looking for inputs on which they disagree: $constraint"
  "$assay" explore "$out/clean.onnx" "$out/misled.onnx" --data "$test,classes=9" --target 1 --probability --constraint "$constraint" --step 0.02 --iterations 30 --no-shrink \
    --lambda2 0 --seed "$seed" --plausibility none --pictures 0 --out "$folder" --json "$folder.json" | head -1
done

for rank in similarity mean votes; do
  "$assay" polluted --data "$polluted" "${findings[@]}" --between 9+1 --label 1 --truth "$train" --rank "$rank" --nearest 50 \
    --out-dir "$out/suspects-$rank" --out "$out/suspects-$rank.csv" --json "$out/suspects-$rank.json" --html "$out/suspects-$rank.html" > /dev/null
  echo "$rank: $(sed -n 's/^ *"headline": "\(.*\)",$/\1/p' "$out/suspects-$rank.json")"
done
