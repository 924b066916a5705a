#!/usr/bin/env bash
# Network dissection (Bau et al., CVPR 2017) as Sellam et al. (SIGMOD 2019) express it: a convolutional network learns to name
# shapes and textures in generated scenes; which of its channels detect which shapes, textures and colours, by the overlap of
# their greatest activations with the pixels of each?
#
# Usage: studies/deepbase/dissection.sh ASSAY OUT
# Environment: RECORDS (6000), EPOCHS (8), PIXELS (600 scenes that are dissected).
set -euo pipefail
assay=$1 out=$2
records=${RECORDS:-6000} epochs=${EPOCHS:-8} pixels=${PIXELS:-600}
mkdir -p "$out"
[ -f "$out/trained.onnx" ] ||
  "$assay" train --architecture cifar-convnet --data "scenes:$records" --validation scenes:1000,seed=2 --optimiser adam --learning-rate 0.001 --train-batch 64 \
    --epochs "$epochs" --out "$out/trained.onnx"
[ -f "$out/fresh.onnx" ] ||
  "$assay" train --architecture cifar-convnet --data scenes:64 --optimiser sgd --learning-rate 1e-12 --epochs 1 --out "$out/fresh.onnx"
for kind in shapes textures colours; do
  [ -f "$out/$kind.npz" ] || "$assay" data "scenes:$pixels,seed=3,show=$kind" --write "$out/$kind.npz" --quiet >/dev/null
done
for network in trained fresh; do
  "$assay" inspect --model "$network=$out/$network.onnx" --data "scenes:$pixels,seed=3" --measure jaccard --no-early-stop --top 1 \
    --hypotheses "mask[file=$out/shapes.npz,array=x,classes=ground+circle+square+triangle+cross+ring,name=shape]" \
    --hypotheses "mask[file=$out/textures.npz,array=x,classes=ground+striped+checked,name=texture]" \
    --hypotheses "mask[file=$out/colours.npz,array=x,classes=ground+red+green+blue+yellow+cyan+magenta,name=colour]" \
    --units layer=conv1 --units layer=conv2 --units layer=conv3 --units layer=conv4 --json "$out/$network.json" --html "$out/$network.html" --db "$out/dissection.db"
done
# NetDissect calls a channel with an overlap of 0.04 or more a detector, of the concept that it overlaps most.
"$assay" inspect --db "$out/dissection.db" "
  SELECT mid, layer, count(*) AS units, sum(best >= 0.04) AS detectors, sum(best >= 0.04 AND hid LIKE 'shape:%') AS of_shapes,
    sum(best >= 0.04 AND hid LIKE 'texture:%') AS of_textures, sum(best >= 0.04 AND hid LIKE 'colour:%') AS of_colours, max(best) AS greatest
  FROM (SELECT mid, layer, layer_index, uid, hid, max(unit_score) AS best FROM scores WHERE hid NOT LIKE '%:ground' AND hid LIKE '%:%' GROUP BY mid, uid)
  GROUP BY mid, layer ORDER BY mid DESC, layer_index"
