#!/usr/bin/env bash
# How long a search takes: until all neurons outside dense layers are covered (Pei et al., SOSP 2017, table 8), and until the first
# difference, by step size, lambda1 and lambda2 (tables 9 to 11) and by the threshold of coverage.
#
# Usage: studies/deepxplore/search.sh ASSAY OUT DATA MODEL MODEL MODEL...
# Everything is kept in OUT and taken from there when the same command is given again. Environment: RUNS of each setting (10), GOAL share
# of the neurons (1), LAYERS that count for it, joined by + (all), WHOLE, thresholds of that coverage (0 0.25 0.5), SEEDS for it (1000), CONSTRAINT
# (light), STEPS, LAMBDA1S, LAMBDA2S, THRESHOLDS, OPTIONS (further flags of `assay explore`).
set -euo pipefail
# shellcheck source=studies/deepxplore/figures.sh
. "$(dirname "$0")/figures.sh"
assay=$1 out=$2 data=$3
shift 3
runs=${RUNS:-10} goal=${GOAL:-1} constraint=${CONSTRAINT:-light}
mkdir -p "$out"

explored() {  # file without ending, flags of explore
  local file=$1
  shift
  # shellcheck disable=SC2086
  [ -f "$file.json" ] || "$assay" explore "${models[@]}" --data "$data" --constraint "$constraint" --pictures 0 --no-shrink --quiet "$@" \
    --out "$file" --json "$file.json" ${OPTIONS:-} > /dev/null
}
models=("$@")

layers=${LAYERS:+,layer=$LAYERS}
for threshold in ${WHOLE:-0 0.25 0.5}; do
  result=$out/whole-$threshold
  data="$data[:${SEEDS:-1000}]" explored "$result" --criterion "nc[threshold=$threshold$layers]" --goal "$goal" --round 1
  echo "coverage $(fact "$result.json" coverage) (nc above $threshold, ${LAYERS:-all layers}) after $(fact "$result.json" seeds) seeds and $(fact "$result.json" seconds) s"
done
echo

# Seeds searched one by one until the first difference, each run from another part of the data.
first() {  # name, flags
  local name=$1 sum
  shift
  for ((i = 0; i < runs; ++i)); do
    data="$all[$((100 * i)):$((100 * i + 100))]" explored "$out/$name-$i" --findings 1 --round 1 --seed "$((i + 1))" "$@"
  done
  sum=$(for ((i = 0; i < runs; ++i)); do echo "$(fact "$out/$name-$i.json" iterations) $(fact "$out/$name-$i.json" findings) $(fact "$out/$name-$i.json" coverage)"; done |
    awk '{ iterations += $1; found += $2 > 0; coverage += $3 } END { printf "%14.1f %10d/%d %11.1f%%", iterations / NR, found, NR, 100 * coverage / NR }')
  printf '%-20s %s\n' "$name" "$sum"
}
all=$data
printf '%-20s %14s %12s %12s\n' setting iterations found coverage
for step in ${STEPS:-0.01 0.1 1 10 100}; do first "step-$step" --step "$step"; done
for lambda in ${LAMBDA1S:-0.5 1 2 3}; do first "lambda1-$lambda" --lambda1 "$lambda"; done
for lambda in ${LAMBDA2S:-0 0.5 1 2 3}; do first "lambda2-$lambda" --lambda2 "$lambda"; done
for threshold in ${THRESHOLDS:-0 0.25 0.5 0.75}; do first "threshold-$threshold" --criterion "nc[threshold=$threshold]"; done
