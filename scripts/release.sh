#!/usr/bin/env bash
# Makes what is released, from nothing, on Debian 12 or 13: for x86-64 and aarch64 a static program that runs on any Linux and
# wheels for CPython 3.11 and for 3.12 and later, with checksums and a bill of materials.
# Usage: scripts/release.sh [--for x86_64|aarch64]... [--work FOLDER] [--out FOLDER]
# Takes about half an hour for a processor on two cores the first time; what is in the folder of work is not made again.
set -euo pipefail
cd "$(dirname "$0")/.."
project=$PWD processors=() work=$project/build/release-forms out=$project/build/dist
while [ $# -gt 0 ]; do
  case $1 in
    --for) processors+=("$2"); shift 2 ;;
    --work) work=$(realpath -m "$2"); shift 2 ;;
    --out) out=$(realpath -m "$2"); shift 2 ;;
    *) sed -n '2,5p' "$0" >&2; exit 2 ;;
  esac
done
[ ${#processors[@]} -gt 0 ] || processors=(x86_64 aarch64)
for processor in "${processors[@]}"; do
  [[ $processor =~ ^(x86_64|aarch64)$ ]] || { echo "there is no form for '$processor'; x86_64 or aarch64" >&2; exit 2; }
done
# The date of all files that are packed: that of the commit.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C
mkdir -p "$work" "$out"

scripts/install-dependencies.sh
source scripts/packages.sh
missing=()
for package in "${release_packages[@]}"; do dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package"); done
if [ ${#missing[@]} -gt 0 ]; then
  as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi
python=$work/venv/bin/python
[ -x "$python" ] || /usr/bin/python3 -m venv "$work/venv"
"$python" -m pip install --quiet --require-virtualenv -r release/requirements.txt
export PATH=$work/venv/bin:$PATH # CMake of the stable ABI
release/sources.sh "$work/sources" "$python"

# configured TARGET FOLDER ARGUMENT...: with the libraries of a target; the caller builds what it wants.
configured() {
  local target=$1 folder=$2
  shift 2
  release/toolchain.sh "$target" "$work/tools/$target" "$python"
  release/dependencies.sh "$work/sources" "$work/tools/$target" "$work/libraries/$target"
  PKG_CONFIG_LIBDIR=$work/libraries/$target/lib/pkgconfig cmake -S . -B "$folder" -G Ninja --log-level=WARNING \
    -DCMAKE_TOOLCHAIN_FILE="$work/tools/$target/toolchain.cmake" -DCMAKE_PREFIX_PATH="$work/libraries/$target" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="-g0 -ffile-prefix-map=$project=. -ffile-prefix-map=$folder=." \
    -DCMAKE_EXE_LINKER_FLAGS="-s -Wl,--gc-sections" -DCMAKE_MODULE_LINKER_FLAGS="-s -Wl,--gc-sections" -DASSAY_TESTS=OFF -DASSAY_MPI=OFF "$@"
}

# Further files in share/, made by the program of this machine: the texts are the same for all.
written_by() {
  local program=$1 share=$2
  mkdir -p "$share"/{man/man1,bash-completion/completions,fish/vendor_completions.d,doc/assay}
  "$program" manual "$share/man/man1" >/dev/null
  "$program" completion bash >"$share/bash-completion/completions/assay"
  "$program" completion fish >"$share/fish/vendor_completions.d/assay.fish"
  release/licences.sh "$work/sources" >"$share/doc/assay/LICENSES-of-libraries.txt"
}

native=$(uname -m) share=$work/share
for processor in $(printf '%s\n' "$native" "${processors[@]}" | sort -u); do
  program=$work/program-$processor
  echo "== static program for $processor"
  configured "$processor-linux-musl" "$program" -DASSAY_STATIC=ON -DASSAY_PYTHON=OFF
  cmake --build "$program" --target assay_program
done
written_by "$work/program-$native/bin/assay" "$share"
for processor in "${processors[@]}"; do
  cp "$work/program-$processor/bin/assay" "$out/assay-linux-$processor"
  for version in 3.11 3.13; do # headers of 3.13 with the interface of 3.12 and later
    echo "== wheel of Python $version for $processor"
    module=$work/module-$version-$processor
    configured "$processor-linux-gnu.2.28" "$work/module-$processor" -DASSAY_PYTHON=ON -DASSAY_PYTHON_HEADERS="$work/sources/python$version"
    cmake --build "$work/module-$processor" --target assay_python
    mkdir -p "$module"
    tag=cp311-cp311 name=_assay.cpython-311-$processor-linux-gnu.so
    [ "$version" = 3.11 ] || tag=cp312-abi3 name=_assay.abi3.so
    cp "$work/module-$processor/python/assay/$name" "$module/$name"
    "$python" release/write_wheel.py . "$module/$name" "$share" "$tag-manylinux_2_28_$processor" "$out"
  done
done
"$python" release/write_bill.py release/sources.lock pyproject.toml >"$out/assay.cdx.json"
(cd "$out" && sha256sum assay-* assay.cdx.json >SHA256SUMS)
echo "== in ${out#"$project"/}:"
(cd "$out" && wc -c -- *)
