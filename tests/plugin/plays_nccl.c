/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

/* Plays NCCL to the built plugin, as a C program that shares no header with it: opens it with
 * RTLD_NOW | RTLD_LOCAL, makes communicators, asks, destroys them and closes it.
 * Usage: plays_nccl PLUGIN.so SCENARIO */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenario.h"
#include "tuner_player.h"

static void play_once(logger_t logger) {
  void* handle;
  tuner_t* tuner = open_plugin(&handle);
  void* context = open_communicator(tuner, 8, 1, logger);
  float table[max_table];
  fill_table(table, 7);
  ask(tuner, context, table, 7, 14336);
  for (int i = 0; i < 21; ++i) {
    check(table[i] >= 0.0F || table[i] == -1.0F, "forbidden entries stay as they were");
    check((table[i] >= 0.0F) == (i == 0 || i == 2 || i == 3 || i == 5), "none is revived");
  }
  check(tuner->finalize(context) == 0, "finalize succeeds");
  close_plugin(handle);
}

static void play_twice(void) {
  play_once(take_line);
  check(info_lines == 1 && strstr(last_line, "lanewise 0.") != NULL, "one line says who we are");
  play_once(take_line);
  check(info_lines == 2 && warn_lines == 0, "each communicator has one line, no warning");
}

static void play_without_logger(void) {
  play_once(NULL);
  play_once(NULL);
}

static void play_without_context(void) {
  void* handle;
  tuner_t* tuner = open_plugin(&handle);
  float table[max_table], before[max_table];
  fill_table(table, 8);
  memcpy(before, table, sizeof table);
  check(tuner->init(NULL, 1, 8, 1, take_line, NULL, NULL) == 0, "init takes no context");
  ask(tuner, NULL, table, 7, 14336);
  check(memcmp(table, before, sizeof table) == 0, "no context, no change");
  check(tuner->get_coll_info(NULL, all_reduce, 1, 1, NULL, 7, 3, 0, NULL) == 0, "nor outputs");
  void* context = open_communicator(tuner, 8, 1, take_line);
  check(tuner->get_coll_info(context, all_reduce, 14336, 1, NULL, 7, 3, 0, NULL) == 0,
        "outputs may be missing");
  for (int i = 0; i < 2; ++i) {
    fill_table(table, 7);
    check(tuner->get_coll_info(context, all_reduce, 14336, 1, (float**)table, 7, 3, 0, NULL) == 0,
          "the channels may be missing, also in an answer given again");
    check(memcmp(table, before, sizeof(float) * 21) != 0, "the rest is written");
  }
  check(tuner->finalize(context) == 0 && tuner->finalize(NULL) == 0, "finalize takes none");
  close_plugin(handle);
}

/* A readable and writable page between two that fault. */
static char* map_guarded_page(size_t page) {
  char* pages = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(pages != MAP_FAILED, "pages can be mapped");
  check(mprotect(pages + page, page, PROT_READ | PROT_WRITE) == 0, "a page can be opened");
  return pages + page;
}

static void play_guarded_tables(void) {
  void* handle;
  tuner_t* tuner = open_plugin(&handle);
  void* context = open_communicator(tuner, 8, 1, take_line);
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* middle = map_guarded_page(page);
  for (int algorithms = 5; algorithms <= 8; ++algorithms) {
    const size_t bytes = (size_t)algorithms * 3 * sizeof(float);
    float* at_ends[] = {(float*)(void*)middle, (float*)(void*)(middle + page - bytes)};
    for (size_t size = 1; size != 0; size <<= 1) {
      for (int i = 0; i < 2; ++i) {
        fill_table(at_ends[i], algorithms);
        ask(tuner, context, at_ends[i], algorithms, size);
      }
    }
  }
  check(tuner->finalize(context) == 0, "finalize succeeds");
  munmap(middle - page, 3 * page);
  close_plugin(handle);
}

static void play_untouchable_constants(void) {
  void* handle;
  tuner_t* tuner = open_plugin(&handle);
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* middle = map_guarded_page(page);
  void* context = NULL;
  check(tuner->init(&context, 7, 8, 1, take_line, middle - page, middle + page) == 0,
        "init neither reads nor writes constants and NVLink domains");
  check(tuner->finalize(context) == 0, "finalize succeeds");
  munmap(middle - page, 3 * page);
  close_plugin(handle);
}

static void play_unbalanced(void) {
  static void* contexts[6];
  void* handle;
  tuner_t* tuner = open_plugin(&handle);
  for (int i = 0; i < 3; ++i) contexts[i] = open_communicator(tuner, 8, 1, take_line);
  check(tuner->finalize(contexts[0]) == 0, "finalize succeeds");
  close_plugin(handle);
  tuner = open_plugin(&handle);
  for (int i = 3; i < 6; ++i) contexts[i] = open_communicator(tuner, 4, 1, take_line);
  float table[max_table];
  fill_table(table, 7);
  ask(tuner, contexts[4], table, 7, 57344);
  close_plugin(handle);
}

static void play_a_thousand(void) {
  void* handle;
  tuner_t* tuner = open_plugin(&handle);
  for (int i = 0; i < 1000; ++i) {
    check(tuner->finalize(open_communicator(tuner, 8, 1, take_line)) == 0, "finalize succeeds");
  }
  close_plugin(handle);
}

