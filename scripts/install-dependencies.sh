#!/usr/bin/env bash
# Installs the Debian 12 packages that Assay is built from. Safe to repeat: does nothing when all are there.
set -euo pipefail

packages=(
  g++ cmake ninja-build pkg-config
  libtorch-dev libopenblas0-openmp libdnnl-dev
  libonnx-dev libprotobuf-dev protobuf-compiler
  libhdf5-dev libzip-dev libarchive-dev zlib1g-dev libpng-dev libjpeg-dev
  libcli11-dev libtomlplusplus-dev nlohmann-json3-dev libfmt-dev libxxhash-dev
  libgtest-dev libgmock-dev
)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "== dependencies: all installed"
  exit 0
fi
echo "== dependencies: installing ${missing[*]}"
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
