#!/usr/bin/env bash
# package_test.sh PROGRAM LISTS: runs the cases of the Python package onnx, of ASSAY_PYTHON or python3.
set -euo pipefail
cases=$(mktemp -d)
trap 'rm -rf "$cases"' EXIT
"${ASSAY_PYTHON:-python3}" "$2/write_cases.py" "$cases"
"$1" "$cases" "$2"
