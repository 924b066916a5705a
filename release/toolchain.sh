#!/usr/bin/env bash
# Makes compilers for a target: four small programs and a CMake tool-chain file, in a folder. The compiler is clang with
# libc++ as `ziglang` of PyPI has it, which brings every C library that we build for.
# Usage: release/toolchain.sh TARGET FOLDER PYTHON
#   TARGET: x86_64-linux-gnu.2.28, aarch64-linux-gnu.2.28 (modules of Python), x86_64-linux-musl, aarch64-linux-musl (static)
#   PYTHON: an interpreter that has ziglang
set -euo pipefail
target=$1 folder=$(realpath -m "$2") python=$(realpath -s "$3")
processor=${target%%-*}
mkdir -p "$folder"

# Without an optimisation level the compiler would put checks into the code. Functions are kept apart, so that the linker leaves out
# those that nobody calls.
for language in cc c++; do
  cat >"$folder/$language" <<EOF
#!/bin/sh
exec "$python" -m ziglang $language -target $target -fno-sanitize=undefined -ffunction-sections -fdata-sections "\$@"
EOF
done
for tool in ar ranlib; do
  printf '#!/bin/sh\nexec "%s" -m ziglang %s "$@"\n' "$python" "$tool" >"$folder/$tool"
done
chmod +x "$folder"/{cc,c++,ar,ranlib}

{
  if [ "$processor" != "$(uname -m)" ]; then
    echo "set(CMAKE_SYSTEM_NAME Linux)"
    echo "set(CMAKE_SYSTEM_PROCESSOR $processor)"
    echo "set(CMAKE_CROSSCOMPILING_EMULATOR qemu-$processor-static;-L;/usr/$processor-linux-gnu)"
  fi
  echo "set(CMAKE_C_COMPILER $folder/cc)"
  echo "set(CMAKE_CXX_COMPILER $folder/c++)"
  echo "set(CMAKE_AR $folder/ar CACHE FILEPATH \"\")"
  echo "set(CMAKE_RANLIB $folder/ranlib CACHE FILEPATH \"\")"
  # What lies in the prefix of the target, and nothing of this machine.
  echo "set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)"
  echo "set(CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH ON)"
  echo "set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)"
} >"$folder/toolchain.cmake"
