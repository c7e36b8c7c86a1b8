/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

/* What the first init takes in 64 processes that start together, eight communicators of eight
 * ranks. Run by hand: it judges nothing. Usage: plays_starts PLUGIN.so */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tuner_player.h"

static tuner_t* tuner;

typedef struct {
  atomic_int ready, is_started;
  double wall_ms[64], cpu_ms[64];
} inits_t;

static double clock_ms(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void time_first_init(inits_t* inits, int process) {
  void* handle;
  tuner = open_plugin(&handle);
  atomic_fetch_add(&inits->ready, 1);
  while (!inits->is_started) usleep(100);
  const double wall_ms = clock_ms(CLOCK_MONOTONIC), cpu_ms = clock_ms(CLOCK_PROCESS_CPUTIME_ID);
  void* context = NULL;
  const uint64_t communicator = ((uint64_t)getppid() << 32) + (uint64_t)process / 8;
  check(tuner->init(&context, communicator, 8, 1, NULL, NULL, NULL) == 0, "init succeeds");
  inits->wall_ms[process] = clock_ms(CLOCK_MONOTONIC) - wall_ms;
  inits->cpu_ms[process] = clock_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu_ms;
  check(tuner->finalize(context) == 0, "finalize succeeds");
  _exit(0);
}

static int compare_ms(const void* a, const void* b) {
  const double left = *(const double*)a, right = *(const double*)b;
  return (left > right) - (left < right);
}

int main(int argc, char** argv) {
  enum { processes = 64 };
  if (argc != 2) return 2;
  plugin_path = argv[1];
  inits_t* inits =
      mmap(NULL, sizeof *inits, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  check(inits != MAP_FAILED, "memory can be shared");
  for (int i = 0; i < processes; ++i)
    if (fork() == 0) time_first_init(inits, i);
  while (inits->ready < processes) usleep(1000);
  inits->is_started = 1;
  while (wait(NULL) > 0) continue;
  qsort(inits->wall_ms, processes, sizeof(double), compare_ms);
  qsort(inits->cpu_ms, processes, sizeof(double), compare_ms);
  printf("init of %d processes at once: median %.1f ms, worst %.1f; processor time %.2f ms each\n",
         processes, inits->wall_ms[processes / 2], inits->wall_ms[processes - 1],
         inits->cpu_ms[processes / 2]);
  return 0;
}
