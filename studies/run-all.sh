#!/usr/bin/env bash
# Every study, one after another, with its published settings unless the environment says others (the head of each script tells which).
# The same command goes on where it was interrupted; a study whose data are not there, or that fails, is named and the others run.
#
# Usage: studies/run-all.sh ASSAY OUT DATA [STUDY...]
# DATA holds mnist/ (the four files of MNIST), cifar10.tar (pictures in train/CLASS and test/CLASS), deepimportance/ (LeNet1.onnx, LeNet4.onnx,
# LeNet5.onnx), deepxplore/ (three networks for MNIST), driving.tar and driving.csv (frames and their steering angles; the first 4,600 are for
# training); links will do, and what is not there is left out. STUDY: names as below (default: all).
set -uo pipefail
assay=$(realpath "$1") out=$2 data=$(realpath "$3") here=$(cd "$(dirname "$0")" && pwd)
shift 3
mkdir -p "$out"
train=$data/mnist/train-images-idx3-ubyte.gz test=$data/mnist/t10k-images-idx3-ubyte.gz
cifar=("$data/cifar10.tar,under=train" "$data/cifar10.tar,under=test")
frames=$data/driving.tar,targets=$data/driving.csv
driving=("$frames[:4600]" "$frames[4600:]")
shopt -s nullglob
xplore=("$data"/deepxplore/*.onnx) lenets=("$data"/deepimportance/LeNet*.onnx)
wanted=("$@") left=() failed=()

study() {  # name, files it needs (up to --), command
  local name=$1 need=()
  shift
  while [ "$1" != -- ]; do need+=("$1"); shift; done
  shift
  [ ${#wanted[@]} -eq 0 ] || [[ " ${wanted[*]} " == *" $name "* ]] || return 0
  for file in "${need[@]}"; do
    [ -e "$file" ] || { left+=("$name: there is no $file"); return 0; }
  done
  echo "== $name"
  local begin=$SECONDS
  if "$@" > "$out/$name.txt" 2> "$out/$name.log"; then
    echo "   $((SECONDS - begin)) s, $out/$name.txt"
  else
    tail -3 "$out/$name.log"
    failed+=("$name: see $out/$name.log")
  fi
}

study deepimportance "$data/deepimportance" "$train" "$test" -- "$here/deepimportance/run.sh" "$assay" "$out/deepimportance" "$train" "$test" "${lenets[@]}"
study deepimportance-importance "$data/deepimportance" "$train" "$test" -- python3 "$here/deepimportance/importance.py" "$train" "$test" "${lenets[@]}"
study deepimportance-layers "$data/deepimportance" "$train" "$test" -- "$here/deepimportance/layers.sh" "$assay" "$out/deepimportance-layers" "$train" "$test" \
  "$data/deepimportance/LeNet1.onnx:4:block1_conv1+block2_conv1" "$data/deepimportance/LeNet4.onnx:4:block1_conv1+block2_conv1+fc1" \
  "$data/deepimportance/LeNet5.onnx:6:block1_conv1+block2_conv1+fc1+fc2"
study deepimportance-retrain "$data/deepimportance" "$train" "$test" -- "$here/deepimportance/retrain.sh" "$assay" "$out/deepimportance-retrain" "$train" "$test" "${lenets[@]}"
study deepimportance-networks "$data/cifar10.tar" "$data/driving.tar" "$data/driving.csv" -- "$here/deepimportance/networks.sh" "$assay" \
  "$out/deepimportance-networks" "${cifar[@]}" "${driving[@]}"
study deepimportance-cifar "$data/cifar10.tar" "$out/deepimportance-networks/cifar-convnet.onnx" -- "$here/deepimportance/run.sh" "$assay" "$out/deepimportance-cifar" \
  "${cifar[@]}" "$out/deepimportance-networks/cifar-convnet.onnx"
ATTACKS=noise-random,noise-relevant study deepimportance-dave2 "$data/driving.tar" "$data/driving.csv" "$out/deepimportance-networks/dave2.onnx" -- \
  "$here/deepimportance/run.sh" "$assay" "$out/deepimportance-dave2" "${driving[@]}" "$out/deepimportance-networks/dave2.onnx"
export LAYERS=block1_conv1+block1_pool1+block2_conv1+block2_pool1  # of DeepXplore's networks, that search.sh covers: all but dense ones
for part in constraints diversity coverage activation search; do
  study "deepxplore-$part" "$test" "$data/deepxplore" -- "$here/deepxplore/$part.sh" "$assay" "$out/deepxplore-$part" "$test" "${xplore[@]}"
done
study deepxplore-similar "$train" "$test" -- "$here/deepxplore/similar.sh" "$assay" "$out/deepxplore-similar" "$train" "$test"
study deepxplore-retrain "$data/mnist" "$data/deepxplore" -- "$here/deepxplore/retrain.sh" "$assay" "$out/deepxplore-retrain" "$data/mnist" "${xplore[@]}"
study deepxplore-polluted "$data/mnist" -- "$here/deepxplore/polluted.sh" "$assay" "$out/deepxplore-polluted" "$data/mnist"
study deepmutation "$train" "$data/cifar10.tar" -- "$here/deepmutation/run.sh" "$assay" "$out/deepmutation" "$train" "$test" "${cifar[@]}"
study deepmutation-source "$train" "$data/cifar10.tar" -- "$here/deepmutation/source.sh" "$assay" "$out/deepmutation-source" "$train" "$test" "${cifar[@]}"
study deepcrime "$train" "$test" -- "$here/deepcrime/run.sh" "$assay" "$out/deepcrime" "$train" "$test"
study audit "$data/deepimportance/LeNet5.onnx" "$train" "$test" -- "$here/audit/run.sh" "$assay" "$out/audit" lenet5 "$data/deepimportance/LeNet5.onnx" "$train" "$test"
study deepbase-sql -- "$here/deepbase/sql.sh" "$assay" "$out/deepbase-sql"
study deepbase-parentheses -- "$here/deepbase/parentheses.sh" "$assay" "$out/deepbase-parentheses"

for line in "${left[@]}"; do echo "left out: $line"; done
for line in "${failed[@]}"; do echo "failed: $line"; done
[ ${#failed[@]} -eq 0 ]
