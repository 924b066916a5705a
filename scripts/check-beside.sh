#!/usr/bin/env bash
# Tries a released wheel together with other packages: each line of the table below in a fresh environment for each Python, with
# the tests of the package that are about them. Ends with a table of results; 1 if one of them is bad.
# Usage: scripts/check-beside.sh --wheel FOLDER --work FOLDER [--python INTERPRETER]... [--only NAME]... [--clean]
#   --work: environments and logs, which stay for a look (--clean: only the logs do); --python: default python3; --only: some
#   lines of the table
set -euo pipefail
source=$(realpath "$(dirname "$0")/..")
pythons=() only=() folder='' work='' clean=''
while [ $# -gt 0 ]; do
  case $1 in
    --wheel) folder=$(realpath "$2"); shift 2 ;;
    --work) mkdir -p "$2"; work=$(realpath "$2"); shift 2 ;;
    --python) pythons+=("$2"); shift 2 ;;
    --only) only+=("$2"); shift 2 ;;
    --clean) clean=1; shift ;;
    *) break ;;
  esac
done
if [ $# -gt 0 ] || [ -z "$folder" ] || [ -z "$work" ]; then sed -n '4,6p' "$0" >&2; exit 2; fi
. "$source/scripts/wheels.sh"

table='
numpy-1       numpy==1.26.* pandas==2.* pyarrow==18.* polars scikit-learn
numpy-2       numpy==2.* ml_dtypes
pandas-2      pandas==2.* pyarrow polars datasets
pandas-3      pandas==3.* pyarrow polars datasets
onnxruntime   onnxruntime scikit-learn
jupyter       nbclient ipykernel
jax           jax keras
tensorflow    tensorflow-cpu
torch-2.13    torch==2.13.* onnxscript transformers
torch         torch onnxscript torchvision transformers datasets
everything    torch onnxscript transformers datasets tensorflow-cpu keras jax pandas polars pyarrow onnxruntime scikit-learn
'
tests=("$source"/python/tests/test_{beside,data,given}.py)
bad=0 results=()

# tried PYTHON NAME PACKAGE...: adds a line to the results
tried() {
  local python=$1 name=$2 begin=$SECONDS environment log said
  shift 2
  environment=$work/$("$python" -c 'import platform; print(platform.python_version())')-$name log=$environment.log
  rm -rf "$environment"
  if ! { "$python" -m venv "$environment" && "$environment/bin/pip" install --quiet --only-binary :all: "$wheel" "$@" pytest; } >"$log" 2>&1; then
    said="cannot be installed: $(grep -m 1 -o 'No matching distribution found for.*\|Cannot install.*' "$log" || tail -1 "$log")"
  elif ! "$environment/bin/pip" check >>"$log" 2>&1; then
    said="pip check: $(tail -1 "$log")" bad=1
  else
    tested "$environment" "${tests[@]}" >>"$log" 2>&1 || bad=1
    said=$(grep -E '[0-9]+ (passed|failed|error)' "$log" | tail -1 || true)
    said=${said:-ended without a word: $(tail -1 "$log")}
  fi
  results+=("$(printf '%-8s %-12s %5ss  %s' "$("$python" -c 'import platform; print(platform.python_version())')" "$name" $((SECONDS - begin)) "$said")")
  echo "${results[-1]}" >&2
  if [ -n "$clean" ]; then rm -rf "$environment"; fi
}

for python in "${pythons[@]:-python3}"; do
  wheel=$(wheel_for "$folder" "$python")
  while read -r name packages; do
    [ -n "$name" ] || continue
    if [ ${#only[@]} -gt 0 ] && ! printf '%s\n' "${only[@]}" | grep -qx "$name"; then continue; fi
    read -ra packages <<<"$packages"
    tried "$python" "$name" "${packages[@]}"
  done <<<"$table"
done
echo "== beside other packages"
printf '%s\n' "${results[@]}"
exit $bad
