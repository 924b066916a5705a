#!/usr/bin/env bash
# Tries static programs: each runs in a root that holds nothing else, that of aarch64 under qemu, and in the roots that are
# named. Draws the demonstration there, asks questions and compares the documents with those of the program for this
# processor on this system. Ends with 1 where more differs than rounding. Needs root.
# Usage: scripts/check-static.sh FOLDER [ROOT...]
#   FOLDER: assay-linux-x86_64, assay-linux-aarch64 or both; ROOT: a root for this processor, such as debootstrap makes
set -euo pipefail
source=$(realpath "$(dirname "$0")/..")
[ $# -gt 0 ] || { sed -n '5,6p' "$0" >&2; exit 2; }
folder=$(realpath "$1")
shift
[ "$(id -u)" -eq 0 ] || { echo "SKIPPED: not root" >&2; exit 0; }
. "$source/scripts/emulation.sh"
native=$folder/assay-linux-$(uname -m)
[ -x "$native" ] || { echo "there is no $native to compare with" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

questions() {
  cat <<'QUESTIONS'
evaluate evaluate net.onnx digits:100,seed=7
importance importance net.onnx digits:100,seed=7 --layer conv2 --top 5
cover cover net.onnx digits:100,seed=7 --train digits:200 --criterion idc[m=4] --criterion nc --criterion kmnc --criterion nbc --criterion tknc --criterion lsc --criterion dsc --criterion nlc
mutate mutate net.onnx digits:100,seed=7 --operator gf[sigma=0.5] --operator ns --operator nai --operator ws --count 3
attack attack net.onnx digits:30,seed=7 --attack fgsm[eps=0.3] --attack pgd[eps=0.2,steps=3] --attack deepfool --attack cw[iterations=5] --pictures 0 --out attacked
inspect inspect net.onnx digits:100,seed=7 --hypotheses label
select select net.onnx digits:100,seed=7 --by deepgini --size 20
QUESTIONS
}

# asked FOLDER COMMAND...: the documents of all questions in a folder, with the program that the command starts there
asked() {
  local documents=$1 name arguments words
  shift
  "$@" --version | sed -n 1p || return 1
  "$@" demo --records 500 --epochs 1 --out demo --quiet >/dev/null
  while read -r name arguments; do
    read -ra words <<<"$arguments"
    "$@" "${words[@]}" --quiet --threads 2 --json "$name.json" >/dev/null
  done < <(questions)
  [ -s "$documents/demo/report.html" ] || { echo "the demonstration has written no page" >&2; return 1; }
}

here=$work/here
mkdir "$here"
echo "== $(basename "$native") on this system"
(
  cd "$here"
  "$native" train --architecture lenet5 --data digits:1500 --epochs 2 --optimiser adam --learning-rate 0.002 --train-batch 32 --out net.onnx --quiet >/dev/null
  asked "$here" "$native"
)

# in_root ROOT ARGUMENT...: the program there, without a variable of this system
in_root() { env -i /usr/bin/unshare --root "$1" --wd /assay-check /assay-check/assay "${@:2}"; }
failed=0
# tried WHERE ROOT PROGRAM: in a folder of the root, which goes afterwards
tried() {
  local documents=$2/assay-check
  echo "== $(basename "$3") in $1"
  mkdir -p "$documents"
  cp "$here/net.onnx" "$documents"
  cp "$3" "$documents/assay"
  (cd "$documents" && asked "$documents" in_root "$2") &&
    /usr/bin/python3 "$source/scripts/questions.py" --compare "$here" "$documents" || failed=1
  rm -rf "$documents"
}

tried "an empty root" "$work/empty" "$native"
for root in "$@"; do
  about=$(. "$root/etc/os-release" && echo "$PRETTY_NAME")
  tried "${about:-$root}" "$root" "$native"
done
emulated=$folder/assay-linux-aarch64
if [ -x "$emulated" ] && [ "$emulated" != "$native" ] && emulate_aarch64; then
  tried "an empty root under qemu" "$work/emulated" "$emulated"
fi
exit $failed
