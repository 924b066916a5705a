#!/usr/bin/env bash
# Tries the wheels for aarch64 under qemu in roots of Debian 12 and 13: installs them, asks the questions of
# scripts/questions.py and compares the documents with those of this machine's wheels.
# Usage: scripts/check-aarch64.sh FOLDER [--roots FOLDER]
#   FOLDER: wheels of both processors; --roots (default /var/tmp/assay-aarch64): roots and documents, used again
# Needs root, debootstrap and qemu-user-static. Takes a few minutes for each root the first time.
set -euo pipefail
source=$(realpath "$(dirname "$0")/..")
[ $# -gt 0 ] || { sed -n '4,6p' "$0" >&2; exit 2; }
folder=$(realpath "$1") roots=/var/tmp/assay-aarch64
[ "${2:-}" != --roots ] || roots=$(realpath -m "$3")
[ "$(id -u)" -eq 0 ] || { echo "SKIPPED: not root" >&2; exit 0; }
command -v debootstrap >/dev/null || { echo "SKIPPED: no debootstrap" >&2; exit 0; }
. "$source/scripts/emulation.sh"
mkdir -p "$roots"

emulate_aarch64 || exit 0

# asked PYTHON WHEEL FOLDER: documents of a wheel's answers, in a fresh environment with the interpreter's NumPy
asked='
  set -e
  "$0" -m venv --clear --system-site-packages "$2/environment"
  "$2/environment/bin/pip" install --quiet --no-index "$1"
  "$2/environment/bin/pip" check
  cd "$2"
  environment/bin/assay --version | head -1
  environment/bin/python questions.py
'
work=$roots/here
rm -rf "$work"
mkdir -p "$work"
cp "$source/scripts/questions.py" "$work"
bash -c "$asked" /usr/bin/python3 "$(. "$source/scripts/wheels.sh" && wheel_for "$folder" /usr/bin/python3)" "$work"

failed=0
for release in bookworm trixie; do
  root=$roots/$release tag=cp312-abi3
  [ $release != bookworm ] || tag=cp311-cp311
  [ -e "$root/usr/bin/python3" ] ||
    debootstrap --arch=arm64 --variant=minbase --include=python3-venv,python3-numpy $release "$root" >"$roots/$release.log"
  rm -rf "$root/asked"
  mkdir -p "$root/asked"
  wheel=$(echo "$folder"/assay-*-$tag-*_aarch64.whl)
  cp "$work"/{questions.py,net.onnx} "$wheel" "$root/asked"
  echo "== aarch64, $release"
  unshare --mount sh -c 'mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev" &&
    exec chroot "$0" env -i HOME=/root PATH=/usr/bin:/bin bash -c "$1" /usr/bin/python3 "/asked/$2" /asked' "$root" "$asked" "${wheel##*/}"
  /usr/bin/python3 "$source/scripts/questions.py" --compare "$work" "$root/asked" || failed=1
done
exit $failed
