/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

/* Plays NCCL to the built plugin, as a C program that shares no header with it: opens it with
 * RTLD_NOW | RTLD_LOCAL, makes communicators, asks, destroys them and closes it.
 * Usage: plays_nccl PLUGIN.so SCENARIO */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void (*logger_t)(int level, unsigned long flags, const char* file, int line,
                         const char* format, ...);

typedef struct {
  const char* name;
  int (*init)(void** context, uint64_t id, size_t ranks, size_t nodes, logger_t logger,
              void* nvl_domains, void* constants);
  int (*get_coll_info)(void* context, int function, size_t bytes, int pipe_ops, float** table,
                       int algorithms, int protocols, int registered, int* channels);
  int (*finalize)(void* context);
  int (*get_chunk_size)(void* context, int function, size_t bytes, int algorithm, int protocol,
                        int channels, size_t* chunk);
} tuner_t;

enum { all_reduce = 4, level_warn = 2, level_info = 3, max_table = 8 * 3 };

static const char* plugin_path;
static atomic_int info_lines;
static atomic_int warn_lines;
static pthread_mutex_t last_line_mutex = PTHREAD_MUTEX_INITIALIZER;
static char last_line[1024];

static void check(int is_true, const char* claim) {
  if (is_true) return;
  fprintf(stderr, "plays_nccl: not so: %s (last line: %s)\n", claim, last_line);
  exit(1);
}

static void take_line(int level, unsigned long flags, const char* file, int line,
                      const char* format, ...) {
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

static tuner_t* open_plugin(void** handle) {
  *handle = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
  if (*handle == NULL) fprintf(stderr, "%s\n", dlerror());
  check(*handle != NULL, "the plugin loads");
  tuner_t* tuner = dlsym(*handle, "ncclTunerPlugin_v6");
  check(tuner != NULL && tuner->name != NULL, "it has a v6 tuner with a name");
  return tuner;
}

static void close_plugin(void* handle) {
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

/* The first rank's context; the other ranks are threads that come, agree and go. */
static void* open_communicator(tuner_t* tuner, size_t ranks, size_t nodes, logger_t logger) {
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

/* Prices of a PCIe box: LL128 and everything but tree and ring forbidden. */
static void fill_table(float* table, int algorithms) {
  for (int i = 0; i < algorithms * 3; ++i) table[i] = -1.0F;
  table[0] = 41.0F, table[2] = 97.0F;
  table[3] = 23.0F, table[5] = 110.0F;
}

static void ask(tuner_t* tuner, void* context, float* table, int algorithms, size_t bytes) {
  int channels = 0;
  check(tuner->get_coll_info(context, all_reduce, bytes, 1, (float**)table, algorithms, 3, 0,
                             &channels) == 0,
        "getCollInfo succeeds");
  check(channels >= 0 && channels <= 64, "channels are 0 or 1 to 64");
}

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
  check(warn_lines == 1 && strstr(last_line, "inert") != NULL, "one warning says why");
  close_plugin(handle);
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*play)(void);
  } scenarios[] = {{"twice", play_twice},
                   {"without_logger", play_without_logger},
                   {"without_context", play_without_context},
                   {"guarded_tables", play_guarded_tables},
                   {"untouchable_constants", play_untouchable_constants},
                   {"unbalanced", play_unbalanced},
                   {"a_thousand", play_a_thousand},
                   {"concurrently", play_concurrently},
                   {"after_fork", play_after_fork},
                   {"inert", play_inert}};
  if (argc != 3) return 2;
  plugin_path = argv[1];
  for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; ++i) {
    if (strcmp(scenarios[i].name, argv[2]) != 0) continue;
    scenarios[i].play();
    return 0;
  }
  return 2;
}
