#!/usr/bin/env bash
# Runs the steps of action.yml by hand in a bare Debian 12: installs the wheel, runs gates that hold with a new and with a cached
# profile, one that fails, and a network that is missing. Needs root and debootstrap.
# Usage: scripts/check-action.sh WHEEL [ROOT_OF_DEBIAN]
#   WHEEL: for CPython 3.11; ROOT_OF_DEBIAN: a bare Debian 12 that is there already, which stays as it is
set -euo pipefail
[ $# -ge 1 ] || { sed -n '4,5p' "$0" >&2; exit 2; }
wheel=$(realpath "$1")
cd "$(dirname "$0")/.."
[ "$(id -u)" -eq 0 ] || { echo "SKIPPED: not root" >&2; exit 0; }
source scripts/bare-root.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
base=$(base_root "$work" "${2:-}")
[ -n "$base" ] || exit 0

in_bare_root "$work" "$base" '
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends python3-venv python3-yaml >/dev/null 2>&1
  mkdir -p /job/temp
  cd /job
  export RUNNER_TEMP=/job/temp GITHUB_OUTPUT=/job/output GITHUB_STEP_SUMMARY=/job/summary.md
  step() {
    /usr/bin/python3 -c "import sys, yaml; print(next(s for s in yaml.safe_load(open(\"/given/action.yml\"))[\"runs\"][\"steps\"] if s[\"name\"] == sys.argv[1])[\"run\"])" "$1" >step.sh
    bash -eo pipefail step.sh
  }
  # gates CODE WHAT: the step ends with the code, and its time is shown
  gates() {
    local begin=$(date +%s%N) code=0
    step Gates >log 2>&1 || code=$?
    echo "== $2: code $code, $((($(date +%s%N) - begin) / 1000000)) ms"
    [ "$code" = "$1" ] || { cat log; exit 1; }
  }
  PACKAGE=$(echo /given/*.whl) step "Install Assay"
  PATH=/job/temp/assay/bin:$PATH
  assay train --architecture lenet5 --data digits:5000 --epochs 3 --out net.onnx --quiet >/dev/null
  assay data digits:60000 --write train.npz --quiet >/dev/null
  assay data digits:10000,seed=2 --write test.npz --quiet >/dev/null
  export ASSAY_CI_MODEL=net.onnx ASSAY_CI_TRAIN=train.npz ASSAY_CI_TEST=test.npz ASSAY_CI_FLAGS="-m 6 --criterion idc,nc,kmnc"
  export ASSAY_CI_BASELINE=baseline.json ASSAY_CI_RATCHET=true ASSAY_CI_GATES="idc[m=6]=0.05"
  step "Key of the profile"
  gates 0 "a new profile"
  [ "temp/assay-profiles/$(sed s/key=// output).profile" = "$(echo temp/assay-profiles/*)" ]
  gates 0 "a cached profile"
  grep -q "FAILED" summary.md && exit 1
  ASSAY_CI_GATES="nc=1" gates 2 "a gate that fails"
  grep -q "FAILED" summary.md
  ASSAY_CI_MODEL=missing.onnx gates 7 "a missing network"
' action.yml "$wheel"
