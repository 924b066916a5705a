#!/usr/bin/env bash
# RQ4: the correlation of Importance-Driven Coverage with each other criterion, over the test set and its extensions that run.sh measured
# (Pearson's, and Kendall's tau-b). A criterion that is the same for all sets has none. Usage: correlation.sh OUT [IDC]
set -euo pipefail
for result in "$1"/*-tables/extensions.csv; do
  name=$(basename "$(dirname "$result")")
  printf '\n%s: correlation with %s\n\n| criterion | Pearson | Kendall |\n|---|---|---|\n' "${name%-tables}" "${2:-idc[m=6]}"
  tr -d '\r' < "$result" | awk -v wanted="${2:-idc[m=6]}" '
    function sign(x) { return x > 0 ? 1 : x < 0 ? -1 : 0 }
    NR == 1 { next }
    {
      name = $0
      if (sub(/^"/, "", name)) { rest = name; sub(/".*/, "", name); sub(/^[^"]*",/, "", rest) }
      else { rest = name; sub(/,.*/, "", name); sub(/^[^,]*,/, "", rest) }
      sets = split(rest, cells, ",") - 1
      names[++rows] = name
      for (i = 1; i <= sets; ++i) value[rows, i] = cells[i + 1]
      if (name == wanted) idc = rows
    }
    END {
      if (!idc) { print wanted " was not measured" > "/dev/stderr"; exit 1 }
      for (r = 1; r <= rows; ++r) {
        if (r == idc) continue
        mx = my = 0
        for (i = 1; i <= sets; ++i) { mx += value[idc, i] / sets; my += value[r, i] / sets }
        xx = yy = xy = agree = px = py = 0
        for (i = 1; i <= sets; ++i) {
          dx = value[idc, i] - mx; dy = value[r, i] - my
          xx += dx * dx; yy += dy * dy; xy += dx * dy
          for (j = 1; j < i; ++j) {
            a = sign(value[idc, i] - value[idc, j]); b = sign(value[r, i] - value[r, j])
            agree += a * b; px += a * a; py += b * b
          }
        }
        if (px == 0 || py == 0) printf "| %s | - | - |\n", names[r]
        else printf "| %s | %.2f | %.2f |\n", names[r], xy / sqrt(xx * yy), agree / sqrt(px * py)
      }
    }'
done
