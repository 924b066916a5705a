#!/usr/bin/env bash
# No program, library or module in these folders looks for libraries in the folder in which somebody stands: every part of its search
# path, and every library that it names by a path, begins at the root or at its own folder. The programs named assay also start among
# planted libraries of the names that they need.
# Usage: search_path_test.sh FOLDER...
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0 seen=0
while IFS= read -r -d '' file; do
  [ "$(head -c 4 "$file" | tail -c 3)" = ELF ] || continue
  dynamic=$(readelf -dW "$file" 2>/dev/null || true)
  seen=$((seen + 1))
  while IFS= read -r path; do
    while IFS= read -r part; do
      case $part in
        /* | '$ORIGIN' | '$ORIGIN/'*) ;;
        *) echo "$file: its search path '$path' has the part '$part'"; wrong=1 ;;
      esac
    done < <(tr ':' '\n' <<<"$path")
  done < <(sed -nE 's/.*\((RPATH|RUNPATH)\).*\[(.*)\]$/\2/p' <<<"$dynamic")
  while IFS= read -r needed; do
    case $needed in
      /* | '$ORIGIN/'*) ;;
      */*) echo "$file: needs the library '$needed' of any folder"; wrong=1 ;;
    esac
  done < <(sed -nE 's/.*\(NEEDED\).*\[(.*)\]$/\1/p' <<<"$dynamic")
  if [ "$(basename "$file")" = assay ] && [ -x "$file" ]; then
    program=$(realpath "$file")
    for library in $(sed -nE 's/.*\(NEEDED\).*\[([^/]*)\]$/\1/p' <<<"$dynamic"); do : >"$work/$library"; done
    (cd "$work" && "$program" --version >/dev/null) || { echo "$file: takes libraries of the current folder"; wrong=1; }
  fi
done < <(find "$@" -type f \( -perm -u+x -o -name '*.so*' \) -size +1k -not -path '*/CMakeFiles/*' -print0)
[ "$seen" -gt 0 ] || { echo "no program and no library in $*"; exit 1; }
echo "$seen programs, libraries and modules"
exit "$wrong"
