#!/usr/bin/env bash
# Installs the build into an empty folder and builds and runs the example project against it.
# Usage: package_test.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >"$work/log"
"$work/prefix/bin/assay" --version
"$source/tests/program/search_path_test.sh" "$work/prefix"
grep -q evaluate "$work/prefix/share/bash-completion/completions/assay"
grep -q '^.TH "ASSAY' "$work/prefix/share/man/man1/assay-evaluate.1"
cp -r "$source/examples/embed" "$work/embed"
cmake -G Ninja -S "$work/embed" -B "$work/embed/build" -DCMAKE_PREFIX_PATH="$work/prefix" >>"$work/log"
cmake --build "$work/embed/build" >>"$work/log" || { cat "$work/log"; exit 1; }
cd "$work"
"$work/embed/build/embed" | tee "$work/output"
grep -qx "output 1.5" "$work/output"

# The Python package, where it was built.
if [ -d "$work/prefix/lib/python3/dist-packages/assay" ]; then
  PYTHONPATH=$work/prefix/lib/python3/dist-packages /usr/bin/python3 -c \
    "import assay; print(assay.__version__, assay.describe_data('digits:5').headline)" | tee "$work/output"
  grep -q "5 records" "$work/output"
fi

# Plug-ins: each does something that the program alone cannot.
cp -r "$source/examples/plugins" "$work/plugins"
cmake -G Ninja -S "$work/plugins" -B "$work/plugins/build" -DCMAKE_PREFIX_PATH="$work/prefix" >>"$work/log"
cmake --build "$work/plugins/build" >>"$work/log" || { cat "$work/log"; exit 1; }
run() { "$work/prefix/bin/assay" "$@" >"$work/output" 2>&1 || { cat "$work/output"; echo "failed: assay $*"; exit 1; }; }
# Adds what a plug-in brings: with() PLUGIN ARGUMENTS... and a pattern that the output must have.
with() { local plugin=$1 pattern=$2; shift 2; run "$@" --plugin "$work/plugins/build/$plugin.so"; grep -q "$pattern" "$work/output" || { cat "$work/output"; echo "no '$pattern': assay $*"; exit 1; }; }
with optimiser 'accuracy' train --architecture lenet1 --data digits:200 --epochs 1 --optimiser sign-sgd --learning-rate 0.001 --out net.onnx
run train --architecture lenet1 --data digits:200 --epochs 1 --seed 2 --out second.onnx
with criterion 'busiest' cover --model net.onnx --train digits:100 --test digits:50,seed=2 --criterion busiest
with criterion 'busiest' cover --model net.onnx --train digits:100 --test digits:50,seed=2 --preset all
with criterion 'most active of their layer' criteria busiest
with attack 'margin-step' attack net.onnx digits:20 --attack 'margin-step[eps=0.2]' --out attacked
with constraint 'left-half' explore net.onnx second.onnx --data digits:20 --constraint left-half --out found
with measure 'exactly where' measures agreement
with hypothesis 'read backwards\|palindrome' hypotheses palindrome
with clusterer 'criteria' criteria
with task 'differ from their target' tasks near
with rule 'neurons' importance --model net.onnx --data digits:100 --rule conv2=absolute
with mutation_operator 'negate' mutate --model net.onnx --test digits:50 --operator negate --count 2
head -c 31360 /dev/zero >ten.f32
with data_format '10 records' data ten.f32,shape=1x28x28
with renderer 'neurons' importance --model net.onnx --data digits:100 --facts facts.txt
grep -q ': ' facts.txt
echo "plugin = [\"$work/plugins/build/criterion.so\"]" >assay.toml
if "$work/prefix/bin/assay" cover --model net.onnx --train digits:100 --test digits:50,seed=2 --criterion busiest >"$work/output" 2>&1; then
  echo "a plug-in of an assay.toml that was found was loaded"; exit 1
fi
grep -q -- "--trust" "$work/output"
run cover --model net.onnx --train digits:100 --test digits:50,seed=2 --criterion busiest --trust
rm assay.toml

# What is no plug-in, or one of another version, is refused.
cp "$work/plugins/build/attack.so" other.so
sed -i 's/assay [0-9][0-9.]*, compiler/assay 9.9.9, compiler/' other.so
for refused in other.so "$work/prefix/bin/assay" missing.so; do
  if "$work/prefix/bin/assay" criteria --plugin "$refused" >"$work/output" 2>&1; then echo "accepted: $refused"; exit 1; fi
done
# Of another version is also one that takes a function that there no longer is.
cat >gone.c <<'END'
extern void _ZN5assay4goneEv(void);
static void enter(void) { _ZN5assay4goneEv(); }
const struct { const char *version, *name; void (*enter)(void); } assay_plugin_entry =
  {"assay 9.9.9, compiler ABI 1, strings 1", "gone", enter};
END
cc -shared -fPIC gone.c -o gone.so
for refused in other.so gone.so; do
  "$work/prefix/bin/assay" criteria --plugin "$refused" >"$work/output" 2>&1 || true
  grep -q "built for 'assay 9.9.9.*build it again with the headers of this version" "$work/output" || { cat "$work/output"; exit 1; }
done
