#!/usr/bin/env bash
# Does the coverage term make findings more diverse? DeepXplore's search with lambda2 = 1 and without the term, on the same
# seeds (Pei et al., SOSP 2017, table 5: lighting on MNIST, threshold 0.25, 2,000 seeds, three runs).
#
# Usage: studies/deepxplore/diversity.sh ASSAY OUT DATA MODEL MODEL MODEL...
# Everything is kept in OUT and taken from there when the same command is given again. Environment: RUNS, SEEDS, CONSTRAINT,
# STEP, OPTIONS (further flags of `assay explore`).
set -euo pipefail
assay=$1 out=$2 data=$3
shift 3
runs=${RUNS:-3} seeds=${SEEDS:-2000} constraint=${CONSTRAINT:-light} step=${STEP:-1}
mkdir -p "$out"

printf '%-4s %-8s %9s %9s %9s %10s %10s\n' run lambda2 findings 'mean L1' 'mean L2' coverage iterations
for run in $(seq 1 "$runs"); do
  for lambda2 in 1 0; do
    result=$out/diversity-$run-$lambda2.json
    # Other seeds in every run: the records from (run - 1) * SEEDS on.
    # shellcheck disable=SC2086
    [ -f "$result" ] || "$assay" explore "$@" --data "$data[$(((run - 1) * seeds)):$((run * seeds))]" --constraint "$constraint" --step "$step" \
      --criterion 'nc[threshold=0.25]' --lambda2 "$lambda2" --no-shrink --seed "$run" --pictures 0 --quiet --out "$out/diversity-$run-$lambda2" --json "$result" ${OPTIONS:-} > /dev/null
    fact() { grep -o "\"$1\": *[0-9.e+-]*" "$result" | head -1 | sed 's/.*: *//'; }
    printf '%-4s %-8s %9s %9.1f %9.3f %9.1f%% %10s\n' "$run" "$lambda2" "$(fact found)" "$(fact mean_l1)" "$(fact mean_l2)" "$(awk "BEGIN { print 100 * $(fact coverage) }")" "$(fact iterations)"
  done
done
