/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

/* Plays the plugin at its limits: many communicators, no memory, no system calls.
 * Usage: plays_limits PLUGIN.so SCENARIO; exit status 77 where a sanitizer stands in the way. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "scenario.h"
#include "tuner_player.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { is_sanitized = 1 };
#else
enum { is_sanitized = 0 };

/* The plugin finds these before libc's: the allocation of this thread that comes next but
 * `until_failure` fails, once, or all after it, too. */
static _Thread_local long until_failure = -1;
static _Thread_local int is_lasting;
extern void* __libc_malloc(size_t bytes);
extern void* __libc_calloc(size_t count, size_t bytes);
extern void* __libc_realloc(void* memory, size_t bytes);

static int is_failing(void) {
  if (is_lasting && until_failure == 0) return 1;
  return until_failure >= 0 && until_failure-- == 0;
}

static void* out_of_memory(void) {
  errno = ENOMEM;
  return NULL;
}

void* malloc(size_t bytes) { return is_failing() ? out_of_memory() : __libc_malloc(bytes); }

void* calloc(size_t count, size_t bytes) {
  return is_failing() ? out_of_memory() : __libc_calloc(count, bytes);
}

void* realloc(void* memory, size_t bytes) {
  return is_failing() ? out_of_memory() : __libc_realloc(memory, bytes);
}
#endif

static tuner_t* tuner;

static int is_applied(void* context) {
  float table[max_table], before[max_table];
  fill_table(table, 7);
  memcpy(before, table, sizeof table);
  ask(tuner, context, table, 7, 14336);
  return memcmp(table, before, sizeof table) != 0;
}

typedef struct {
  uint64_t id;
  size_t ranks;
  pthread_barrier_t* inside;
  int is_applied;
} rank_t;

/* As in NCCL, nobody goes on before everybody is through init. */
static void* play_rank(void* argument) {
  rank_t* rank = argument;
  void* context = NULL;
  check(tuner->init(&context, rank->id, rank->ranks, 1, take_line, NULL, NULL) == 0,
        "init succeeds");
  pthread_barrier_wait(rank->inside);
  rank->is_applied = is_applied(context);
  check(tuner->finalize(context) == 0, "finalize succeeds");
  return NULL;
}

static void play_sixty_four_at_once(void) {
  enum { communicators = 64, ranks = 8 };
  static rank_t all[communicators][ranks];
  static pthread_t threads[communicators][ranks];
  static pthread_barrier_t inside[communicators];
  for (int i = 0; i < communicators; ++i) {
    pthread_barrier_init(&inside[i], NULL, ranks);
    for (int j = 0; j < ranks; ++j) {
      all[i][j] = (rank_t){((uint64_t)getpid() << 32) + (uint64_t)i, ranks, &inside[i], 0};
      check(pthread_create(&threads[i][j], NULL, play_rank, &all[i][j]) == 0, "a rank starts");
    }
  }
  for (int i = 0; i < communicators; ++i)
    for (int j = 0; j < ranks; ++j) {
      pthread_join(threads[i][j], NULL);
      check(all[i][j].is_applied, "every rank applies");
    }
}

static long count_files(const char* folder, const char* part) {
  DIR* entries = opendir(folder);
  check(entries != NULL, "the folder opens");
  long count = 0;
  for (const struct dirent* entry = readdir(entries); entry != NULL; entry = readdir(entries))
    count += strstr(entry->d_name, part) != NULL;
  closedir(entries);
  return count;
}

static long resident_pages(void) {
  long size = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  check(file != NULL && fscanf(file, "%ld %ld", &size, &resident) == 2, "memory is known");
  fclose(file);
  return resident;
}

static void play_ten_thousand(void) {
  const int rounds = is_sanitized ? 500 : 10000;
  const int warm_up = 200;
  char own[32];
  snprintf(own, sizeof own, "agree-%08x", (unsigned)getpid());
  long pages = 0, descriptors = 0;
  for (int i = 0; i < rounds; ++i) {
    if (i == warm_up) {
      pages = resident_pages();
      descriptors = count_files("/proc/self/fd", "");
    }
    check(tuner->finalize(open_communicator(tuner, 2, 1, take_line)) == 0, "finalize succeeds");
  }
  check(count_files("/proc/self/fd", "") == descriptors, "descriptors do not grow");
  check(count_files("/dev/shm", own) == 0, "no segment is left");
  check(is_sanitized || resident_pages() - pages < 64, "memory does not grow");
}

static long count_mappings(const char* part) {
  char line[1024];
  long count = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  check(maps != NULL, "the mappings are known");
  while (fgets(line, sizeof line, maps) != NULL) count += strstr(line, part) != NULL;
  fclose(maps);
  return count;
}

