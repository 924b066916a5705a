#!/usr/bin/env bash
# Prints the licences of the libraries that released forms contain, as Debian has put them together.
# Usage: release/licences.sh SOURCES
set -euo pipefail
cd "$1"
for file in */debian/copyright; do
  printf '==== %s\n\n' "${file%%/*}"
  cat "$file"
  echo
done
for package in libcli11-dev nlohmann-json3-dev libtomlplusplus-dev libxxhash-dev libonnx-dev; do
  printf '==== %s\n\n' "$package"
  cat "/usr/share/doc/$package/copyright"
  echo
done
