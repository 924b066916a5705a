#!/usr/bin/env bash
# Counts the packages that a bare Debian 12 with a compiler gets for the program, for program and Python module, and for all tests.
# Usage: scripts/count-packages.sh [ROOT]
#   ROOT: a bare root that is there already, which stays as it is. Needs root, and debootstrap where no ROOT is named.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" -eq 0 ] || { echo "SKIPPED: not root" >&2; exit 0; }
source scripts/bare-root.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
base=$(base_root "$work" "${1:-}")
[ -n "$base" ] || exit 0
# shellcheck disable=SC2016 # it is the root's shell that reads this
in_bare_root "$work" "$base" '
  source /given/packages.sh
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${compiler_packages[@]}" >/dev/null 2>&1
  size() { apt-cache show --no-all-versions "$@" | awk "/^Installed-Size:/ {sum += \$2} END {print sum + 0}"; }
  row() { # TITLE UNPACKED PACKAGE...
    local title=$1 new=$2
    shift 2
    new="$new $(apt-get install -s --no-install-recommends "$@" | awk "/^Inst/ {print \$2}")"
    printf "%-28s %3d packages %4d MB\n" "$title" "$(wc -w <<<"$new")" "$(($(size $new) / 1000))"
  }
  row "the program" "$(least_unpacked program)" $(least_installed program)
  row "program and Python module" "$(least_unpacked module)" $(least_installed module)
  row "everything with its tests" "" "${library_packages[@]}" "${static_packages[@]}" "${module_packages[@]}" "${optional_packages[@]}" \
    "${test_packages[@]}" "${test_data_packages[@]}"
' scripts/packages.sh
