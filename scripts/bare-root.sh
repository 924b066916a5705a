# Common parts of check-image.sh and check-action.sh: a bare Debian 12 that is thrown away.

# base_root WORK [ROOT]: the root that is named, or one made by debootstrap
base_root() {
  if [ -n "${2:-}" ]; then echo "$2"; return; fi
  command -v debootstrap >/dev/null || { echo "SKIPPED: no debootstrap" >&2; return; }
  debootstrap --variant=minbase bookworm "$1/base" >"$1/log" 2>&1 || { tail -20 "$1/log" >&2; return 1; }
  echo "$1/base"
}

# in_bare_root WORK BASE COMMAND FILE...: runs a command of the shell in a copy of BASE, with the files in /given. What it leaves
# in /kept comes to WORK/kept; all else is gone afterwards, and BASE stays as it is.
in_bare_root() {
  mkdir -p "$1/layer" "$1/kept"
  unshare --mount bash -euc '
    work=$1 base=$2 command=$3 root=$1/layer/root
    shift 3
    mount -t tmpfs tmpfs "$work/layer"
    mkdir "$work"/layer/{changed,scratch,root}
    mount -t overlay overlay -o "lowerdir=$base,upperdir=$work/layer/changed,workdir=$work/layer/scratch" "$root"
    mkdir "$root/given" "$root/kept"
    cp "$@" "$root/given/"
    # The way to archives that this machine has, a proxy, say.
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
    [ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/pip.conf"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive chroot "$root" bash -euc "$command"
    cp -a "$root/kept/." "$work/kept/"
  ' bash "$@"
}
