/* Preloaded into the program: kills it just before the ASSAY_KILL_AT-th call that changes a file (write, rename,
   unlink, truncate or sync of a regular file), so that tests of going on after a kill depend on no clock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;

static void count(void) {
  const char* at = getenv("ASSAY_KILL_AT");
  if (at && atomic_fetch_add(&calls, 1) + 1 == atol(at)) kill(getpid(), SIGKILL);
}

static void count_file(int file) {
  struct stat about;
  if (fstat(file, &about) == 0 && S_ISREG(about.st_mode)) count();
}

#define REAL(name, ...) ((__VA_ARGS__)dlsym(RTLD_NEXT, name))

ssize_t write(int file, const void* bytes, size_t size) {
  count_file(file);
  return REAL("write", ssize_t(*)(int, const void*, size_t))(file, bytes, size);
}
ssize_t writev(int file, const struct iovec* parts, int number) {
  count_file(file);
  return REAL("writev", ssize_t(*)(int, const struct iovec*, int))(file, parts, number);
}
int fsync(int file) {
  count_file(file);
  return REAL("fsync", int (*)(int))(file);
}
int fdatasync(int file) {
  count_file(file);
  return REAL("fdatasync", int (*)(int))(file);
}
int ftruncate(int file, off_t size) {
  count_file(file);
  return REAL("ftruncate", int (*)(int, off_t))(file, size);
}
int rename(const char* from, const char* to) {
  count();
  return REAL("rename", int (*)(const char*, const char*))(from, to);
}
int unlink(const char* path) {
  count();
  return REAL("unlink", int (*)(const char*))(path);
}
