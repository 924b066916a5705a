#!/usr/bin/env bash
# What source.sh left in a folder, in percent: means over repetitions, mutants by operator, and the first uniform set by class.
# Usage: source-table.sh OUT
set -euo pipefail

# The rows of one table of a result's CSV files. Columns are counted from the end, since specs have commas.
rows() { tr -d '\r' < "$2/$1.csv" | tail -n +2; }

echo "| network | setting | score, uniform | score, lopsided | error rate, uniform | error rate, lopsided |"
echo "|---|---|---|---|---|---|"
for file in "$1"/source-*.csv; do
  name=$(basename "$file" .csv)
  rows test_sets "$file" | awk -F, -v network="$(echo "$name" | cut -d- -f2)" -v setting="$(echo "$name" | cut -d- -f3-)" '
    { kind = NR % 2; score[kind] += $(NF - 6); error[kind] += $(NF - 3); n[kind]++ }
    END { printf "| %s | %s | %.2f | %.2f | %.2f | %.2f |\n", network, setting, 100 * score[1] / n[1], 100 * score[0] / n[0],
          100 * error[1] / n[1], 100 * error[0] / n[0] }'
done
echo
echo "| network | setting | operator | mutants | killed | excluded | score | error rate |"
echo "|---|---|---|---|---|---|---|---|"
for file in "$1"/source-*.csv; do
  name=$(basename "$file" .csv)
  # "operator",mutants,killed,survived,excluded,score,low,high,error
  rows mutation_operators "$file" | awk -F, -v network="$(echo "$name" | cut -d- -f2)" -v setting="$(echo "$name" | cut -d- -f3-)" '
    { op = $1; for (i = 2; i <= NF - 8; ++i) op = op "," $i; gsub(/"/, "", op)
      printf "| %s | %s | %s | %d | %d | %d | %s | %s |\n", network, setting, op, $(NF - 7), $(NF - 6), $(NF - 4),
             $(NF - 3) == "" ? "-" : sprintf("%.2f", 100 * $(NF - 3)), $NF == "" ? "-" : sprintf("%.2f", 100 * $NF) }'
done
echo
echo "| | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 |"
echo "|---|---|---|---|---|---|---|---|---|---|---|"
for file in "$1"/source-*-1000-test.csv; do
  network=$(basename "$file" .csv | cut -d- -f2)
  for column in 1:score 0:error; do
    echo "| $network ${column#*:} |$(rows mutation_classes "$file" | awk -F, -v back="${column%:*}" '{ printf " %s |", $(NF - back) == "" ? "-" : sprintf("%.2f", 100 * $(NF - back)) }')"
  done
done
