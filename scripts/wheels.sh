# Common parts of check-wheel.sh and check-beside.sh; both set `source` and `work`.

# wheel_for FOLDER PYTHON: the released wheel for an interpreter on this machine
wheel_for() {
  local tag=cp312-abi3
  case $("$2" -c 'import platform; print(platform.python_version())') in 3.11.*) tag=cp311-cp311 ;; esac
  local found=("$1"/assay-*-"$tag"-*_"$(uname -m)".whl)
  [ -e "${found[0]}" ] || { echo "$1 has no wheel $tag for $2" >&2; return 1; }
  echo "${found[0]}"
}

# tested ENVIRONMENT TEST...: the package's tests with what is installed there
tested() {
  local environment=$1
  shift
  (cd "$work" && PATH=$environment/bin:$PATH ASSAY_PROGRAM=$environment/bin/assay ASSAY_SOURCE_DIR=$source PYTHONDONTWRITEBYTECODE=1 \
    "$environment/bin/python" -m pytest -q -p no:cacheprovider --rootdir "$work" -c /dev/null "$@")
}
