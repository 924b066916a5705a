#!/usr/bin/env bash
# Unpacks the Debian packages that Assay is built from into a folder, without root and without installing anything: for a
# machine with a compiler and CMake. Packages that the machine has installed are left out. Where the machine that builds has
# no network, run it on one that has, and copy the folder.
# Usage: scripts/unpack-dependencies.sh FOLDER [--all]
#   --all: also what is installed here
set -euo pipefail
source "$(dirname "$0")/packages.sh"
folder=$(realpath -m "${1:?usage: scripts/unpack-dependencies.sh FOLDER [--all]}")
shift
packages=("${library_packages[@]}" "${static_packages[@]}")
for package in "${test_packages[@]}"; do [[ $package == python3* ]] || packages+=("$package"); done
all=
for argument in "$@"; do
  case $argument in
    --all) all=yes ;;
    *) echo "unknown argument $argument" >&2; exit 2 ;;
  esac
done

# Everything that these need, but for the C and C++ libraries, which belong to the compiler.
needed=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
  "${packages[@]}" | grep '^[a-z0-9]' | sort -u |
  grep -Ev '^(libc6|libc6-dev|libc-bin|libc-dev-bin|libgcc-s1|libstdc\+\+6|gcc-.*-base|linux-libc-dev|libcrypt.*|dpkg|debconf|perl.*|python3.*|.*-cross)(:.*)?$')
mkdir -p "$folder/.packages"
cd "$folder/.packages"
for package in $needed; do
  apt-cache show "$package" >/dev/null 2>&1 || continue # a name that others provide
  [ -n "$all" ] || ! dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || continue
  compgen -G "${package}_*.deb" >/dev/null || apt-get download -qq "$package" 2>/dev/null || continue
done
count=0
for file in *.deb; do
  [ -e "$file" ] || continue
  dpkg -x "$file" "$folder"
  count=$((count + 1))
done
# Links between libraries are absolute in a few packages.
find "$folder/usr" -type l -lname '/*' 2>/dev/null | while read -r link; do
  target=$(readlink "$link")
  [ ! -e "$folder$target" ] || ln -sfn "$folder$target" "$link"
done
echo "== $count packages in $folder; build with"
echo "   cmake -S . -B build/unpacked -DCMAKE_PREFIX_PATH=\"$folder/usr\""
