#!/usr/bin/env bash
# Runs the steps of Containerfile without a container engine: makes the image's file system in a bare Debian 12, measures it
# and tries program and package in it. Needs root and debootstrap.
# Usage: scripts/check-image.sh WHEEL [ROOT_OF_DEBIAN]
#   WHEEL: for CPython 3.11; ROOT_OF_DEBIAN: a bare Debian 12 that is there already, which stays as it is
set -euo pipefail
[ $# -ge 1 ] || { sed -n '4,5p' "$0" >&2; exit 2; }
wheel=$(realpath "$1") largest=150000000
cd "$(dirname "$0")/.."
[ "$(id -u)" -eq 0 ] || { echo "SKIPPED: not root" >&2; exit 0; }
source scripts/bare-root.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
base=$(base_root "$work" "${2:-}")
[ -n "$base" ] || exit 0

in_bare_root "$work" "$base" '/given/image_root.sh /kept/image /given/*.whl' release/image_root.sh "$wheel"
image=$work/kept/image
size=$(du --apparent-size --summarize --block-size=1 "$image" | cut -f1)
packed=$(tar -C "$image" -c . | gzip -6 | wc -c)
echo "== image: $((size / 1000000)) MB, $((packed / 1000000)) MB to download"
[ "$size" -lt "$largest" ] || { echo "the image is larger than $((largest / 1000000)) MB" >&2; exit 1; }

# As an engine starts it: another root, the user and folder of the last lines of Containerfile, no network.
inside() {
  unshare --mount --net sh -c 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot --userspec=1000:1000 "$0" "$@"' \
    "$image" /bin/env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/work PYTHONDONTWRITEBYTECODE=1 sh -c "cd /work && $1"
}
mkdir -p "$image"/{proc,dev}
inside 'assay --version'
inside 'assay train --architecture lenet1 --data digits:500 --epochs 1 --out net.onnx --quiet >/dev/null &&
  assay cover net.onnx digits:100,seed=2 --train digits:500 --preset fast --quiet | head -1'
inside 'python3 -c "import assay; print(assay.evaluate(\"net.onnx\", \"digits:100\").headline)"'
echo "== program and package run"
