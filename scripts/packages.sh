# The packages of Debian 12 and 13 that Assay is built from, by what they are for: read by install-dependencies.sh,
# unpack-dependencies.sh and count-packages.sh.
compiler_packages=(g++ cmake ninja-build pkg-config)
library_packages=(
  libhwy-dev libonnx-dev libprotobuf-dev
  libhdf5-dev libminizip-dev libarchive-dev zlib1g-dev libpng-dev libjpeg62-turbo-dev
  libsqlite3-dev libre2-dev libpcre2-dev libutf8proc-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev libfmt-dev libxxhash-dev
)
# What static libraries of these need to be linked into the program.
static_packages=(libaec-dev libbz2-dev liblzma-dev)
# For the Python module. pip is used as the wheel that Debian has of it: the package python3-pip brings five others.
pip_packages=(python3 python3-pip-whl)
module_packages=("${pip_packages[@]}" libpython3-dev)
nanobind_version=3.1.0 # of PyPI, as Debian 12 has none
# Further needs of scripts/release.sh.
release_packages=(dpkg-dev make perl protobuf-compiler python3-venv python3-six tcl unicode-data xz-utils zip)
optional_packages=(libopenmpi-dev openmpi-bin) # many machines
test_packages=(libgtest-dev libgmock-dev libzip-dev python3-numpy python3-pytest)
test_data_packages=(libonnx-testdata)

# What program and Python module need, and no more: of these packages a build reads headers, static libraries and links, while
# they depend on others that it does not need, two dozen together. They are unpacked and not installed.
unpacked_packages=(
  libaec-dev libhdf5-dev libminizip-dev libonnx-dev libpcre2-dev libprotobuf-dev libsqlite3-dev libtomlplusplus-dev libutf8proc-dev
)
# depended PACKAGE PATTERN: of what the package depends on, that of the name.
depended() { apt-cache depends "$1" | awk -v name="^$2\$" '$1 == "Depends:" && $2 ~ name {print $2}'; }
# least_unpacked program|module, least_installed program|module: beside a compiler. From the archive's lists.
least_unpacked() {
  printf '%s\n' "${unpacked_packages[@]}"
  [ "$1" = program ] || depended libpython3-dev 'libpython3[.0-9]+-dev'
}
least_installed() {
  local package
  for package in "${library_packages[@]}" "${static_packages[@]}"; do
    [[ " ${unpacked_packages[*]} " == *" $package "* ]] || echo "$package"
  done
  depended libonnx-dev 'libonnx[0-9].*'
  depended libprotobuf-dev 'libprotobuf[0-9].*'
  [ "$1" = program ] || { depended libhdf5-dev 'libhdf5-[0-9].*' && printf '%s\n' "${pip_packages[@]}"; }
}
