#!/bin/sh
# What the program takes from libtorch, for deferred.cpp: DEFERRED_FUNCTION(symbol) and DEFERRED_DATA(symbol, bytes), one a line.
# Usage: symbols.sh NM LIBRARY ARCHIVE...
set -eu
nm=$1 library=$2
shift 2
{
  "$nm" -g "$@" 2> /dev/null | awk 'NF == 2 && $1 == "U" { print "wanted", $2 } NF == 3 { print "ours", $3 }'
  "$nm" -D -S --defined-only "$library" | awk 'NF == 4 { sub(/@.*/, "", $4); print "theirs", $4, $3, $2 }'
} | awk '
  $1 == "wanted" && $2 ~ /^_Z(T[ISV])?(N|NK)?(2at|5torch|3c10)/ { wanted[$2] }
  $1 == "ours" { ours[$2] }
  $1 == "theirs" && $2 in wanted && !($2 in ours) {
    if ($3 == "T" || $3 == "W") print "DEFERRED_FUNCTION(" $2 ")"
    else print "DEFERRED_DATA(" $2 ", 0x" $4 ")"
  }' | LC_ALL=C sort
