// Preloaded into the program under test: its wall clock is ahead by the milliseconds that stand,
// as text, in the file that SHIFTED_CLOCK names. The monotonic clock is left alone.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long ShiftMilliseconds(void) {
  const char* path = getenv("SHIFTED_CLOCK");
  const int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[32] = {0};
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  return size > 0 ? strtoll(text, NULL, 10) : 0;
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  static int (*real)(clockid_t, struct timespec*);
  if (real == NULL) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  const int result = real(clock, time);
  if (result == 0 && clock == CLOCK_REALTIME) {
    const long long shift = ShiftMilliseconds();
    time->tv_sec += shift / 1000;
    time->tv_nsec += shift % 1000 * 1000000;
    if (time->tv_nsec >= 1000000000) {
      time->tv_nsec -= 1000000000;
      ++time->tv_sec;
    }
  }
  return result;
}
