/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

/* Forks while another thread is in its init; the child, which has no such thread, makes a
 * communicator of its own. Usage: plays_forks PLUGIN.so SCENARIO */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faulty_libc.h"
#include "scenario.h"
#include "tuner_player.h"

/* Far more than an init takes: a child that is not through by then never will be. */
enum { patience_s = 20 };

static tuner_t* tuner;

static void* play_first_init(void* argument) {
  (void)argument;
  void* context = open_communicator(tuner, 2, 1, take_line);
  check(tuner->finalize(context) == 0, "finalize succeeds");
  return NULL;
}

static _Noreturn void play_child(void) {
  sys_delay_ms = 0;
  alarm(patience_s);
  void* context = open_communicator(tuner, 2, 1, take_line);
  float table[max_table], before[max_table];
  fill_table(table, 7);
  memcpy(before, table, sizeof table);
  ask(tuner, context, table, 7, 14336);
  check(memcmp(table, before, sizeof table) != 0, "the child's communicator applies");
  check(tuner->finalize(context) == 0, "finalize succeeds");
  _exit(0);
}

static void fork_and_wait(void) {
  const pid_t child = fork();
  if (child == 0) play_child();
  int status = 1;
  check(waitpid(child, &status, 0) == child && status == 0, "a child of an init works");
}

/* The first look into /sys takes long: the fork comes while the machine is read. */
static void play_reading(void) {
  sys_delay_ms = 400;
  pthread_t thread;
  check(pthread_create(&thread, NULL, play_first_init, NULL) == 0, "a thread starts");
  while (looks_into_sys == 0) usleep(1000);
  fork_and_wait();
  pthread_join(thread, NULL);
}

/* Wherever the init is: each round in a process whose first init it is. */
static void play_anywhere(void) {
  enum { rounds = 20 };
  for (int round = 0; round < rounds; ++round) {
    const pid_t process = fork();
    if (process == 0) {
      pthread_t thread;
      check(pthread_create(&thread, NULL, play_first_init, NULL) == 0, "a thread starts");
      usleep((useconds_t)round * 600);
      fork_and_wait();
      pthread_join(thread, NULL);
      _exit(0);
    }
    int status = 1;
    check(waitpid(process, &status, 0) == process && status == 0, "each round ends");
  }
}

int main(int argc, char** argv) {
  const scenario_t scenarios[] = {{"reading", play_reading}, {"anywhere", play_anywhere}};
  if (argc != 3) return 2;
  plugin_path = argv[1];
  void* handle;
  tuner = open_plugin(&handle);
  const int status = play_scenario(argv[2], scenarios, sizeof scenarios / sizeof scenarios[0]);
  if (status == 0) close_plugin(handle);
  return status;
}
