#!/usr/bin/env bash
# Which criteria track the faults that tests find: one network, its training and test data.
#
# Usage: studies/audit/run.sh ASSAY OUT NAME MODEL TRAIN TEST [OPTIONS OF assay audit]
# Everything is kept in OUT: the mutants are judged once, and a run that was interrupted goes on.
# Environment: COUNT mutants of each of DeepMutation's operators (default: 50), SEED.
set -euo pipefail
assay=$1 out=$2 name=$3 model=$4 train=$5 test=$6
shift 6
mkdir -p "$out"
"$assay" mutate --model "$model" --test "$test" --preset deepmutation --count "${COUNT:-50}" --seed "${SEED:-1}" \
  --state "$out/$name.mut" --json "$out/$name-mutants.json" > /dev/null
"$assay" audit --model "$model" --train "$train" --test "$test" --mutants "$out/$name.mut" --seed "${SEED:-1}" "$@" \
  --json "$out/$name.json" --html "$out/$name.html" > "$out/$name.txt"
cat "$out/$name.txt"
