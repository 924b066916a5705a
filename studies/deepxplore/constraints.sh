#!/usr/bin/env bash
# Findings under each constraint (Pei et al., SOSP 2017, tables 2 to 4).
#
# Usage: studies/deepxplore/constraints.sh ASSAY OUT DATA MODEL MODEL MODEL...
# Everything is kept in OUT and taken from there when the same command is given again. Environment: CONSTRAINTS, separated by spaces
# (default: those for pictures); SEEDS, the first records (2000); OPTIONS, further flags of `assay explore` (--step, --margin, --lambda1 ...).
set -euo pipefail
assay=$1 out=$2 data=$3
shift 3
constraints=${CONSTRAINTS:-light occl[size=10x10] blackout[size=6x6] contrast blur linf[eps=0.1] l2[eps=2] mask[area=10x10,at=9x9] none}
mkdir -p "$out"

printf '%-60s %8s %9s %10s %9s %9s %9s\n' constraint seeds findings iterations 'mean L1' 'mean L2' coverage
number=0
for constraint in $constraints; do
  number=$((number + 1))
  result=$out/constraint-$number.json
  # shellcheck disable=SC2086
  [ -f "$result" ] || "$assay" explore "$@" --data "$data[:${SEEDS:-2000}]" --constraint "$constraint" --quiet --pictures 6 --out "$out/constraint-$number" --json "$result" ${OPTIONS:-} > /dev/null
  fact() { grep -o "\"$1\": *[0-9.e+-]*" "$result" | head -1 | sed 's/.*: *//'; }
  printf '%-60s %8s %9s %10s %9.2f %9.3f %8.1f%%\n' "$constraint" "$(fact seeds)" "$(fact findings)" "$(fact iterations)" "$(fact mean_l1)" "$(fact mean_l2)" "$(awk "BEGIN { print 100 * $(fact coverage) }")"
done
