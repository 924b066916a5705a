#!/usr/bin/env bash
# Runs a fixed set of commands with two programs and compares what they print and write, so that a change of the
# code is shown not to change results. Usage: scripts/compare-results.sh PROGRAM_BEFORE PROGRAM_AFTER
# What may differ is taken out: times, versions, folder. Ends with 1 when anything else does. COMPARE_IN=FOLDER keeps
# what was written.
set -uo pipefail
if [ $# -ne 2 ]; then
  sed -n '2,5s/^# //p' "$0"
  exit 64
fi
programs=("$(realpath "$1")" "$(realpath "$2")")
root=${COMPARE_IN:-$(mktemp -d)}
[ -n "${COMPARE_IN:-}" ] || trap 'rm -rf "$root"' EXIT
root=$(realpath -m "$root")
rm -rf "$root/before" "$root/after"
mkdir -p "$root/before" "$root/after"

# One command a line: NAME ARGUMENTS. Each runs in the same folder after those above it, with --json NAME.json; its
# console output, exit code and every file that it leaves are compared.
commands() {
  cat <<'COMMANDS'
demo demo --records 500 --epochs 1 --out demo --html demo.html
net train --architecture lenet5 --data digits:1500 --optimiser adam --learning-rate 0.002 --train-batch 32 --epochs 2 --out lenet5.onnx
train train --architecture lenet1 --data digits:800 --optimiser adam --train-batch 32 --validation digits:100,seed=2 --epochs 1 --out lenet1.onnx
tune train --model lenet1.onnx --initialiser keep --optimiser adam --data digits:400,seed=5 --epochs 1 --out tuned.onnx
model model lenet5.onnx --data digits:60 --write copy.onnx
data data digits:100,seed=7 --sheet digits.png --write test.npz
labels data 'digits:100,seed=7,relabel=9>1:0.5' --labels-of digits:100,seed=7 --ids ids.txt
evaluate evaluate --model lenet5.onnx --data digits:100,seed=7 --html evaluate.html --csv evaluate
importance importance --model lenet5.onnx --data digits:60 --layer conv2 --top 5 --heatmaps 2 --out relevance
cover cover --model lenet5.onnx --train digits:200 --test digits:100,seed=7 -m 4,6 --criterion idc --criterion nc --criterion kmnc --criterion lsc --profile net.profile --state first.cov --context day --by-class --html cover.html --fail-under nc=0.99 --expect-accuracy 0.5 --tolerance 0.5
more cover --model lenet5.onnx --profile net.profile --test digits:60,seed=9 -m 4,6 --criterion idc --criterion nc --criterion kmnc --criterion lsc --by-class --context night --state second.cov --junit cover.xml
extend cover --model lenet5.onnx --profile net.profile --test digits:30,seed=9 --criterion idc[m=4] --criterion nc --extend-with noise,fgsm,fgsm[eps=0.2] --made-dir extended
no-better cover --model lenet5.onnx --profile net.profile --test digits:30,seed=9 --criterion nc --no-worse-than cover.json
combine combine first.cov second.cov --out both.cov --fail-under nc=0.1
diff diff first.cov second.cov --examples 4
diff-more diff first.cov both.cov
mutate mutate --model lenet5.onnx --test digits:60,seed=7 --operator gf[sigma=0.5] --operator ns --operator nai --count 3 --state one.mut --matrix kills.csv --killing-subset few.txt --quality 0.5 --fail-under mutation=0.1 --markdown mutate.md
mutate-again mutate --model lenet5.onnx --test digits:60,seed=7 --operator gf[sigma=0.5] --operator ws --count 3 --state one.mut --quality 0.5
mutate-list mutate list --model lenet5.onnx --operator neb --operator lam --count 2
mutate-export mutate export --model lenet5.onnx --mutant ws@conv2#17 --out mutant.onnx
combine-mutants combine one.mut one.mut
select-cover select --model lenet5.onnx --profile net.profile --test digits:60,seed=7 --by minimise --criterion nc --write small.npz --out small.txt
select-additional select --model lenet5.onnx --train digits:100 --test digits:60,seed=7 --by additional --criterion nc --size 10
select-budget select --model lenet5.onnx --profile net.profile --test digits:60,seed=7 --by budget --criterion nc --size 5
select-doubt select --model lenet5.onnx --test digits:60,seed=7 --by deepgini --size 20 --out order.txt
select-surprise select --model lenet5.onnx --train digits:200 --test digits:60,seed=7 --by dsa
select-random select --model lenet5.onnx --test digits:60,seed=7 --by random
attack attack lenet5.onnx digits:40,seed=7 --attack fgsm[eps=0.3] --attack pgd[eps=0.2,steps=3] --attack noise --attack fgsm[eps=0.1] --pictures 2 --out attacked
attack-levels attack lenet5.onnx digits:30,seed=7 --attack fgsm[eps=0.05] --all --levels --only-successful --pictures 1 --out levels
explore explore lenet5.onnx lenet1.onnx --data digits:20,seed=7 --train digits:200 --iterations 10 --pictures 3 --out explored
explore-mutant explore lenet5.onnx --mutant int8@all --mutant ns --mutant gf[sigma=0.5]@conv2#17 --data digits:15,seed=7 --constraint occl[size=10x10] --iterations 5 --out mutants
polluted polluted --data digits:100,relabel=9>1:0.5 --findings explored/findings.npz --truth digits:100 --out suspects.csv --pictures 3 --out-dir polluted
polluted-label polluted --data digits:100 --findings attacked/fgsm.npz --label 1+7 --rank votes --window uniform --window-size 7 --truth ids.txt
retrain retrain lenet5.onnx --train digits:100 --test digits:60,seed=7 --add attacked/noise.npz --count 5 --pool 60 --repeats 2 --epochs 1 --coverage-raising kmnc[sections=50] --checkpoint kept --against noise,fgsm[eps=0.1] --evaluate-on noise --fail-under 'retrained[condition=given,set=test]=0.01'
retrain-votes retrain lenet5.onnx --train digits:100 --test digits:60,seed=7 --add attacked/noise.npz --held-out digits:20,seed=3 --labels majority --voters lenet5.onnx lenet1.onnx tuned.onnx --count 5 --repeats 1 --epochs 1 --against none --evaluate-on none
attacks attacks
attacks-one attacks pgd
criteria criteria
criteria-one criteria kmnc
operators operators
operators-one operators gf
constraints constraints
constraints-one constraints occl
measures measures
measures-one measures pearson
hypotheses hypotheses
hypotheses-one hypotheses label
report report cover.json mutate.json --out report.html
no-model evaluate --data digits:10
no-data cover --model lenet5.onnx
no-training cover --model lenet5.onnx --test digits:10
no-labels train --architecture dave2 --data digits:10 --out dave2.onnx
no-loss train --model lenet5.onnx --data test.npz,targets=x --out none.onnx
no-attack attack lenet5.onnx digits:10 --attack fgms
no-networks explore lenet5.onnx --data digits:10
no-mutant mutate export --model lenet5.onnx --mutant nonsense --out none.onnx
no-criterion select --model lenet5.onnx --test digits:10 --by dsa
no-findings polluted --data digits:10
no-truth polluted --data digits:10 --findings explored/findings.npz --between 1+2+3
no-additions retrain lenet5.onnx --data digits:10 --test digits:10
no-pool retrain lenet5.onnx --train digits:50 --test digits:10 --add test.npz,range=0:1 --count 20 --pool 5 --made-dir few
no-states diff first.cov
no-profile cover --model lenet1.onnx --profile net.profile --test digits:10
no-judging explore lenet5.onnx lenet1.onnx --data digits:10 --plausibility dsa --iterations 1 --out unjudged
no-document report net.profile
COMMANDS
}

# Times, rates, versions and the programs' own paths, in text of any form.
normalised() {
  sed -E -e 's/"(finished|seconds|assay|per_second|commit)": *("[^"]*"|[-0-9.e+]+)/"\1": 0/g' \
    -e 's/(finished|seconds|assay|per_second|commit)","value":("[^"]*"|[-0-9.e+]+)/\1/g' \
    -e 's/[0-9.,]+ (s|records\/s|seconds)\b/TIME/g' -e 's/^( *(seconds of searching|findings per second) +).*/\1/' \
    -e 's/ +[0-9.e+-]+ +([a-z]+\/[a-z0-9-]+\.npz)/ TIME \1/' -e 's/(timestamp|time)="[^"]*"/\1/g' \
    -e 's/ +seconds +file$/ TIME file/' -e 's/^ +-[- ]*$/RULE/' \
    -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/DATE/g'
}

run_all() { # PROGRAM FOLDER
  cd "$2" || exit 70
  while read -r name arguments; do
    read -ra words <<<"$arguments"
    threads=()
    [[ $("$1" "${words[0]}" --help-all 2>/dev/null) == *--threads* ]] && threads=(--threads 2)
    "$1" "${words[@]//\'/}" --quiet "${threads[@]}" --json "$name.json" >"$name.out" 2>"$name.err" </dev/null
    echo "exit code $?" >>"$name.out"
    find . -type f -newer .stamp ! -name .stamp ! -name '*.files' 2>/dev/null | sort >"$name.files"
    touch .stamp
    sleep 0.02
  done < <(commands)
}

(touch "$root/before/.stamp" && run_all "${programs[0]}" "$root/before")
(touch "$root/after/.stamp" && run_all "${programs[1]}" "$root/after")

same_file() { # FILE: of both folders
  cmp -s "$root/before/$1" "$root/after/$1" && return 0
  case $1 in
    *.json | *.html | *.out | *.err | *.csv | *.md | *.xml | *.txt)
      cmp -s <(normalised <"$root/before/$1") <(normalised <"$root/after/$1") ;;
    *) return 1 ;;
  esac
}

different=0
while read -r name arguments; do
  wrong=()
  cmp -s "$root/before/$name.files" "$root/after/$name.files" || wrong+=("the files written")
  while read -r file; do
    same_file "$file" || wrong+=("$file")
  done < <(cat "$root/before/$name.files" "$root/after/$name.files" | sort -u)
  if [ ${#wrong[@]} -eq 0 ]; then
    echo "same       $name"
  else
    echo "DIFFERENT  $name: ${wrong[*]}"
    different=$((different + 1))
  fi
done < <(commands)
echo "$different of $(commands | wc -l) commands differ"
[ "$different" -eq 0 ]
