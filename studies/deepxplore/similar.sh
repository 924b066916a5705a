#!/usr/bin/env bash
# How similar two networks may be before the search finds no difference any more (Pei et al., SOSP 2017, table 12): LeNet-1 against
# itself trained on fewer records or for fewer epochs, with more filters, and from other weights.
#
# Usage: studies/deepxplore/similar.sh ASSAY OUT TRAIN TEST
# Everything is kept in OUT and taken from there when the same command is given again. Environment: RECORDS of training (60000), EPOCHS
# (10), SEEDS to search from (100), FEWER records (1 10 100 1000 10000), SHORTER epochs (1 2 4 8), MORE filters (1 2 3 4), OPTIONS of `assay explore`.
set -euo pipefail
# shellcheck source=studies/deepxplore/figures.sh
. "$(dirname "$0")/figures.sh"
assay=$1 out=$2 train=$3 test=$4
records=${RECORDS:-60000} epochs=${EPOCHS:-10} seeds=${SEEDS:-100}
mkdir -p "$out"

trained() {  # name, records, epochs, seed, more filters
  [ -f "$out/$1.onnx" ] || "$assay" train --architecture "lenet1[extra=${5:-0}]" --data "$train[:$2]" --epochs "$3" --seed "$4" --quiet --out "$out/$1.onnx" > /dev/null
}
compared() {  # name, what it is
  # shellcheck disable=SC2086
  [ -f "$out/$1.json" ] || "$assay" explore "$out/control.onnx" "$out/$1.onnx" --data "$test[:$seeds]" --iterations 1000 --pictures 0 --no-shrink --quiet \
    --out "$out/$1-found" --json "$out/$1.json" ${OPTIONS:-} > /dev/null
  local found iterations
  found=$(fact "$out/$1.json" findings) iterations=$(fact "$out/$1.json" iterations)
  printf '%-28s %10s %22s\n' "$2" "$found" "$(awk -v a="$iterations" -v b="$seeds" 'BEGIN { printf "%.1f", a / b }')"
}

trained control "$records" "$epochs" 1
printf '%-28s %10s %22s\n' "differs by" findings "iterations per seed"
for fewer in ${FEWER:-1 10 100 1000 10000}; do
  trained "fewer-$fewer" $((records - fewer)) "$epochs" 1
  compared "fewer-$fewer" "$fewer records"
done
for shorter in ${SHORTER:-1 2 4 8}; do
  [ "$shorter" -lt "$epochs" ] || continue
  trained "shorter-$shorter" "$records" $((epochs - shorter)) 1
  compared "shorter-$shorter" "$shorter epochs"
done
for more in ${MORE:-1 2 3 4}; do
  trained "more-$more" "$records" "$epochs" 1 "$more"
  compared "more-$more" "$more filters more"
done
trained other "$records" "$epochs" 2
compared other "weights at the start"
