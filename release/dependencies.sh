#!/usr/bin/env bash
# Builds the static libraries that released forms of Assay stand on, for one target, from unpacked sources.
# Usage: release/dependencies.sh SOURCES TOOLS PREFIX
#   SOURCES: a folder that release/sources.sh made; TOOLS: a folder that release/toolchain.sh made; PREFIX: where they go
# A library that is in the prefix already, made in the same way of the same sources, is left alone.
set -euo pipefail
sources=$(realpath "$1") tools=$(realpath "$2") prefix=$(realpath -m "$3") lock=$(realpath "$(dirname "$0")/sources.lock")
work=$prefix.work
mkdir -p "$prefix" "$prefix/done" "$work"
export CFLAGS CXXFLAGS
export SOURCE_DATE_EPOCH=315532800 # one day for every commit: libjpeg has it in what it is

# optimised LEVEL: what is built from here on. Few functions of the libraries take time, and what is small is quick to
# install.
optimised() { CFLAGS="-O$1 -g0 -fPIC -ffile-prefix-map=$sources=. -ffile-prefix-map=$work=." CXXFLAGS=$CFLAGS; }

# with_cmake NAME FOLDER [ARGUMENT...]
with_cmake() {
  local name=$1 source=$sources/$2
  shift 2
  cmake -S "$source" -B "$work/$name" -G "Unix Makefiles" -DCMAKE_TOOLCHAIN_FILE="$tools/toolchain.cmake" -DCMAKE_BUILD_TYPE= \
    -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR:STRING=lib -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_POLICY_VERSION_MINIMUM=3.5 \
    -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON "$@"
  cmake --build "$work/$name" -j "$(nproc)"
  cmake --install "$work/$name"
}

# with_compiler LIBRARY FILE...: a static library of C sources that need no configuring.
with_compiler() {
  local library=$1 objects=() file object
  shift
  for file in "$@"; do
    object=$work/$library.$(basename "$file").o
    # shellcheck disable=SC2086 # flags are many words
    "$tools/cc" $CFLAGS -c "$file" -o "$object" "${flags[@]}"
    objects+=("$object")
  done
  "$tools/ar" rcs "$prefix/lib/lib$library.a" "${objects[@]}"
}

