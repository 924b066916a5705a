#!/usr/bin/env bash
# Installs the build into an empty folder and builds and runs the example project against it.
# Usage: package_test.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >"$work/log"
"$work/prefix/bin/assay" --version
grep -q evaluate "$work/prefix/share/bash-completion/completions/assay"
cp -r "$source/examples/embed" "$work/embed"
cmake -S "$work/embed" -B "$work/embed/build" -DCMAKE_PREFIX_PATH="$work/prefix" >>"$work/log"
cmake --build "$work/embed/build" >>"$work/log" || { cat "$work/log"; exit 1; }
cd "$work"
"$work/embed/build/embed" | tee "$work/output"
grep -qx "output 1.5" "$work/output"
