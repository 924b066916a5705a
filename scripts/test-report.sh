#!/usr/bin/env bash
# Checks the HTML report: style, types, unit tests, that the committed page is what its sources build, and the page
# in a headless browser. Without Node, or without what is installed from package-lock.json, it says so and passes (77
# where ASSAY_SKIP_CODE=77); without a browser the tests in it are left out, loudly.
set -euo pipefail
cd "$(dirname "$0")/../web/report"

skip() {
  echo "SKIPPED: $1" >&2
  exit "${ASSAY_SKIP_CODE:-0}"
}

command -v node >/dev/null && command -v npm >/dev/null || skip "no Node; the committed page was not checked"
if [ ! -d node_modules ]; then
  npm install --no-save --no-audit --no-fund --silent || skip "npm cannot install the packages of web/report"
fi

echo "== style"
npm run --silent lint
echo "== types"
npm run --silent types
echo "== unit tests"
npm run --silent test
echo "== the committed page"
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
npm run --silent build -- --outDir "$built" --emptyOutDir >/dev/null
if ! cmp "$built/report.html" dist/report.html; then
  echo "web/report/dist/report.html is not what its sources build; run 'npm run build' in web/report and commit it" >&2
  exit 1
fi
echo "== in a browser"
for name in "${ASSAY_BROWSER:-}" chromium chromium-browser google-chrome; do
  if [ -n "$name" ] && browser=$(command -v "$name"); then
    ASSAY_BROWSER=$browser npm run --silent test:browser
    exit
  fi
done
echo "SKIPPED: no browser (chromium, or a path in ASSAY_BROWSER); the page was not opened" >&2
