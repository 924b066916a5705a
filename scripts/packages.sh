# The packages of Debian 12 and 13 that Assay is built from, by what they are for: read by install-dependencies.sh and
# unpack-dependencies.sh.
compiler_packages=(g++ cmake ninja-build pkg-config)
library_packages=(
  libhwy-dev libonnx-dev libprotobuf-dev protobuf-compiler
  libhdf5-dev libzip-dev libarchive-dev zlib1g-dev libpng-dev libjpeg-dev
  libsqlite3-dev libre2-dev libpcre2-dev libutf8proc-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev libfmt-dev libxxhash-dev
)
# Further needs of scripts/release.sh.
release_packages=(dpkg-dev make perl python3-venv python3-six tcl unicode-data xz-utils zip)
optional_packages=(libopenmpi-dev openmpi-bin) # many machines
test_packages=(libgtest-dev libgmock-dev)
test_data_packages=(libonnx-testdata)
python_packages=(python3-dev python3-numpy python3-pip python3-pytest)
nanobind_version=3.1.0 # of PyPI, as Debian 12 has none
