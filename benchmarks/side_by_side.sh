#!/usr/bin/env bash
# Assay beside its strongest peers, in one run: ratios, with the versions of the peers. Run it on an idle machine.
# Usage: benchmarks/side_by_side.sh [THREADS [RECORDS [MODEL.onnx...]]] (default: 2 threads, 4096 records, eleven networks)
set -euo pipefail
cd "$(dirname "$0")/.."
threads=${1:-2}
records=${2:-4096}
shift $(($# < 2 ? $# : 2))
cmake --preset release -DASSAY_BENCHMARKS=ON >/dev/null
cmake --build --preset release --target bench_attacks bench_coverage bench_explore bench_forward bench_mutation bench_operators \
  bench_relevance bench_training >/dev/null
bin=$PWD/build/release/benchmarks
peers=$PWD/build/peers
if command -v npm >/dev/null && [ ! -d "$peers/node_modules/onnxruntime-node" ]; then
  mkdir -p "$peers"
  npm install --prefix "$peers" --ignore-scripts --no-audit --no-fund onnxruntime-node >/dev/null 2>&1 ||
    echo "SKIPPED: npm has no onnxruntime-node" >&2
fi
if [ -d "$peers/node_modules/onnxruntime-node" ]; then
  export NODE_PATH=$peers/node_modules
  export ASSAY_ONNXRUNTIME="node $PWD/benchmarks/onnxruntime_forward.cjs"
fi
echo "== operators: the peak of the processor"
"$bin/bench_operators" 1
echo "== forward passes: ONNX Runtime"
"$bin/bench_forward" "$threads" "$records" "$@"
[ $# -eq 0 ] || exit 0
echo "== the same on one thread"
"$bin/bench_forward" 1 "$records"
echo "== relevance: a forward pass"
"$bin/bench_relevance" "$threads"
echo "== eleven criteria: a forward pass"
"$bin/bench_coverage" "$threads" together
echo "== attacks: PyTorch on whole batches"
"$bin/bench_attacks" "$threads"
echo "== training: PyTorch"
"$bin/bench_training" "$threads" 1
echo "== mutation: whole networks, and in PyTorch"
"$bin/bench_mutation"
echo "== exploration: findings a second"
"$bin/bench_explore"
