#!/usr/bin/env bash
# Builds the program and its module with libtorch, and runs forward passes, gradients, coverage, mutants, attacks, exploration and
# training on the GPU and on the processor: LeNet-5, a ResNet-50, a ViT and a BERT with random weights. Results have to agree
# within stated rounding; ratios of time and memory are printed. Without a GPU smaller networks run on a device that everything
# is copied to and from although it is the processor, so that only the hardware is missing.
# Usage: scripts/check-gpu.sh [BUILD_DIR]. Needs torch, onnx and numpy of PyPI: PYTHON names their interpreter (default: python3).
# ASSAY_PROGRAM and ASSAY_TORCH_MODULE, if both are given, are taken instead of building.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/gpu}
python=${PYTHON:-python3}
"$python" -c 'import numpy, onnx, torch' 2>/dev/null || { echo "SKIPPED: $python has not numpy, onnx and torch (PyPI)" >&2; exit 0; }
if [ -z "${ASSAY_PROGRAM:-}" ] || [ -z "${ASSAY_TORCH_MODULE:-}" ]; then
  echo "== build in $build"
  prefix=$("$python" -c 'import torch; print(torch.utils.cmake_prefix_path)')
  cmake -S . -B "$build" -G Ninja -DASSAY_TORCH=ON -DASSAY_TESTS=OFF -DASSAY_PYTHON=OFF -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
  cmake --build "$build" --target assay_program assay_torch
  export ASSAY_PROGRAM=$PWD/$build/bin/assay ASSAY_TORCH_MODULE=$PWD/$build/bin/libassay_torch.so
fi
"$python" benchmarks/device_beside_processor.py