/* A host may have few descriptors, and its children inherit none of ours. */
static void play_few_descriptors(void) {
  enum { communicators = 260 };
  static void* contexts[communicators];
  const struct rlimit few = {256, 256};
  check(setrlimit(RLIMIT_NOFILE, &few) == 0, "descriptors can be limited");
  const long before = count_files("/proc/self/fd", "");
  for (int i = 0; i < communicators; ++i) {
    contexts[i] = open_communicator(tuner, 2, 1, take_line);
    check(is_applied(contexts[i]), "every communicator applies");
  }
  check(count_files("/proc/self/fd", "") == before, "communicators keep no descriptors");
  check(count_mappings("-stats-") == 1, "all count in one mapping");
  for (int i = 0; i < communicators; ++i)
    check(tuner->finalize(contexts[i]) == 0, "finalize succeeds");
  check(count_mappings("-stats-") == 0, "which the last one unmaps");
}

/* One allocation after the other fails in the init of one of two ranks. Who comes first is chance,
 * and with it which allocation is the one that matters: play it several times. */
static void play_without_memory(void) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  static uint64_t last_id;
  long failing = 0;
  for (long untouched = 0; untouched < 3; ++failing) {
    void* handle;
    tuner = open_plugin(&handle);
    pthread_barrier_t inside;
    pthread_barrier_init(&inside, NULL, 2);
    rank_t other = {((uint64_t)getpid() << 32) + ++last_id, 2, &inside, 0};
    pthread_t thread;
    check(pthread_create(&thread, NULL, play_rank, &other) == 0, "a rank starts");
    void* context = NULL;
    /* A thread's own storage is made here: the C library itself gives up where that fails. */
    check(tuner->init(NULL, other.id, 2, 1, take_line, NULL, NULL) == 0, "init succeeds");
    until_failure = failing;
    const int result = tuner->init(&context, other.id, 2, 1, take_line, NULL, NULL);
    const int has_failed = until_failure < 0;
    until_failure = -1;
    check(result == 0, "init succeeds");
    pthread_barrier_wait(&inside);
    const int own = is_applied(context);
    check(tuner->finalize(context) == 0, "finalize succeeds");
    pthread_join(thread, NULL);
    check(own == other.is_applied, "both ranks are on the same choice");
    untouched += !has_failed;
    close_plugin(handle);
  }
  printf("%ld allocations failed in turn\n", failing - 3);
#endif
}

/* A thread of its own has no storage yet: the C library ends the process where it finds no memory
 * for that, as when something is thrown. */
static void* play_without_any_memory(void* argument) {
  (void)argument;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  void* context = &context;
  until_failure = 0, is_lasting = 1;
  const int result = tuner->init(&context, 7, 2, 1, take_line, NULL, NULL);
  is_lasting = 0, until_failure = -1;
  check(result == 0 && context == NULL, "init succeeds without a context");
  check(!is_applied(context), "nothing is written");
  check(warn_lines == 1 && strstr(last_line, "there is no memory") != NULL, "a warning says why");
#endif
  return NULL;
}

static void forbid_system_calls(void) {
#define ALLOW(call) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_exit_group), ALLOW(SYS_write), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  const struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "privileges can be given up");
  check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "calls can be forbidden");
}

static void play_without_system_calls(void) {
  void* context = open_communicator(tuner, 8, 1, take_line);
  check(is_applied(context), "the ranks apply");
  float table[max_table], before[max_table];
  fill_table(before, 7);
  forbid_system_calls();
  for (size_t call = 0; call < 1000000; ++call) {
    memcpy(table, before, sizeof table);
    ask(tuner, context, table, 7, 1024 + call % 64 * 14336);
  }
  _exit(0);
}

/* So many decisions of sizes that were asked for before, for check_decision_cost.sh. */
static void play_decisions(long calls) {
  void* context = open_communicator(tuner, 2, 1, NULL);
  float table[max_table], before[max_table];
  fill_table(before, 7);
  for (long call = 0; call < calls; ++call) {
    memcpy(table, before, sizeof table);
    ask(tuner, context, table, 7, 14336 << call % 4);
  }
  check(tuner->finalize(context) == 0, "finalize succeeds");
}

int main(int argc, char** argv) {
  const scenario_t scenarios[] = {{"sixty_four_at_once", play_sixty_four_at_once},
                                  {"ten_thousand", play_ten_thousand},
                                  {"few_descriptors", play_few_descriptors},
                                  {"without_system_calls", play_without_system_calls}};
  if (argc != 3) return 2;
  plugin_path = argv[1];
  if (strcmp(argv[2], "without_memory") == 0) {
    for (int round = 0; round < 4; ++round) play_without_memory();
    return 0;
  }
  void* handle;
  tuner = open_plugin(&handle);
  if (strcmp(argv[2], "without_any_memory") == 0) {
    pthread_t thread;
    check(pthread_create(&thread, NULL, play_without_any_memory, NULL) == 0, "a thread starts");
    pthread_join(thread, NULL);
    return 0;
  }
  if (strncmp(argv[2], "decides_", 8) == 0) {
    play_decisions(atol(argv[2] + 8));
    close_plugin(handle);
    return 0;
  }
  const int status = play_scenario(argv[2], scenarios, sizeof scenarios / sizeof scenarios[0]);
  if (status == 0) close_plugin(handle);
  return status;
}
