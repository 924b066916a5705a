#!/bin/sh
# A trainer for `assay mutate --trainer` in two lines: Assay itself, with a recipe of its own.
# Usage: train_assay.sh MUTANT.json
folder=$(dirname "$1")
exec "${ASSAY:-assay}" train --quiet --model "$folder/network.onnx" --data "$folder/training.npz" --optimiser adam --epochs 2 \
  --out "$folder/trained.onnx"
