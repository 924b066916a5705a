#!/usr/bin/env bash
# Means over repetitions of what run.sh left in a folder, in percent (Table V), and those of the uniform test sets by class (Table VI).
# Usage: table.sh OUT
set -euo pipefail
fact() { sed -n "s/^    \"$1\": *\([0-9.e-]*\),*$/\1/p" "$2" | head -1; }
mean() { awk '{ s += $1 } END { if (NR) printf "%.2f", 100 * s / NR; else printf "-" }'; }
echo "| network | setting | score, uniform | score, lopsided | error rate, uniform | error rate, lopsided |"
echo "|---|---|---|---|---|---|"
for first in "$1"/*-uniform-1.json; do
  stem=${first%-uniform-1.json}
  row="| $(basename "$stem" | cut -d- -f1) | $(basename "$stem" | cut -d- -f2-)"
  for measure in mutation_score average_error_rate; do
    for kind in uniform lopsided; do
      row+=" | $(for file in "$stem"-"$kind"-*.json; do fact "$measure" "$file"; done | mean)"
    done
  done
  echo "$row |"
done
echo
echo "| | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 |"
echo "|---|---|---|---|---|---|---|---|---|---|---|"
for first in "$1"/*-1000-test-uniform-1-tables; do
  [ -d "$first" ] || continue
  stem=${first%-1-tables}
  for column in 4:score 5:error; do
    # class,records,killed,score,error_rate
    echo "| $(basename "$stem" | cut -d- -f1) ${column#*:} |$(tail -q -n +2 "$stem"-*-tables/mutation_classes.csv | tr -d '\r' | awk -F, -v of="${column%:*}" '
      !($1 in sum) { order[++classes] = $1 }
      { sum[$1] += $of; ++n[$1] }
      END { for (i = 1; i <= classes; ++i) printf " %.2f |", 100 * sum[order[i]] / n[order[i]] }')"
  done
done
