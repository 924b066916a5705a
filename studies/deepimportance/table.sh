#!/usr/bin/env bash
# What run.sh or layers.sh left in a folder as Tables 4 and 5 of the paper, in percent. Usage: table.sh OUT
set -euo pipefail
for result in "$1"/*-tables/extensions.csv; do
  name=$(basename "$(dirname "$result")")
  printf '\n%s\n\n' "${name%-tables}"
  # Only the first cell may hold commas, in quotes.
  tr -d '\r' < "$result" | awk '
    {
      name = $0
      if (sub(/^"/, "", name)) { rest = name; sub(/".*/, "", name); sub(/^[^"]*",/, "", rest) }
      else { rest = name; sub(/,.*/, "", name); sub(/^[^,]*,/, "", rest) }
      count = split(rest, cells, ",")  # the layer, then one figure for each set
      line = "| " name " | " cells[1] " |"
      ruler = "|---|---|"
      for (i = 2; i <= count; ++i) {
        line = line " " (header ? sprintf("%.2f", 100 * cells[i]) : cells[i]) " |"
        ruler = ruler "---|"
      }
      print line
      if (!header++) print ruler
    }'
done
