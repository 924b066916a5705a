#!/usr/bin/env bash
# Runs every command in the documentation: the lines of fenced `sh` blocks in README.md and docs/. Blocks fenced as
# `console` are for show. All blocks run in one folder prepared with the files the documentation speaks of:
#   net.onnx (a LeNet-5 trained for a moment on digits), train.npz, test.npz.
# Usage: documentation_test.sh PROGRAM SOURCE_DIR
set -uo pipefail
program=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/run"
ln -s "$program" "$work/bin/assay"
export PATH="$work/bin:$PATH"
cd "$work/run" || exit 1

prepare() { "$@" >prepare.log 2>&1 || { echo "preparing failed: $*"; cat prepare.log; exit 1; }; }
prepare assay train --architecture lenet5 --data digits:3000 --epochs 2 --out net.onnx
prepare assay data digits:1000 --write train.npz
prepare assay data digits:300,seed=2 --write test.npz

count=0 failed=0
while IFS= read -r -d '' page; do
  # Commands of `sh` blocks, with lines that end in a backslash joined.
  while IFS= read -r command; do
    [[ -n "$command" && "$command" != \#* ]] || continue
    count=$((count + 1))
    if ! bash -c "set -e; $command" >log 2>&1 </dev/null; then
      failed=$((failed + 1))
      echo "FAILED ${page#"$source"/}: $command"
      sed 's/^/    /' log
    fi
  done < <(awk '/^```sh$/ {inside = 1; next} /^```/ {inside = 0} inside' "$page" | sed -e ':a' -e '/\\$/N; s/\\\n//; ta')
done < <(find "$source/README.md" "$source/docs" -name '*.md' -print0)
# Pages quote examples as they are: the block after a comment that names a file is that file.
quoted=0
while IFS=: read -r page line file; do
  quoted=$((quoted + 1))
  if ! diff <(sed -n "$((line + 2)),\$p" "$page" | sed '/^```$/,$d') "$source/$file" >log; then
    failed=$((failed + 1))
    echo "FAILED ${page#"$source"/}: it does not quote $file as it is"
    cat log
  fi
done < <(grep -rnoE '^<!-- examples/[a-z/_]+\.cpp -->$' "$source/docs" | sed -e 's/<!-- //' -e 's/ -->//')
# And of the sources: the block after such a comment stands in the file that it names.
while IFS=: read -r page line file; do
  quoted=$((quoted + 1))
  if [[ $(<"$source/$file") != *"$(sed -n "$((line + 2)),\$p" "$page" | sed '/^```$/,$d')"* ]]; then
    failed=$((failed + 1))
    echo "FAILED ${page#"$source"/}: what it quotes in line $line is not in $file"
  fi
done < <(grep -rnoE '^<!-- in [a-z/_]+\.(cpp|h) -->$' "$source/docs" | sed -e 's/<!-- in //' -e 's/ -->//')
[ "$quoted" -ge 6 ] || failed=$((failed + 1))
echo "$quoted pieces of source are quoted"
echo "$count commands of the documentation ran, $failed failed"
[ "$count" -ge 8 ] && [ "$failed" -eq 0 ]
