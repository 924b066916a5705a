#!/usr/bin/env bash
# Installs the packages of Debian 12 or 13 that Assay is built from, and fetches nanobind. Safe to repeat: does nothing when
# all are there.
# Usage: scripts/install-dependencies.sh [--program | --module | --checks]
#   --program: the least that the program needs, --module: and the Python module; some packages are unpacked in build/packages
#   --checks: also what checks the sources and the Python package, if the release has it
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/packages.sh
mode=${1:-} unpacked=build/packages
[[ " --program --module --checks " == *" $mode "* || -z $mode ]] || { sed -n '4,6p' "$0" >&2; exit 2; }

installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }
offered() { apt-cache show "$1" >/dev/null 2>&1; }
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
update() { "${as_root[@]}" apt-get update -qq; }
install_missing() { # PACKAGE...
  local package missing=()
  for package in "$@"; do installed "$package" || missing+=("$package"); done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "== dependencies: all installed"
    return
  fi
  echo "== dependencies: installing ${missing[*]}"
  [ -n "${updated:-}" ] || update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# Links of development packages name shared libraries that are installed elsewhere.
complete_links() {
  local link library
  for link in "$unpacked"/usr/lib/*/lib*.so; do
    library=/usr/lib/$(basename "$(dirname "$link")")/$(basename "$(readlink "$link")")
    if [ ! -e "$link" ] && [ -e "$library" ]; then ln -sfn "$library" "$link"; fi
  done
}

# Header files of Python name one that lies in a folder of the processor.
complete_headers() {
  local header
  for header in "$unpacked"/usr/include/*/python3*/pyconfig.h; do
    [ ! -e "$header" ] || cp "$header" "$unpacked/usr/include/$(basename "$(dirname "$header")")/pyconfig.h"
  done
}

install_least() { # program|module
  local package
  if ! offered libonnx-dev; then update && updated=yes; fi
  # shellcheck disable=SC2046 # names of packages are words
  install_missing "${compiler_packages[@]}" $(least_installed "$1")
  for package in $(least_unpacked "$1"); do
    if installed "$package" || compgen -G "$unpacked/${package}_*.deb" >/dev/null; then continue; fi
    echo "== dependencies: unpacking $package in $unpacked"
    # The file comes there last: it says that the package is unpacked.
    rm -rf "$unpacked/new"
    mkdir -p "$unpacked/new"
    (cd "$unpacked/new" && apt-get -o APT::Sandbox::User=root download -qq "$package" && dpkg-deb -x "${package}"_*.deb .. && mv ./*.deb ..)
    rmdir "$unpacked/new"
  done
  [ ! -d "$unpacked" ] || { complete_links && complete_headers; }
}

case $mode in
  --program) install_least program ;;
  --module) install_least module ;;
  *)
    packages=(
      "${compiler_packages[@]}" "${library_packages[@]}" "${static_packages[@]}" "${module_packages[@]}" "${optional_packages[@]}"
      "${test_packages[@]}" "${test_data_packages[@]}"
    )
    if [ "$mode" = --checks ]; then
      # Before the first update the release seems to have nothing.
      if ! offered g++; then update && updated=yes; fi
      # clang's of exactly this version: others format and warn otherwise. Python's are what the package works with beside
      # NumPy; tests of what is not there are skipped.
      for package in clang-format-14 clang-tidy-14 mypy python3-h5py python3-matplotlib python3-onnx python3-pandas python3-torch python3-tqdm; do
        if offered "$package"; then packages+=("$package"); fi
      done
    fi
    install_missing "${packages[@]}"
    [ ! -d "$unpacked" ] || complete_links
    ;;
esac
[ "$mode" != --program ] || exit 0

# What binds the Python package comes from PyPI. Where that cannot be reached the rest is built without the package.
tools=build/tools
if [ ! -d "$tools/nanobind-$nanobind_version.dist-info" ]; then
  rm -rf "$tools"/nanobind "$tools"/nanobind-*.dist-info # of another version
  pip=(/usr/share/python-wheels/pip-*.whl)
  if /usr/bin/python3 "${pip[0]}/pip" install --target "$tools" --no-deps --quiet --root-user-action ignore "nanobind==$nanobind_version"; then
    echo "== dependencies: nanobind $nanobind_version in $tools"
  else
    echo "== dependencies: nanobind $nanobind_version could not be fetched from PyPI; the Python package is left out" >&2
  fi
fi
