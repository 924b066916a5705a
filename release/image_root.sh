#!/bin/sh
# Makes the file system of the container image: what the program and the Python package need of Debian 12, and the wheel.
# Runs on Debian 12 as root; Containerfile calls it.
# Usage: image_root.sh ROOT WHEEL
set -eu
root=$1 wheel=$(realpath "$2")
triplet=$(uname -m)-linux-gnu
mkdir -p "$root/var/lib/dpkg/status.d"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends python3-minimal python3-pip >/dev/null

# Packages as they are, without what their scripts would do: no shell is needed before the image runs.
packages="base-files netbase tzdata busybox-static libc6 libgcc-s1 libstdc++6 zlib1g libexpat1 libffi8 libssl3 libbz2-1.0 liblzma5
  libsqlite3-0 libuuid1 libcrypt1 libpython3.11-minimal libpython3.11-stdlib python3.11-minimal python3-numpy libblas3 liblapack3
  libgfortran5"
case $triplet in x86_64*) packages="$packages libquadmath0" ;; esac
downloads=$(mktemp -d)
# shellcheck disable=SC2086 # words
(cd "$downloads" && apt-get download -qq -o APT::Sandbox::User=root $packages)
for package in "$downloads"/*.deb; do
  dpkg-deb --extract "$package" "$root"
  dpkg-deb --field "$package" >"$root/var/lib/dpkg/status.d/$(dpkg-deb --field "$package" Package)" # scanners read it
done
rm -r "$downloads"

# Documents, other languages, tests, and parts of Python that build or draw.
rm -rf "$root"/usr/share/man "$root"/usr/share/locale "$root"/usr/share/lintian "$root"/usr/share/bug "$root"/usr/share/python3
find "$root/usr/share/doc" -type f ! -name copyright -delete
numpy=$root/usr/lib/python3/dist-packages/numpy
find "$numpy" -type d -name tests -prune -exec rm -rf {} +
rm -rf "$numpy"/f2py "$numpy"/core/include "$numpy"/core/lib "$numpy"/distutils "$numpy"/random/lib "$numpy"/random/_examples
library=$root/usr/lib/python3.11
rm -rf "$library"/ensurepip "$library"/idlelib "$library"/lib2to3 "$library"/pydoc_data "$library"/tkinter "$library"/turtledemo \
  "$library"/distutils/command "$library"/config-3.11-*
find "$root/usr/share/zoneinfo" -mindepth 1 ! -name UTC ! -name Etc -delete 2>/dev/null || true

# What scripts of packages do: links, the cache of libraries, a user.
ln -s python3.11 "$root/usr/bin/python3"
"$root/bin/busybox" --list | while read -r name; do [ -e "$root/bin/$name" ] || ln -s busybox "$root/bin/$name"; done
printf '/usr/lib/%s/blas\n/usr/lib/%s/lapack\n' "$triplet" "$triplet" >"$root/etc/ld.so.conf.d/numpy.conf"
printf 'include /etc/ld.so.conf.d/*.conf\n' >"$root/etc/ld.so.conf"
ldconfig -r "$root"
printf 'root:x:0:0:root:/root:/bin/sh\nassay:x:1000:1000:assay:/work:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\nassay:x:1000:\n' >"$root/etc/group"
mkdir -p "$root/work" "$root/tmp" "$root/root"
chmod 1777 "$root/tmp"
chown 1000:1000 "$root/work"

python3 -m pip install --quiet --no-deps --no-compile --no-cache-dir --break-system-packages --root-user-action ignore --root "$root" "$wheel"
find "$root" -name __pycache__ -prune -exec rm -rf {} +
