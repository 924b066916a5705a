#!/usr/bin/env bash
# What run.sh left in a folder as Table 4 of the paper, in percent. Usage: table.sh OUT
set -euo pipefail
for result in "$1"/lenet*-tables/extensions.csv; do
  printf '\nLeNet-%s\n\n' "$(basename "$(dirname "$result")" | tr -dc 0-9)"
  # Only the first cell may hold commas, in quotes.
  tr -d '\r' < "$result" | awk '
    {
      name = $0
      if (sub(/^"/, "", name)) { rest = name; sub(/".*/, "", name); sub(/^[^"]*",/, "", rest) }
      else { rest = name; sub(/,.*/, "", name); sub(/^[^,]*,/, "", rest) }
      count = split(rest, cells, ",")  # the layer, then one figure for each set
      line = "| " name " |"
      ruler = "|---|"
      for (i = 2; i <= count; ++i) {
        line = line " " (header ? sprintf("%.2f", 100 * cells[i]) : cells[i]) " |"
        ruler = ruler "---|"
      }
      print line
      if (!header++) print ruler
    }'
done
