#!/usr/bin/env bash
# Means over repetitions of what run.sh left in a folder, in percent. Usage: table.sh OUT
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
