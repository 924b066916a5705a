#!/usr/bin/env bash
# SQL auto-completion (Sellam et al., DeepBase, SIGMOD 2019): a character LSTM learns to go on with statements of a subset of
# SQL; which of its units follow which rules of the grammar, does training make them, and what does asking cost?
#
# Usage: studies/deepbase/sql.sh ASSAY OUT
# Everything is kept in OUT and taken from there when the same command is given again. Environment: UNITS (512), RECORDS
# (29696), WINDOW (30), EPOCHS (5), MEASURES (pearson logistic_l1), SWEEP=1 for the sweeps over units, hypotheses and records.
set -euo pipefail
assay=$1 out=$2 here=$(cd "$(dirname "$0")" && pwd)
units=${UNITS:-512} records=${RECORDS:-29696} window=${WINDOW:-30} epochs=${EPOCHS:-5} measures=${MEASURES:-pearson logistic_l1}
mkdir -p "$out"

# units: trains a network and keeps a fresh one beside it
train() {
  local architecture="next-symbol-lstm[units=$1,window=$window]"
  [ -f "$out/trained-$1.onnx" ] ||
    "$assay" train --architecture "$architecture" --data "sql:$records,window=$window" --validation "sql:2000,window=$window,seed=2" --optimiser adam \
      --learning-rate 0.002 --train-batch 128 --epochs "$epochs" --checkpoint "$out/trained-$1.npz" --out "$out/trained-$1.onnx"
  [ -f "$out/fresh-$1.onnx" ] ||
    "$assay" train --architecture "$architecture" --data "sql:128,window=$window" --optimiser sgd --learning-rate 1e-12 --epochs 1 \
      --out "$out/fresh-$1.onnx"
}

# name, measure, records, hypotheses, networks and flags...: prints name, seconds and the headline
ask() {
  local name=$1 measure=$2 count=$3 hypotheses=$4 begin
  shift 4
  begin=$(date +%s.%N)
  "$assay" inspect --data "sql:$count,window=$window,seed=3" --vocabulary "$here/ascii.txt" --padding padding --units layer=lstm \
    --hypotheses "$hypotheses" --measure "$measure" --cache "$out/cache" --json "$out/$name.json" --quiet "$@" >"$out/$name.txt"
  awk -v name="$name" -v begin="$begin" -v end="$(date +%s.%N)" 'NR == 1 { printf "%-40s %8.1f s  %s\n", name, end - begin, $0 }' "$out/$name.txt"
}

train "$units"
for measure in $measures; do
  ask "trained-$measure" "$measure" "$records" "$here/sql.grammar" --model "$out/trained-$units.onnx"
  ask "fresh-$measure" "$measure" "$records" "$here/sql.grammar" --model "$out/fresh-$units.onnx"
  ask "trained-$measure-all" "$measure" "$records" "$here/sql.grammar" --model "$out/trained-$units.onnx" --no-early-stop
done

[ "${SWEEP:-0}" = 1 ] || exit 0
for measure in $measures; do
  for count in 64 128 256; do
    train "$count"
    ask "units-$count-$measure" "$measure" "$records" "$here/sql.grammar" --model "$out/trained-$count.onnx" --no-early-stop
  done
  for share in 4 2; do
    ask "records-$((records / share))-$measure" "$measure" $((records / share)) "$here/sql.grammar" --model "$out/trained-$units.onnx" --no-early-stop
  done
  ask "hypotheses-few-$measure" "$measure" "$records" "grammar[file=$here/sql.grammar,of=where+condition+tables+columns+order]" --model "$out/trained-$units.onnx" \
    --no-early-stop
done
