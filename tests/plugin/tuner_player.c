/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

#define _GNU_SOURCE
#include "tuner_player.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char* plugin_path;
atomic_int info_lines;
atomic_int warn_lines;
static pthread_mutex_t last_line_mutex = PTHREAD_MUTEX_INITIALIZER;
char last_line[1024];

void check(int is_true, const char* claim) {
  if (is_true) return;
  fprintf(stderr, "plays_nccl: not so: %s (last line: %s)\n", claim, last_line);
  exit(1);
}

void take_line(int level, unsigned long flags, const char* file, int line, const char* format,
               ...) {
  (void)flags, (void)file, (void)line;
  char text[sizeof last_line];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  atomic_fetch_add(level == level_warn ? &warn_lines : &info_lines, 1);
  pthread_mutex_lock(&last_line_mutex);
  memcpy(last_line, text, sizeof text);
  pthread_mutex_unlock(&last_line_mutex);
}

tuner_t* open_plugin(void** handle) {
  *handle = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
  if (*handle == NULL) fprintf(stderr, "%s\n", dlerror());
  check(*handle != NULL, "the plugin loads");
  tuner_t* tuner = dlsym(*handle, "ncclTunerPlugin_v6");
  check(tuner != NULL && tuner->name != NULL, "it has a v6 tuner with a name");
  return tuner;
}

void close_plugin(void* handle) {
  check(dlclose(handle) == 0, "the plugin closes");
  check(dlopen(plugin_path, RTLD_NOW | RTLD_NOLOAD) == NULL, "closing it unloads it");
}

static void ignore_line(int level, unsigned long flags, const char* file, int line,
                        const char* format, ...) {
  (void)level, (void)flags, (void)file, (void)line, (void)format;
}

typedef struct {
  tuner_t* tuner;
  uint64_t id;
  size_t ranks;
  logger_t logger;
} other_rank_t;

static void* play_other_rank(void* argument) {
  const other_rank_t* rank = argument;
  void* context = NULL;
  check(rank->tuner->init(&context, rank->id, rank->ranks, 1, rank->logger, NULL, NULL) == 0,
        "init of another rank succeeds");
  check(rank->tuner->finalize(context) == 0, "finalize of another rank succeeds");
  return NULL;
}

void* open_communicator(tuner_t* tuner, size_t ranks, size_t nodes, logger_t logger) {
  static atomic_ullong last_id;
  enum { most_ranks = 8 };
  pthread_t threads[most_ranks];
  other_rank_t rank = {tuner, ((uint64_t)getpid() << 32) + atomic_fetch_add(&last_id, 1), ranks,
                       logger == NULL ? NULL : ignore_line};
  const size_t others = nodes == 1 && ranks > 1 ? ranks - 1 : 0;
  for (size_t i = 0; i < others; ++i) {
    check(pthread_create(&threads[i], NULL, play_other_rank, &rank) == 0, "a rank starts");
  }
  void* context = NULL;
  check(tuner->init(&context, rank.id, ranks, nodes, logger, NULL, NULL) == 0, "init succeeds");
  for (size_t i = 0; i < others; ++i) pthread_join(threads[i], NULL);
  return context;
}

void fill_table(float* table, int algorithms) {
  for (int i = 0; i < algorithms * 3; ++i) table[i] = -1.0F;
  table[0] = 41.0F, table[2] = 97.0F;
  table[3] = 23.0F, table[5] = 110.0F;
}

void ask(tuner_t* tuner, void* context, float* table, int algorithms, size_t bytes) {
  int channels = 0;
  check(tuner->get_coll_info(context, all_reduce, bytes, 1, (float**)table, algorithms, 3, 0,
                             &channels) == 0,
        "getCollInfo succeeds");
  check(channels >= 0 && channels <= 64, "channels are 0 or 1 to 64");
}