static tuner_t* shared_tuner;

static void* play_a_rank(void* argument) {
  const size_t ranks[] = {1, 2, 3, 4, 8};
  const size_t first = (size_t)(uintptr_t)argument;
  for (size_t round = 0; round < 20; ++round) {
    void* context =
        open_communicator(shared_tuner, ranks[(first + round) % 5], 1 + round % 2, take_line);
    float table[max_table];
    fill_table(table, 7);
    for (size_t bytes = 1024; bytes < 1 << 20; bytes += 14336) {
      ask(shared_tuner, context, table, 7, bytes);
    }
    check(shared_tuner->finalize(context) == 0, "finalize succeeds");
  }
  return NULL;
}

static void play_concurrently(void) {
  void* handle;
  shared_tuner = open_plugin(&handle);
  pthread_t threads[16];
  for (uintptr_t i = 0; i < 16; ++i) {
    check(pthread_create(&threads[i], NULL, play_a_rank, (void*)i) == 0, "a thread starts");
  }
  for (int i = 0; i < 16; ++i) pthread_join(threads[i], NULL);
  close_plugin(handle);
}

static void play_after_fork(void) {
  void* handle;
  tuner_t* tuner = open_plugin(&handle);
  void* parent = open_communicator(tuner, 8, 1, take_line);
  const pid_t child = fork();
  if (child == 0) {
    void* context = open_communicator(tuner, 8, 1, take_line);
    float table[max_table];
    fill_table(table, 7);
    ask(tuner, context, table, 7, 14336);
    _exit(tuner->finalize(context));
  }
  int status = 1;
  check(waitpid(child, &status, 0) == child && status == 0, "a forked child works");
  check(tuner->finalize(parent) == 0, "finalize succeeds");
  close_plugin(handle);
}

/* Run with settings that no plugin can take. */
static void play_inert(void) {
  void* handle;
  tuner_t* tuner = open_plugin(&handle);
  float table[max_table], before[max_table];
  fill_table(table, 8);
  memcpy(before, table, sizeof table);
  for (int i = 0; i < 3; ++i) {
    void* context = NULL;
    check(tuner->init(&context, 7, 8, 1, take_line, NULL, NULL) == 0, "init succeeds");
    int channels = 0;
    check(tuner->get_coll_info(context, all_reduce, 14336, 1, (float**)table, 7, 3, 0, &channels) ==
              0,
          "getCollInfo succeeds");
    check(channels == 0 && memcmp(table, before, sizeof table) == 0, "nothing is written");
    check(tuner->finalize(context) == 0, "finalize succeeds");
  }
  check(warn_lines == 1 && strstr(last_line, "lanewise: inert: ") != NULL, "one warning says why");
  close_plugin(handle);
}

/* Run with LANEWISE_MOED=off: an image may have names of its own. */
static void play_unknown_name(void) {
  void* handle;
  tuner_t* tuner = open_plugin(&handle);
  for (int i = 0; i < 3; ++i) {
    void* context = open_communicator(tuner, 1, 1, take_line);
    check(warn_lines == 1, "the first communicator warns, no other");
    check(tuner->finalize(context) == 0, "finalize succeeds");
    context = open_communicator(tuner, 2, 1, take_line);
    float table[max_table], before[max_table];
    fill_table(table, 7);
    memcpy(before, table, sizeof table);
    ask(tuner, context, table, 7, 14336);
    check(memcmp(table, before, sizeof table) != 0, "the plugin is at work");
    check(tuner->finalize(context) == 0, "finalize succeeds");
  }
  close_plugin(handle);
}

/* No page more than there is: small allocations may still succeed, larger ones fail. */
static void play_without_memory(void) {
  void* handle;
  tuner_t* tuner = open_plugin(&handle);
  float table[max_table];
  fill_table(table, 7);
  const struct rlimit none = {0, RLIM_INFINITY};
  const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
  check(setrlimit(RLIMIT_AS, &none) == 0, "memory can be limited");
  void* contexts[64];
  for (int i = 0; i < 64; ++i) {
    contexts[i] = NULL;
    check(tuner->init(&contexts[i], 7, 8, 1, take_line, NULL, NULL) == 0, "init succeeds");
    ask(tuner, contexts[i], table, 7, 14336);
  }
  for (int i = 0; i < 64; ++i) check(tuner->finalize(contexts[i]) == 0, "finalize succeeds");
  check(setrlimit(RLIMIT_AS, &all) == 0, "the limit can be lifted");
  close_plugin(handle);
}

int main(int argc, char** argv) {
  const scenario_t scenarios[] = {{"twice", play_twice},
                                  {"without_logger", play_without_logger},
                                  {"without_context", play_without_context},
                                  {"guarded_tables", play_guarded_tables},
                                  {"untouchable_constants", play_untouchable_constants},
                                  {"unbalanced", play_unbalanced},
                                  {"a_thousand", play_a_thousand},
                                  {"concurrently", play_concurrently},
                                  {"after_fork", play_after_fork},
                                  {"without_memory", play_without_memory},
                                  {"unknown_name", play_unknown_name},
                                  {"inert", play_inert}};
  if (argc != 3) return 2;
  plugin_path = argv[1];
  return play_scenario(argv[2], scenarios, sizeof scenarios / sizeof scenarios[0]);
}
