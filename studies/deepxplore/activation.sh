#!/usr/bin/env bash
# What few records activate: neuron coverage by ten of them (Pei et al., SOSP 2017, table 6), and how many activated neurons two records
# of one class share against two of different classes (table 7).
#
# Usage: studies/deepxplore/activation.sh ASSAY OUT DATA MODEL MODEL MODEL...
# Everything is kept in OUT and taken from there when the same command is given again. Environment: DRAWS of ten records (10), PAIRS of
# each kind (20), THRESHOLD of the coverage of ten (0.75), OVERLAP, the threshold at which a neuron counts as activated by one (0.25).
set -euo pipefail
# shellcheck source=studies/deepxplore/figures.sh
. "$(dirname "$0")/figures.sh"
assay=$1 out=$2 data=$3
shift 3
draws=${DRAWS:-10} pairs=${PAIRS:-20} threshold=${THRESHOLD:-0.75} overlap=${OVERLAP:-0.25}
mkdir -p "$out"

measured() {  # model, profile, criterion, records, file without ending
  [ -f "$5.json" ] || "$assay" cover --model "$1" --profile "$2" --criterion "$3" --test "$4" --quiet --state "$5.cov" --json "$5.json" > /dev/null
}

printf '%-20s %12s %14s %14s %14s\n' network "ten records" "active by one" "same class" "other class"
for model in "$@"; do
  name=$(basename "$model" .onnx)
  dir=$out/$name
  mkdir -p "$dir"
  [ -f "$dir/net.profile" ] || "$assay" cover --model "$model" --train "$data[:1000]" --profile "$dir/net.profile" --test "$data[:1]" \
    --criterion nc --quiet > /dev/null
  for ((i = 0; i < draws; ++i)); do
    measured "$model" "$dir/net.profile" "nc[threshold=$threshold]" "$data[$((10 * i)):$((10 * i + 10))]" "$dir/ten-$i"
  done
  ten=$(for ((i = 0; i < draws; ++i)); do whole "$dir/ten-$i.json" coverage; done | awk '{ sum += $1 } END { printf "%.1f%%", 100 * sum / NR }')
  [ -f "$dir/labels.csv" ] || "$assay" evaluate --model "$model" --data "$data[:2000]" --predictions "$dir/labels.csv" --quiet > /dev/null
  # Pairs of consecutive records of one class, and each first one with the first one of the next pair, of another class.
  mapfile -t chosen < <(awk -F, -v pairs="$pairs" 'NR > 1 && $2 == $3 { if ($2 in first) { print NR - 2, first[$2], $2; delete first[$2]; if (++n == pairs + 1) exit } else first[$2] = NR - 2 }' "$dir/labels.csv")
  for ((i = 0; i < pairs; ++i)); do
    read -r a b class <<< "${chosen[$i]}"
    for ((j = i + 1; ; ++j)); do
      read -r c _ other <<< "${chosen[$((j % (pairs + 1)))]}"
      [ "$other" = "$class" ] || break
    done
    for record in "$a" "$b" "$c"; do
      measured "$model" "$dir/net.profile" "nc[threshold=$overlap]" "$data[$record:$((record + 1))]" "$dir/one-$record"
    done
    [ -f "$dir/same-$i.json" ] || "$assay" diff "$dir/one-$a.cov" "$dir/one-$b.cov" --quiet --json "$dir/same-$i.json" > /dev/null
    [ -f "$dir/other-$i.json" ] || "$assay" diff "$dir/one-$a.cov" "$dir/one-$c.cov" --quiet --json "$dir/other-$i.json" > /dev/null
  done
  one=$(for file in "$dir"/one-*.json; do whole "$file" covered; done | awk '{ sum += $1 } END { printf "%.1f", sum / NR }')
  shared() { grep -ho '"both": *[0-9]*' "$dir/$1"-*.json | awk -v pairs="$pairs" '{ sum += $2 } END { printf "%.1f", sum / pairs }'; }
  printf '%-20s %12s %14s %14s %14s\n' "$name" "$ten" "$one" "$(shared same)" "$(shared other)"
done
