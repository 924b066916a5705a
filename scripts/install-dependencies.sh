#!/usr/bin/env bash
# Installs the packages of Debian 12 or 13 that Assay is built from, and fetches nanobind; with --checks those that check its
# sources and its Python package as well, if the release has them. Safe to repeat: does nothing when all are there.
set -euo pipefail

source "$(dirname "$0")/packages.sh"
packages=(
  "${compiler_packages[@]}" "${library_packages[@]}" "${optional_packages[@]}"
  "${test_packages[@]}" "${test_data_packages[@]}" "${python_packages[@]}"
)

# clang's of exactly this version: others format and warn otherwise. Python's are what the package works with beside
# NumPy; tests of what is not there are skipped.
checks=(
  clang-format-14 clang-tidy-14
  mypy python3-h5py python3-matplotlib python3-onnx python3-pandas python3-torch python3-tqdm
)
[ "${1:-}" = --checks ] || checks=()

installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }
offered() { apt-cache show "$1" >/dev/null 2>&1; }
missing=()
for package in "${packages[@]}"; do installed "$package" || missing+=("$package"); done
for package in "${checks[@]}"; do
  # Before the first update the release seems to have nothing.
  if ! installed "$package" && { offered "$package" || ! offered g++; }; then missing+=("$package"); fi
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "== dependencies: all installed"
else
  echo "== dependencies: installing ${missing[*]}"
  as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  wanted=()
  for package in "${missing[@]}"; do
    if [[ " ${checks[*]} " != *" $package "* ]] || offered "$package"; then wanted+=("$package"); fi
  done
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${wanted[@]}"
fi

# What binds the Python package comes from PyPI. Where that cannot be reached the rest is built without the package.
tools=$(dirname "$0")/../build/tools
if [ ! -d "$tools/nanobind-$nanobind_version.dist-info" ]; then
  rm -rf "$tools"/nanobind "$tools"/nanobind-*.dist-info # of another version
  if /usr/bin/python3 -m pip install --target "$tools" --no-deps --quiet --root-user-action ignore "nanobind==$nanobind_version"; then
    echo "== dependencies: nanobind $nanobind_version in build/tools"
  else
    echo "== dependencies: nanobind $nanobind_version could not be fetched from PyPI; the Python package is left out" >&2
  fi
fi
