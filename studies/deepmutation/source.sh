#!/usr/bin/env bash
# Uniform against lopsided test sets, judged by networks that were trained with a fault (Ma et al., DeepMutation, ISSRE 2018, the
# source-level half of Tables V and VI).
#
# Usage: studies/deepmutation/source.sh ASSAY OUT MNIST_TRAIN MNIST_TEST CIFAR_TRAIN CIFAR_TEST [NETWORKS]
# Data as `assay data` takes it; NETWORKS such as "a b" (default: a b c). Trained networks are kept in OUT/store and results in
# OUT; the same command goes on from there. Environment: RECORDS of training data per class (500; all: 0), EPOCHS (3), COUNT
# mutants per operator (the paper's), REPETITIONS (5), SETTINGS, JOBS.
set -euo pipefail
assay=$1 out=$2 mnist_train=$3 mnist_test=$4 cifar_train=$5 cifar_test=$6 networks=${7:-a b c}
records=${RECORDS:-500} epochs=${EPOCHS:-3} repetitions=${REPETITIONS:-5} settings=${SETTINGS:-5000-train 1000-test}
mkdir -p "$out"

class_name() {
  if [ "$1" = c ]; then
    echo airplane automobile bird cat deer dog frog horse ship truck | cut -d' ' -f$(($2 + 1))
  else
    echo "$2"
  fi
}

# name, training data, setting, data of the sets, records of a class in a uniform set, in a lopsided one, of its favoured class
judge() {
  [[ " $settings " == *" $3 "* ]] || return 0
  local stem=$out/source-$1-$3 training=$2 repetition favoured tests=()
  [ -f "$stem.csv" ] && return
  [ "$records" = 0 ] || training=$2,per_class=$records
  for repetition in $(seq 1 "$repetitions"); do
    favoured=$(((repetition * 7) % 10))
    tests+=(--test "$4,per_class=$5,seed=$repetition")
    tests+=(--test "$4,per_class=$6+$(class_name "$1" $favoured):$7,seed=$repetition")
  done
  echo "== network $1, $3"
  "$assay" mutate --architecture "deepmutation-$1" --train "$training" "${tests[@]}" --preset deepmutation-source ${COUNT:+--count "$COUNT"} \
    --optimiser adam --learning-rate 5e-4 --train-batch 128 --epochs "$epochs" --store "$out/store" ${JOBS:+--jobs "$JOBS"} \
    --json "$stem.json" --csv "$stem.csv" > /dev/null
}

for network in $networks; do
  train_data=$mnist_train test_data=$mnist_test
  [ "$network" = c ] && train_data=$cifar_train test_data=$cifar_test
  judge "$network" "$train_data" 5000-train "$train_data" 500 111 4001
  judge "$network" "$train_data" 1000-test "$test_data" 100 22 802
done
"$(dirname "$0")/source-table.sh" "$out"
