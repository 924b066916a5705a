#!/usr/bin/env bash
# Assay beside its strongest peers, in one run: ratios, with the versions of the peers. Run it on an idle machine.
# Usage: benchmarks/side_by_side.sh [THREADS [RECORDS [MODEL.onnx...]]] (default: 2 threads, 4096 records, fourteen networks)
set -euo pipefail
cd "$(dirname "$0")/.."
threads=${1:-2}
records=${2:-4096}
shift $(($# < 2 ? $# : 2))
cmake --preset release -DASSAY_BENCHMARKS=ON >/dev/null
cmake --build --preset release --target bench_attacks bench_coverage bench_explore bench_forward bench_mutation bench_operators \
  bench_relevance bench_training assay_program >/dev/null
bin=$PWD/build/release/benchmarks
log=$PWD/build/side_by_side.txt
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
{
echo "== start of the program"
python3 - "$PWD/build/release/bin/assay" <<'EOF'
import os, subprocess, sys
def once(*arguments):
    before = os.times()
    subprocess.run([sys.argv[1], *arguments], stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system
for arguments in (["--version"], ["--help"]):
    print(f"{arguments[0]} {min(once(*arguments) for _ in range(5)):.3f} s of processor time")
EOF
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
} | tee "$log"
[ $# -eq 0 ] || exit 0
echo "== table"
awk -f benchmarks/table.awk "$log"