build_fmt() { with_cmake fmt fmtlib -DFMT_TEST=OFF -DFMT_DOC=OFF; }
# Of what it contributes only headers are used, and the rest takes minutes.
build_highway() {
  with_cmake highway highway -DHWY_ENABLE_TESTS=OFF -DHWY_ENABLE_EXAMPLES=OFF -DHWY_ENABLE_CONTRIB=OFF
  (cd "$sources/highway" && cp --parents hwy/contrib/*/*.h "$prefix/include")
}
build_zlib() {
  local flags=(-DHAVE_UNISTD_H -D_FILE_OFFSET_BITS=64)
  with_compiler z "$sources"/zlib/{adler32,compress,crc32,deflate,gzclose,gzlib,gzread,gzwrite,infback,inffast,inflate,inftrees,trees,uncompr,zutil}.c
  cp "$sources"/zlib/{zlib,zconf}.h "$prefix/include"
}
build_bzip2() {
  local flags=(-D_FILE_OFFSET_BITS=64)
  with_compiler bz2 "$sources"/bzip2/{blocksort,bzlib,compress,crctable,decompress,huffman,randtable}.c
  cp "$sources/bzip2/bzlib.h" "$prefix/include"
}
build_xz() { with_cmake xz xz-utils -DBUILD_TESTING=OFF; }
build_zstd() {
  with_cmake zstd libzstd/build/cmake -DZSTD_BUILD_PROGRAMS=OFF -DZSTD_BUILD_SHARED=OFF -DZSTD_BUILD_TESTS=OFF -DZSTD_MULTITHREAD_SUPPORT=OFF
}
build_png() { with_cmake png libpng1.6 -DPNG_SHARED=OFF -DPNG_TESTS=OFF -DPNG_EXECUTABLES=OFF -DPNG_TOOLS=OFF; }
build_jpeg() { with_cmake jpeg libjpeg-turbo -DENABLE_SHARED=OFF -DWITH_TURBOJPEG=OFF -DWITH_JPEG8=OFF -DREQUIRE_SIMD=OFF; }
build_archive() {
  local off=() feature
  for feature in MBEDTLS NETTLE OPENSSL LIBB2 LZ4 LZO LIBXML2 EXPAT CNG TAR CPIO CAT UNZIP XATTR ACL ICONV TEST; do
    off+=("-DENABLE_$feature=OFF")
  done
  with_cmake archive libarchive "${off[@]}" -DENABLE_WERROR=OFF -DPOSIX_REGEX_LIB=NONE
  rm -f "$prefix"/lib/libarchive.so* # it makes both
  # What it needs comes with it: those who look for it know nothing of that.
  local merged=$work/merged library
  mkdir -p "$merged"
  (
    cd "$merged"
    for library in archive lzma bz2 zstd; do "$tools/ar" x "$prefix/lib/lib$library.a"; done
    rm "$prefix/lib/libarchive.a"
    "$tools/ar" rcs "$prefix/lib/libarchive.a" -- *.o
  )
}
# Without its encryption, which nothing calls: it reads zlib's table of 32 bits as one of 64, which clang refuses.
build_minizip() {
  local flags=(-I "$sources/zlib" -DNOCRYPT)
  with_compiler minizip "$sources"/minizip/{ioapi,unzip,zip}.c
  mkdir -p "$prefix/include/minizip"
  cp "$sources"/minizip/{ioapi,unzip,zip}.h "$prefix/include/minizip"
}
build_sqlite() {
  local flags=(-DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_THREADSAFE=1 -DSQLITE_DQS=0 -DSQLITE_ENABLE_COLUMN_METADATA)
  with_compiler sqlite3 "$sources/amalgamation/sqlite3.c"
  cp "$sources/amalgamation/sqlite3.h" "$prefix/include"
}
build_re2() {
  with_cmake re2 re2 -DRE2_BUILD_TESTING=OFF
  printf 'Name: re2\nDescription: regular expressions\nVersion: 9\nCflags: -I%s/include\nLibs: -L%s/lib -lre2\n' "$prefix" "$prefix" \
    >"$prefix/lib/pkgconfig/re2.pc"
}
build_pcre2() {
  with_cmake pcre2 pcre2 -DPCRE2_BUILD_TESTS=OFF -DPCRE2_BUILD_PCRE2GREP=OFF -DPCRE2_SUPPORT_UNICODE=ON -DBUILD_STATIC_LIBS=ON
}
build_utf8proc() { with_cmake utf8proc utf8proc; }
build_hdf5() {
  # Its summary of a build would tell the day and the folders of the building machine.
  cp "$sources/hdf5/src/H5build_settings.off.c.in" "$sources/hdf5/src/H5build_settings.cmake.c.in"
  with_cmake hdf5 hdf5 -DBUILD_TESTING=OFF -DHDF5_BUILD_TOOLS=OFF -DHDF5_BUILD_EXAMPLES=OFF -DHDF5_BUILD_CPP_LIB=OFF -DHDF5_BUILD_HL_LIB=OFF \
    -DHDF5_BUILD_FORTRAN=OFF -DHDF5_ENABLE_Z_LIB_SUPPORT=ON -DHDF5_ENABLE_SZIP_SUPPORT=OFF -DHDF5_ENABLE_PLUGIN_SUPPORT=OFF \
    -DHDF5_ENABLE_ROS3_VFD=OFF -DHDF5_ENABLE_HDFS=OFF -DHDF5_ENABLE_MAP_API=OFF -DHDF5_GENERATE_HEADERS=OFF
}
build_protobuf() {
  with_cmake protobuf protobuf -Dprotobuf_BUILD_TESTS=OFF -Dprotobuf_BUILD_PROTOC_BINARIES=OFF -Dprotobuf_WITH_ZLIB=OFF \
    -Dprotobuf_BUILD_LIBPROTOC=OFF
}
# The classes of ONNX's messages; protoc of the building machine has the version of the library.
build_onnx() {
  mkdir -p "$prefix/include/onnx" "$work/onnx"
  protoc -I "$sources/onnx" --cpp_out="$work" "$sources/onnx/onnx/onnx-ml.proto"
  cp "$work/onnx/onnx-ml.pb.h" "$prefix/include/onnx"
  printf '#pragma once\n#include "onnx/onnx-ml.pb.h"\n' >"$prefix/include/onnx/onnx_pb.h"
  # shellcheck disable=SC2086
  "$tools/c++" $CXXFLAGS -std=c++17 -I "$prefix/include" -I "$work" -c "$work/onnx/onnx-ml.pb.cc" -o "$work/onnx-ml.o"
  "$tools/ar" rcs "$prefix/lib/libonnx_proto.a" "$work/onnx-ml.o"
}
# For static programs memory for many threads, that keeps what it has: the static C library's waits for one lock, and
# pages that go back to the system come again as faults.
build_jemalloc() {
  local processor
  processor=$(basename "$tools" | cut -d- -f1)
  mkdir -p "$work/jemalloc"
  cd "$work/jemalloc"
  CC=$tools/cc AR=$tools/ar RANLIB=$tools/ranlib "$sources/jemalloc/configure" --host="$processor-linux" --disable-cxx --disable-shared \
    --disable-stats --disable-fill --disable-libdl --with-lg-page=16 --with-lg-hugepage=21 \
    --with-malloc-conf=dirty_decay_ms:-1,muzzy_decay_ms:-1
  make -j "$(nproc)" lib/libjemalloc.a
  cp lib/libjemalloc.a "$prefix/lib"
}
# Headers alone, which are the same on every machine, with what find_package looks for.
build_headers() {
  cp -r "$sources"/headers/* "$prefix/include"
  local library name target
  for library in "CLI11 CLI11::CLI11" "nlohmann_json nlohmann_json::nlohmann_json" "tomlplusplus tomlplusplus::tomlplusplus"; do
    read -r name target <<<"$library"
    mkdir -p "$prefix/lib/cmake/$name"
    printf 'add_library(%s INTERFACE IMPORTED)\ntarget_include_directories(%s INTERFACE "%s/include")\n' "$target" "$target" "$prefix" \
      >"$prefix/lib/cmake/$name/${name}Config.cmake"
  done
}

# All that decides the bytes of a library.
recipe_of() { { echo "$CFLAGS $SOURCE_DATE_EPOCH"; declare -f with_cmake with_compiler "build_$1"; cat "$lock" "$tools"/*; } | sha256sum; }

mkdir -p "$prefix/include" "$prefix/lib"
allocator=
[[ $tools != *-musl ]] || allocator=jemalloc
for name in fmt highway zlib bzip2 xz zstd png jpeg archive minizip sqlite re2 pcre2 utf8proc hdf5 protobuf onnx headers $allocator; do
  log=$work/$name.log
  case $name in
    zlib | zstd | png | jpeg | highway | jemalloc) optimised 3 ;;
    *) optimised s ;;
  esac
  recipe=$(recipe_of "$name")
  [ "$(cat "$prefix/done/$name" 2>/dev/null)" != "$recipe" ] || continue
  rm -rf "${work:?}/$name"
  # In a process of its own that ends at the first fault, which it would not as a condition.
  set +e
  (set -e; "build_$name") >"$log" 2>&1
  status=$?
  set -e
  if [ $status -ne 0 ]; then
    tail -20 "$log" >&2
    echo "== $name was not built: $log" >&2
    exit 1
  fi
  echo "$recipe" >"$prefix/done/$name"
  echo "== $name"
done
