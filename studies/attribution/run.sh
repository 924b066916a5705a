#!/usr/bin/env bash
# Importance-driven coverage by three attributions, side by side: a network, its training and test data.
#
# Usage: studies/attribution/run.sh ASSAY OUT MODEL TRAIN TEST [OPTIONS OF assay cover]
# Profiles and results are kept in OUT; prints a table in Markdown.
set -euo pipefail
assay=$1 out=$2 model=$3 train=$4 test=$5
shift 5
methods=(epsilon deeplift integrated-gradients)
mkdir -p "$out"
for method in "${methods[@]}"; do
  "$assay" cover --model "$model" --train "$train" --test "$test" --criterion idc --method "$method" "$@" \
    --profile "$out/$method.profile" --json "$out/$method.json" --quiet >"$out/$method.txt"
done
python3 - "$out" "${methods[@]}" <<'PYTHON'
import json, pathlib, sys

out, *methods = sys.argv[1:]
documents = {m: json.loads(pathlib.Path(out, m + ".json").read_text()) for m in methods}
cells, neurons = {}, {}
for method, document in documents.items():
    for row in document["tables"]["idc"]["rows"]:
        cells.setdefault((row["layer"], row["m"]), {})[method] = f"{row['covered']} of {row['coverable']} ({100 * row['idc']:.2f} %)"
    for row in document["tables"]["clusters"]["rows"]:
        neurons.setdefault((row["layer"], method), []).append((row["rank"], row["neuron"]))
print("| layer | m |", " | ".join(methods), "| neurons in common |")
print("|---|---|" + "---|" * (len(methods) + 1))
for (layer, m), found in cells.items():
    chosen = [{n for rank, n in neurons[layer, method] if rank <= int(m)} for method in methods]
    print(f"| {layer} | {m} |", " | ".join(found[method] for method in methods), f"| {len(set.intersection(*chosen))} |")
PYTHON
