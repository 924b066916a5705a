#!/usr/bin/env bash
# Trains the two larger networks of Gerasimou et al., ICSE 2020, whose weights are not published: the ConvNet for CIFAR-10 and Dave-2 for
# steering angles.
#
# Usage: studies/deepimportance/networks.sh ASSAY OUT CIFAR_TRAIN CIFAR_TEST DRIVING_TRAIN DRIVING_TEST
# Writes OUT/cifar-convnet.onnx and OUT/dave2.onnx; the same command goes on where it was interrupted. "-" in place of data leaves a network
# out. Environment: EPOCHS (30), SEED.
set -euo pipefail
assay=$1 out=$2
mkdir -p "$out"
trained() {  # architecture, training data, test data, more flags
  local network=$out/$1.onnx architecture=$1 train=$2 test=$3
  shift 3
  [ "$train" = - ] && return
  [ -f "$network" ] || "$assay" train --architecture "$architecture" --data "$train" --epochs "${EPOCHS:-30}" --seed "${SEED:-1}" \
    --checkpoint "${network%.onnx}.npz" --out "$network" "$@" > "$network.txt"
  "$assay" evaluate "$network" --data "$test" | head -1
}
trained cifar-convnet "$3" "$4" --optimiser adam
trained dave2 "$5" "$6" --optimiser adam --learning-rate 1e-4 --loss mse
