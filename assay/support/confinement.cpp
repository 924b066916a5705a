#include "assay/support/confinement.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#endif

#include <cstdint>

namespace assay::inline support {

#ifdef LANDLOCK_ACCESS_FS_MAKE_SYM
namespace {

// All rights to write that the first version of Landlock knows.
constexpr std::uint64_t first_rights = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                       LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                       LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                       LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                       LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
// Moving files between folders, from version 2; cutting them off, from version 3.
constexpr std::uint64_t move_right = std::uint64_t{1} << 13, cut_right = std::uint64_t{1} << 14;

void allow(int rules, const char* folder, std::uint64_t rights) {
  landlock_path_beneath_attr beneath{};
  beneath.allowed_access = rights;
  beneath.parent_fd = ::open(folder, O_PATH | O_CLOEXEC);
  if (beneath.parent_fd < 0) return;
  ::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
  ::close(beneath.parent_fd);
}

}  // namespace

void confine_writes(const char* folder) {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return;
  landlock_ruleset_attr handled{};
  handled.handled_access_fs = first_rights | (version > 1 ? move_right : 0) | (version > 2 ? cut_right : 0);
  const int rules =
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, sizeof handled.handled_access_fs, 0));
  if (rules < 0) return;
  allow(rules, folder, handled.handled_access_fs);
  allow(rules, "/dev", handled.handled_access_fs);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::syscall(SYS_landlock_restrict_self, rules, 0);
  ::close(rules);
}
#else
void confine_writes(const char*) {}
#endif

}  // namespace assay::inline support
