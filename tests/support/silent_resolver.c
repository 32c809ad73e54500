// getaddrinfo that does not come back for the hosts under "silent.test", while a file is there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*lookup)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                struct addrinfo **found) {
  const char *file = getenv("SILENT_RESOLVER");
  if (host != NULL && file != NULL && strstr(host, ".silent.test") != NULL) {
    while (access(file, F_OK) == 0) usleep(10000);
    return EAI_AGAIN;
  }
  return ((lookup)dlsym(RTLD_NEXT, "getaddrinfo"))(host, service, hints, found);
}
