#!/usr/bin/env bash
# Tries released wheels: checks what they ask of the system, installs each in a fresh environment with NumPy alone, runs the
# package's tests there, then those with the frameworks that are named.
# Usage: scripts/check-wheel.sh FOLDER [--python INTERPRETER]... [--beside PACKAGE]...
#   --python: default every python3.11 to python3.14 in PATH; --beside: packages of PyPI, each in a separate environment
set -euo pipefail
folder=$(realpath "$1") source=$(realpath "$(dirname "$0")/..")
shift
pythons=() beside=()
while [ $# -gt 0 ]; do
  case $1 in
    --python) pythons+=("$2"); shift 2 ;;
    --beside) beside+=("$2"); shift 2 ;;
    *) sed -n '4,5p' "$0" >&2; exit 2 ;;
  esac
done
if [ ${#pythons[@]} -eq 0 ]; then
  for version in 3.11 3.12 3.13 3.14; do command -v "python$version" >/dev/null && pythons+=("python$version"); done
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$source/scripts/wheels.sh"

python3 -m venv "$work/checks"
"$work/checks/bin/pip" install --quiet auditwheel abi3audit
for wheel in "$folder"/assay-*.whl; do
  echo "== $(basename "$wheel"): $(stat -c %s "$wheel") bytes"
  "$work/checks/bin/auditwheel" show "$wheel" | tr '\n' ' ' | grep -oE 'consistent with the following platform tag: *"[a-z0-9_]+"'
  case $wheel in *abi3*) "$work/checks/bin/abi3audit" --strict "$wheel" ;; esac
done

for python in "${pythons[@]}"; do
  version=$("$python" -c 'import platform; print(platform.python_version())')
  wheel=$(wheel_for "$folder" "$python")
  for package in numpy "${beside[@]}"; do
    environment=$work/$version-$package
    echo "== Python $version with $package"
    "$python" -m venv "$environment"
    "$environment/bin/pip" install --quiet "$wheel" "$package" pytest
    "$environment/bin/pip" check
    (cd "$work" && "$environment/bin/python" -m assay --version && "$environment/bin/assay" demo --records 500 --epochs 1 --out "$environment/demo" >/dev/null)
    if [ "$package" = numpy ]; then tested "$environment" "$source/python/tests"; else tested "$environment" "$source/python/tests/test_beside.py"; fi
    rm -rf "$environment"
  done
done
