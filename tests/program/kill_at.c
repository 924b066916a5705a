/* Preloaded into the program: kills it just before the ASSAY_KILL_AT-th call that changes a file (creation, write,
   rename, unlink, truncation or sync of a regular file), so that tests of going on after a kill depend on no clock.
   ASSAY_KILL_WITH names another signal than SIGKILL; ASSAY_KILL_TIMES sends it so often. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;

static void count(void) {
  const char* at = getenv("ASSAY_KILL_AT");
  const char *with = getenv("ASSAY_KILL_WITH"), *times = getenv("ASSAY_KILL_TIMES");
  if (!at || atomic_fetch_add(&calls, 1) + 1 != atol(at)) return;
  for (long i = 0; i < (times ? atol(times) : 1); ++i) kill(getpid(), with ? atoi(with) : SIGKILL);
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
int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if ((flags & O_CREAT) && access(path, F_OK) != 0) count();
  return REAL("open", int (*)(const char*, int, ...))(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if ((flags & O_CREAT) && access(path, F_OK) != 0) count();
  return REAL("open64", int (*)(const char*, int, ...))(path, flags, mode);
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
ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t at) {
  count_file(file);
  return REAL("pwrite64", ssize_t(*)(int, const void*, size_t, off64_t))(file, bytes, size, at);
}
int ftruncate64(int file, off64_t size) {
  count_file(file);
  return REAL("ftruncate64", int (*)(int, off64_t))(file, size);
}
int rename(const char* from, const char* to) {
  count();
  return REAL("rename", int (*)(const char*, const char*))(from, to);
}
int unlink(const char* path) {
  count();
  return REAL("unlink", int (*)(const char*))(path);
}
