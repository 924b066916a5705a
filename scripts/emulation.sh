# Common part of check-static.sh and check-aarch64.sh.

# The kernel hands programs of aarch64 to qemu, in every root. 1 where there is no qemu, and says so.
emulate_aarch64() {
  command -v qemu-aarch64-static >/dev/null || { echo "SKIPPED: no qemu-aarch64-static" >&2; return 1; }
  local formats=/proc/sys/fs/binfmt_misc
  [ -e $formats/register ] || mount -t binfmt_misc none $formats
  [ ! -e $formats/qemu-aarch64 ] || return 0
  local zeros='\x00\x00\x00\x00\x00\x00\x00\x00' ones='\xff\xff\xff\xff\xff\xff\xff\xff'
  printf '%s' ":qemu-aarch64:M::\\x7fELF\\x02\\x01\\x01\\x00$zeros\\x02\\x00\\xb7\\x00:${ones/%\\xff/\\x00}$ones\\xfe\\xff\\xff\\xff:$(command -v qemu-aarch64-static):F" \
    >$formats/register
}
