#!/usr/bin/env bash
# Uniform against lopsided test sets (Ma et al., DeepMutation, ISSRE 2018): trains networks A, B and C, mutates each and
# compares sets drawn evenly over the classes with sets of which 80 % are of one class.
#
# Usage: studies/deepmutation/run.sh ASSAY OUT MNIST_TRAIN MNIST_TEST CIFAR_TRAIN CIFAR_TEST [NETWORKS]
# Data as `assay data` takes it; NETWORKS such as "a b" (default: a b c). Everything is kept in OUT and taken from there when
# the same command is given again. Environment: COUNT mutants per operator, REPETITIONS, EPOCHS, SETTINGS.
set -euo pipefail
assay=$1 out=$2 mnist_train=$3 mnist_test=$4 cifar_train=$5 cifar_test=$6 networks=${7:-a b c}
count=${COUNT:-50} repetitions=${REPETITIONS:-5} epochs=${EPOCHS:-5} settings=${SETTINGS:-5000-train 1000-test}
mkdir -p "$out"

# name, training data, test data
train() {
  [ -f "$out/$1.onnx" ] && return
  echo "== training network $1"
  "$assay" train --architecture "deepmutation-$1" --data "$2" --validation "$3" --optimiser adam --learning-rate 5e-4 --train-batch 128 \
    --epochs "$epochs" --checkpoint "$out/$1.npz" --out "$out/$1.onnx"
}

# name, setting, data, records of a class in a uniform set, in a lopsided one, of its favoured class
measure() {
  local repetition favoured
  [[ " $settings " == *" $2 "* ]] || return 0
  for repetition in $(seq 1 "$repetitions"); do
    favoured=$(((repetition * 7) % 10))
    for kind in uniform lopsided; do
      local result=$out/$1-$2-$kind-$repetition.json spec=$3,per_class=$4,seed=$repetition
      [ "$kind" = lopsided ] && spec=$3,per_class=$5+$(class_name "$1" $favoured):$6,seed=$repetition
      [ -f "$result" ] && continue
      echo "== network $1, $2, $kind set $repetition"
      "$assay" mutate --model "$out/$1.onnx" --test "$spec" --preset deepmutation --count "$count" --state "${result%.json}.mut" \
        --csv "${result%.json}-tables" --json "$result" > /dev/null
    done
  done
}

class_name() {
  if [ "$1" = c ]; then
    echo airplane automobile bird cat deer dog frog horse ship truck | cut -d' ' -f$(($2 + 1))
  else
    echo "$2"
  fi
}

for network in $networks; do
  train_data=$mnist_train test_data=$mnist_test
  [ "$network" = c ] && train_data=$cifar_train test_data=$cifar_test
  train "$network" "$train_data" "$test_data"
  measure "$network" 5000-train "$train_data" 500 111 4001
  measure "$network" 1000-test "$test_data" 100 22 802
done
"$(dirname "$0")/table.sh" "$out"
