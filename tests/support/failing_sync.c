// Preloaded into the program under test: while the file that FAILING_SYNC names exists, each sync of
// a file called truce.db fails as that of a broken disk does.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int Fails(int file) {
  const char* switched_on = getenv("FAILING_SYNC");
  if (switched_on == NULL || access(switched_on, F_OK) != 0) return 0;
  char link[64];
  char path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  const char* name = strrchr(path, '/');
  return name != NULL && strcmp(name, "/truce.db") == 0;
}

static int Sync(const char* function, int file) {
  if (Fails(file)) {
    errno = EIO;
    return -1;
  }
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, function);
  return real(file);
}

int fsync(int file) { return Sync("fsync", file); }
int fdatasync(int file) { return Sync("fdatasync", file); }
