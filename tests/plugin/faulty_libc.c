/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

#define _GNU_SOURCE
#include "faulty_libc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_steps_back;
int is_sys_failing;
int sys_delay_ms;
atomic_int looks_into_sys;
atomic_int careless_opens;

static int fails_in_sys(const char* path) {
  if (strncmp(path, "/sys", 4) != 0) return 0;
  atomic_fetch_add(&looks_into_sys, 1);
  if (sys_delay_ms > 0) usleep((useconds_t)sys_delay_ms * 1000);
  sys_delay_ms = 0;
  if (is_sys_failing) errno = EIO;
  return is_sys_failing;
}

/* Left to a program that the host starts, or able to wait for somebody. */
static int is_careless(const char* path, int flags) {
  if (!(flags & O_CLOEXEC)) return 1;
  if (flags & O_DIRECTORY) return 0;
  return strncmp(path, "/proc/", 6) != 0 && strncmp(path, "/sys/", 5) != 0 && path[0] == '/' &&
         !(flags & O_NONBLOCK);
}

int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (fails_in_sys(path)) return -1;
  if (is_careless(path, flags)) {
    fprintf(stderr, "opened carelessly: %s\n", path);
    atomic_fetch_add(&careless_opens, 1);
  }
  return (int)syscall(SYS_openat, folder, path, flags, mode);
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return openat(AT_FDCWD, path, flags, mode);
}

DIR* opendir(const char* path) {
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return folder < 0 ? NULL : fdopendir(folder);
}

int faccessat(int folder, const char* path, int mode, int flags) {
  if (fails_in_sys(path)) return -1;
  return (int)syscall(SYS_faccessat2, folder, path, mode, flags);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  static atomic_int looks;
  const int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (clock_steps_back && clock == CLOCK_REALTIME)
    now->tv_sec -= 3600 * atomic_fetch_add(&looks, 1);
  return result;
}

time_t time(time_t* seconds) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (seconds != NULL) *seconds = now.tv_sec;
  return now.tv_sec;
}
