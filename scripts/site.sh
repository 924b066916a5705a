#!/usr/bin/env bash
# Builds the documentation site in build/site: open build/site/index.html, no server and no network is needed. The pages about
# commands, package and headers are made from a build, which has to exist; its examples and notebooks are run.
# Usage: scripts/site.sh [--build FOLDER] [--out FOLDER]
#   --build: default build/release; --out: default build/site
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/release out=build/site
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift 2 ;;
    --out) out=$(realpath -m "$2"); shift 2 ;;
    *) sed -n '4,5p' "$0" >&2; exit 2 ;;
  esac
done
[ -x "$build/bin/assay" ] || { echo "$build has no program; build first: scripts/build.sh" >&2; exit 1; }

tools=build/site-tools
if ! cmp -s docs/site/requirements.txt "$tools/requirements.txt"; then
  echo "== installing MkDocs in $tools"
  python3 -m venv --clear "$tools"
  "$tools/bin/pip" install --quiet --require-virtualenv -r docs/site/requirements.txt
  cp docs/site/requirements.txt "$tools/requirements.txt"
fi
echo "== pages from $build"
# The interpreter that the package was built for.
PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-/usr/bin/python3}" scripts/site/pages.py "$build/bin/assay" build/site-pages
echo "== site"
NO_MKDOCS_2_WARNING=1 "$tools/bin/mkdocs" build --quiet --strict --config-file build/site-pages.yml --site-dir "$(realpath -m "$out")"
echo "== open $out/index.html"
