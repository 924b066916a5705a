#!/usr/bin/env bash
# Runs the steps of Containerfile without a container engine: makes the image's file system in a bare Debian 12, measures it
# and tries program and package in it. Needs root and debootstrap.
# Usage: scripts/check-image.sh WHEEL [ROOT_OF_DEBIAN]
#   WHEEL: for CPython 3.11; ROOT_OF_DEBIAN: a bare Debian 12 that is there already, which stays as it is
set -euo pipefail
[ $# -ge 1 ] || { sed -n '4,5p' "$0" >&2; exit 2; }
cd "$(dirname "$0")/.."
wheel=$(realpath "$1") base=${2:-} largest=150000000
[ "$(id -u)" -eq 0 ] || { echo "SKIPPED: not root" >&2; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "$base" ]; then
  command -v debootstrap >/dev/null || { echo "SKIPPED: no debootstrap" >&2; exit 0; }
  base=$work/base
  debootstrap --variant=minbase bookworm "$base" >"$work/log" 2>&1 || { tail -20 "$work/log"; exit 1; }
fi

# What the build changes lies in layers of its own, as with an engine.
mkdir "$work/layer"
unshare --mount bash -euc '
  mount -t tmpfs tmpfs "$1/layer" && mkdir "$1"/layer/{changed,scratch,root}
  mount -t overlay overlay -o "lowerdir=$2,upperdir=$1/layer/changed,workdir=$1/layer/scratch" "$1/layer/root"
  root=$1/layer/root
  mkdir -p "$root/wheels" "$1/image"
  cp release/image_root.sh "$root/" && cp "$3" "$root/wheels/" && cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" # a proxy, say
  [ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/pip.conf"
  mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev"
  chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root sh -c "/image_root.sh /image /wheels/*.whl"
  cp -a "$root/image/." "$1/image/"
' bash "$work" "$base" "$wheel"

size=$(du --apparent-size --summarize --block-size=1 "$work/image" | cut -f1)
packed=$(tar -C "$work/image" -c . | gzip -6 | wc -c)
echo "== image: $((size / 1000000)) MB, $((packed / 1000000)) MB to download"
[ "$size" -lt "$largest" ] || { echo "the image is larger than $((largest / 1000000)) MB" >&2; exit 1; }

# As an engine starts it: another root, the user and folder of the last lines of Containerfile, no network.
inside() {
  unshare --mount --net sh -c 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot --userspec=1000:1000 "$0" "$@"' "$work/image" \
    /bin/env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/work PYTHONDONTWRITEBYTECODE=1 sh -c "cd /work && $1"
}
mkdir -p "$work"/image/{proc,dev}
inside 'assay --version'
inside 'assay train --architecture lenet1 --data digits:500 --epochs 1 --out net.onnx --quiet >/dev/null &&
  assay cover net.onnx digits:100,seed=2 --train digits:500 --preset fast --quiet | head -1'
inside 'python3 -c "import assay; print(assay.evaluate(\"net.onnx\", \"digits:100\").headline)"'
echo "== program and package run"
