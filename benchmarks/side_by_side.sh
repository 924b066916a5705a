#!/usr/bin/env bash
# Assay beside its strongest peers, in one run: ratios, with the versions of the peers. Run it on an idle machine.
# Usage: benchmarks/side_by_side.sh [THREADS [RECORDS [MODEL.onnx...]]] (default: 2 threads, 4096 records, fourteen small networks
# and fifteen of their real size). ASSAY_PEERS names a Python with numpy, onnx, onnxruntime and torch; without it they are
# fetched from PyPI into build/peers.
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
if [ -z "${ASSAY_PEERS:-}" ]; then
  # Current releases from PyPI, in a folder of their own; the first time this fetches some gigabytes.
  export ASSAY_PEERS=$PWD/build/peers/bin/python
  [ -x "$ASSAY_PEERS" ] || python3 -m venv "$PWD/build/peers"
  "$ASSAY_PEERS" -m pip install --quiet --upgrade numpy onnx onnxruntime torch
fi
export ASSAY_ONNXRUNTIME="'$ASSAY_PEERS' $PWD/benchmarks/onnxruntime_forward.py"
export ASSAY_PROGRAM=$PWD/build/release/bin/assay
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
echo "== networks of their real size: ONNX Runtime"
"$ASSAY_PEERS" -W ignore benchmarks/large_networks.py --threads "$threads" 2>/dev/null
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
