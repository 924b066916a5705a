#!/usr/bin/env bash
# Planted units (Sellam et al., DeepBase, SIGMOD 2019, accuracy benchmark): chosen units of a character LSTM learn a hypothesis
# beside the task, by an auxiliary loss. Does inspection rank exactly them first, for which weights and how many units?
#
# Usage: studies/deepbase/planted.sh ASSAY OUT
# Environment: UNITS (64), RECORDS (4000), EPOCHS (4), WEIGHTS (0.05 0.1 0.25 0.5 0.75), SIZES (4 8 16).
set -euo pipefail
assay=$1 out=$2 here=$(cd "$(dirname "$0")" && pwd)
units=${UNITS:-64} records=${RECORDS:-4000} epochs=${EPOCHS:-4}
text=(--vocabulary "$here/ascii.txt" --padding padding)
asked=(--hypotheses 'counter[of=depth]' --hypotheses 'regex[pattern=[()],name=parenthesis]')
mkdir -p "$out"

# network, hypothesis, first and last planted unit: how many of the best units by each measure are planted ones
recovered() {
  local name=$1 hypothesis=$2 first=$3 last=$4 count=$(($4 - $3 + 1))
  [ -f "$out/$name.json" ] ||
    "$assay" inspect --quiet --model "$name=$out/$name.onnx" --data "parentheses:1000,seed=3" "${text[@]}" "${asked[@]}" --units layer=lstm \
      --measure pearson,spearman,linear --no-early-stop --json "$out/$name.json" >/dev/null
  for measure in pearson spearman linear; do
    "$assay" inspect --quiet --db "$out/$name.db" --add "$name=$out/$name.json" --sql "
      SELECT '$name' AS network, '$hypothesis' AS hypothesis, '$measure' AS measure,
        sum(unit BETWEEN $first AND $last) || ' of $count' AS planted,
        min(abs(score)) FILTER (WHERE unit BETWEEN $first AND $last) AS weakest_planted
      FROM (SELECT unit, score FROM inspect_scores WHERE hypothesis = '$hypothesis' AND measure = '$measure' AND unit IS NOT NULL
            ORDER BY abs(score) DESC LIMIT $count)" | grep "^ *$name "
  done
}

for weight in ${WEIGHTS:-0.05 0.1 0.25 0.5 0.75}; do
  for size in ${SIZES:-4 8 16}; do
    name="depth-w$weight-s$size"
    [ -f "$out/$name.onnx" ] ||
      "$assay" train --quiet --architecture "next-symbol-lstm[units=$units]" --data "parentheses:$records" --optimiser adam --learning-rate 0.003 \
        --train-batch 64 --epochs "$epochs" "${text[@]}" "${asked[@]}" --specialise "depth[layer=lstm,units=0-$((size - 1)),weight=$weight]" \
        --out "$out/$name.onnx" >/dev/null
    recovered "$name" depth 0 $((size - 1))
  done
done
