#!/usr/bin/env bash
# Fetches, checks and unpacks the sources of the libraries that released forms of Assay are linked with: Debian's source
# packages, of exactly the files that release/sources.lock names. Headers of libraries that are headers alone are those of the
# building machine.
# Usage: release/sources.sh FOLDER PYTHON [--lock]
#   PYTHON: an interpreter with pip; --lock: writes the lock anew, from what there is now of the versions in it
set -euo pipefail
cd "$(dirname "$0")"
folder=$(realpath -m "$1") python=$2 lock=$PWD/sources.lock
mkdir -p "$folder/files" "$folder/lists/partial"
recipe=$(cat "$lock" sources.sh | sha256sum)
[ "$(cat "$folder/complete" 2>/dev/null)" != "$recipe" ] || exit 0

# A list of Debian's sources beside the machine's own: the same archives as its packages come from.
listed() { printf '%s %s %s main\n' deb-src "$site" "$suite" deb "$site" "$suite"; }
apt-get indextargets --format '$(SITE) $(ORIGIN) $(LABEL)' 'Created-By: Packages' | sort -u | while read -r site origin label; do
  case "$origin $label" in
    "Debian Debian") for suite in bookworm bookworm-updates trixie forky; do listed; done ;;
    "Debian Debian-Security") for suite in bookworm-security trixie-security; do listed; done ;;
  esac
done >"$folder/sources.list"
[ -s "$folder/sources.list" ] || { echo "this machine's lists of packages name no archive of Debian" >&2; exit 1; }
options=(-o "Dir::Etc::sourcelist=$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$folder/lists"
  -o APT::Sandbox::User=root)

# Lines of the lock: kind name version file sha256, where the kind is a source package, a package, or a wheel of PyPI.
named() { awk -v kind="$1" -v with="$2" '$1 == kind {print $2 with $3}' "$lock" | sort -u; }
expected() { awk '!/^#/ {print $5 "  " $4}' "$lock"; }

cd "$folder/files"
if [ "${3:-}" = --lock ] || ! expected | sha256sum --check --status 2>/dev/null; then
  echo "== fetching sources"
  apt-get "${options[@]}" update -qq
  for package in $(named source =); do apt-get "${options[@]}" source --only-source --download-only -qq "$package"; done
  for package in $(named package =); do apt-get "${options[@]}" download -qq "$package"; done
  for wheel in $(named wheel ==); do "$python" -m pip download --quiet --no-deps --only-binary :all: "$wheel"; done
fi
# locked KIND NAMED SIGN FILE
locked() { echo "$1 ${2%%"$3"*} ${2##*"$3"} $4 $(sha256sum "$4" | cut -d' ' -f1)"; }
if [ "${3:-}" = --lock ]; then
  {
    sed -n '/^#/p' "$lock"
    for package in $(named source =); do
      version=${package#*=}
      description=${package%%=*}_${version#*:}.dsc
      for file in "$description" $(awk '/^Checksums-Sha256:/ {on = 1; next} /^[^ ]/ {on = 0} on {print $3}' "$description"); do
        [[ $file == *.asc ]] || locked source "$package" = "$file"
      done
    done
    for package in $(named package =); do locked package "$package" = "${package%%=*}_${package#*=}"_*.deb; done
    for wheel in $(named wheel ==); do locked wheel "$wheel" == "${wheel%%==*}-${wheel##*==}"-*.whl; done
  } >"$lock.new"
  mv "$lock.new" "$lock"
fi
expected | sha256sum --check --quiet || { echo "a source is not the one that $lock names" >&2; exit 1; }

cd "$folder"
for package in $(named source =); do
  name=${package%%=*} version=${package#*=}
  rm -rf "$name"
  dpkg-source --no-check -x "files/${name}_${version#*:}.dsc" "$name" >/dev/null 2>&1
done

# What Debian's packages leave to be made.
rm -rf amalgamation onnx headers python*
mkdir -p amalgamation onnx headers
(cd amalgamation && ../sqlite3/configure --disable-tcl >/dev/null && make sqlite3.c >/dev/null)
(
  cd re2/re2
  perl make_perl_groups.pl >perl_groups.cc
  for table in groups casefold; do /usr/bin/python3 make_unicode_$table.py >unicode_$table.cc; done
)
"$python" -m zipfile -e files/onnx-*.whl onnx
sed -i '/optimize_for = LITE_RUNTIME/d' onnx/onnx/onnx-ml.proto # messages tell of themselves
for file in files/libpython*-dev_*.deb; do
  version=$(basename "$file" | sed -E 's/libpython([0-9.]+)-dev.*/\1/')
  dpkg-deb -x "$file" python
  cp -r "python/usr/include/python$version" "python$version"
  # Of this machine's kind; what differs for other processors of 64 bits is nothing that a module uses.
  cp "python/usr/include/x86_64-linux-gnu/python$version/pyconfig.h" "python$version/pyconfig.h"
done
cp -rL /usr/include/{CLI,nlohmann,toml++} /usr/include/xx{hash,h3}.h headers/
echo "$recipe" >complete
