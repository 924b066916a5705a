#!/usr/bin/env bash
# Runs the README's two commands in a bare root of each Debian release that Assay is for, as a user would, and then builds
# with warnings as errors. Needs root, debootstrap and some GiB under ROOTS.
# Usage: scripts/check-systems.sh [RELEASE...] (default: bookworm trixie)
# ROOTS (default /var/tmp/assay-systems) holds a root and a log for each release; a root that is there is used again.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" -eq 0 ] || { echo "SKIPPED: not root" >&2; exit 0; }
command -v debootstrap >/dev/null || { echo "SKIPPED: no debootstrap" >&2; exit 0; }
roots=${ROOTS:-/var/tmp/assay-systems}
releases=("$@")
[ ${#releases[@]} -gt 0 ] || releases=(bookworm trixie)
mkdir -p "$roots"

make_root() { # RELEASE
  [ -e "$roots/$1/etc/debian_version" ] && return
  debootstrap --variant=minbase "$1" "$roots/$1" >"$roots/$1.debootstrap.log" 2>&1 ||
    { tail -20 "$roots/$1.debootstrap.log"; rm -rf "${roots:?}/$1"; return 1; }
  cp -r /etc/apt/apt.conf.d/. "$roots/$1/etc/apt/apt.conf.d/" # a proxy, say
}

# The files that git knows, with changes that are not committed; the root's own builds stay. Only what differs, and as
# changed now: a build there may be younger than the change here.
copy_sources() { # RELEASE
  mkdir -p "$roots/$1/assay"
  git ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do
      [ ! -e "$file" ] || cmp --quiet "$file" "$roots/$1/assay/$file" || cp --parents "$file" "$roots/$1/assay"
    done
}

inside() { # RELEASE COMMAND
  cp -L /etc/resolv.conf "$roots/$1/etc/resolv.conf"
  unshare --mount sh -c 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys" &&
    exec chroot "$0" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive bash -c "cd /assay && $1"' \
    "$roots/$1" "$2"
}

failed=()
for release in "${releases[@]}"; do
  log=$roots/$release.log
  echo "== $release: log in $log"
  make_root "$release" || { failed+=("$release"); continue; }
  copy_sources "$release"
  {
    for command in 'scripts/demo.sh --quiet' 'scripts/test.sh' \
      'cmake -S . -B build/strict -G Ninja -DASSAY_WERROR=ON && cmake --build build/strict'; do
      echo "== $command"
      begin=$SECONDS
      inside "$release" "$command" || exit 1
      echo "== took $((SECONDS - begin)) s"
    done
  } >"$log" 2>&1 || { tail -20 "$log"; failed+=("$release"); continue; }
  grep '^== took' "$log" | paste -sd ' '
done
[ ${#failed[@]} -eq 0 ] || { echo "== failed: ${failed[*]}" >&2; exit 1; }
echo "== all releases pass"
