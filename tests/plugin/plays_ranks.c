/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

/* Plays the ranks of one communicator, a process each, to the built plugin, some of them at fault.
 * Usage: plays_ranks PLUGIN.so RANKS [RANK:FAULT ..] where RANK is a number or "all" and FAULT
 *   NAME=VALUE      an environment variable
 *   shm=KIND        /dev/shm is full, absent, read_only, noexec or private
 *   plugin=FILE     loads this one
 *   sys=KIND        /sys is absent (empty) or failing
 *   sys_delay_ms=N  the first look into /sys takes so long
 *   costs=PERCENT  NCCL's costs differ by so much, some up and some down
 *   name=KIND       in the segment's place is a link, a directory, a fifo or another user's file
 *   delay_ms=N      comes so late
 *   killed          is killed before init
 *   bus=N           drives the GPU on this PCI bus, by the libcuda that FAKE_CUDA names
 *   communicators=N makes so many, one after the other, which wait for a rank once
 *   clock=back      wall-clock time steps back an hour at every look
 * Prints "applied A, stock S, died D, warned W" and each rank's last warning; the exit status is 1
 * where ranks differ, 77 where a fault cannot be made here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "faulty_libc.h"
#include "tuner_player.h"

enum { most_ranks = 16, exit_skipped = 77 };

typedef struct {
  int is_applied;
  int channels;
  uint64_t choices; /* of many sizes: NCCL's pick and the channels, hashed */
  int warnings;
  char warning[512];
} report_t;

static size_t ranks;
static uint64_t communicator;
static int prices_percent;
static int communicators = 1;

static void need(int is_possible, const char* what) {
  if (is_possible) return;
  fprintf(stderr, "cannot be made here: %s: %s\n", what, strerror(errno));
  exit(exit_skipped);
}

static void own_mounts(void) {
  need(unshare(CLONE_NEWNS) == 0, "a mount namespace");
  need(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "private mounts");
}

static void break_shm(const char* kind) {
  own_mounts();
  const int is_full = strcmp(kind, "full") == 0;
  if (strcmp(kind, "absent") == 0) {
    need(mount("none", "/dev", "tmpfs", 0, NULL) == 0, "an empty /dev");
    return;
  }
  const unsigned long flags = strcmp(kind, "read_only") == 0 ? MS_RDONLY
                              : strcmp(kind, "noexec") == 0  ? MS_NOEXEC
                                                             : 0;
  need(mount("none", "/dev/shm", "tmpfs", flags, is_full ? "size=4096" : "") == 0, "a /dev/shm");
  if (!is_full) return;
  const int file = open("/dev/shm/filler", O_CREAT | O_WRONLY, 0600);
  need(file >= 0 && posix_fallocate(file, 0, 4096) == 0, "a full /dev/shm");
  close(file);
}

static void occupy_name(const char* kind) {
  break_shm("empty");
  char path[128];
  snprintf(path, sizeof path, "/dev/shm/lanewise-%u-agree-%016llx-%zu", geteuid(),
           (unsigned long long)communicator, ranks);
  int result = 0;
  if (strcmp(kind, "link") == 0) result = symlink("/dev/shm/elsewhere", path);
  if (strcmp(kind, "directory") == 0) result = mkdir(path, 0700);
  if (strcmp(kind, "fifo") == 0) result = mkfifo(path, 0600);
  if (strcmp(kind, "foreign") == 0) {
    close(open(path, O_CREAT | O_WRONLY, 0600));
    result = chown(path, 12345, 12345);
  }
  need(result == 0, "something in the segment's place");
}

/* The fault's value where `fault` is of this name. */
static const char* value_of(const char* fault, const char* name) {
  const size_t length = strlen(name);
  return strncmp(fault, name, length) == 0 && fault[length] == '=' ? fault + length + 1 : NULL;
}

static void drive_gpu(const char* bus) {
  void* cuda = dlopen(getenv("FAKE_CUDA"), RTLD_NOW | RTLD_LOCAL);
  check(cuda != NULL, "the fake libcuda loads");
  void (*make_current)(int);
  *(void**)(&make_current) = dlsym(cuda, "fake_cuda_make_current");
  make_current(atoi(bus));
}

static void commit_fault(const char* fault) {
  const char* value;
  if ((value = value_of(fault, "shm")) != NULL) {
    break_shm(value);
  } else if ((value = value_of(fault, "name")) != NULL) {
    occupy_name(value);
  } else if ((value = value_of(fault, "delay_ms")) != NULL) {
    usleep((useconds_t)atoi(value) * 1000);
  } else if (strcmp(fault, "sys=absent") == 0) {
    own_mounts();
    need(mount("none", "/sys", "tmpfs", 0, NULL) == 0, "an empty /sys");
  } else if (strcmp(fault, "sys=failing") == 0) {
    is_sys_failing = 1;
  } else if ((value = value_of(fault, "sys_delay_ms")) != NULL) {
    sys_delay_ms = atoi(value);
  } else if ((value = value_of(fault, "plugin")) != NULL) {
    plugin_path = value;
  } else if ((value = value_of(fault, "costs")) != NULL) {
    prices_percent = atoi(value);
  } else if ((value = value_of(fault, "bus")) != NULL) {
    drive_gpu(value);
  } else if ((value = value_of(fault, "communicators")) != NULL) {
    communicators = atoi(value);
  } else if (strcmp(fault, "killed") == 0) {
    raise(SIGKILL);
  } else if (strcmp(fault, "clock=back") == 0) {
    clock_steps_back = 1;
  } else {
    putenv((char*)(uintptr_t)fault);
  }
}

static void commit_faults(int count, char** faults, const char* who) {
  const size_t length = strlen(who);
  for (int i = 0; i < count; ++i)
    if (strncmp(faults[i], who, length) == 0 && faults[i][length] == ':')
      commit_fault(faults[i] + length + 1);
}

static report_t report;

static void take_warning(int level, unsigned long flags, const char* file, int line,
                         const char* format, ...) {
  (void)flags, (void)file, (void)line;
  if (level != level_warn) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(report.warning, sizeof report.warning, format, arguments);
  va_end(arguments);
  ++report.warnings;
}

static void fill_own_table(float* table) {
  fill_table(table, 7);
  for (int i = 0; i < 21; ++i)
    if (table[i] > 0) table[i] *= 1 + (float)(i % 2 ? prices_percent : -prices_percent) / 100;
}

/* Whether the plugin wrote; NCCL takes the cheapest of what it reads then. */
static int ask_for(tuner_t* tuner, void* context, size_t bytes, int* channels) {
  float table[max_table], before[max_table];
  fill_own_table(table);
  memcpy(before, table, sizeof table);
  *channels = 0;
  check(tuner->get_coll_info(context, all_reduce, bytes, 1, (float**)table, 7, 3, 0, channels) == 0,
        "getCollInfo succeeds");
  uint64_t pick = 0;
  for (uint64_t i = 1; i < 21; ++i)
    if (table[i] >= 0 && table[i] < table[pick]) pick = i;
  report.choices = (report.choices ^ (pick << 8 | (uint64_t)*channels)) * 0x100000001b3;
  return memcmp(table, before, sizeof table) != 0;
}

/* However many communicators follow. */
static void check_machine_is_read_once(tuner_t* tuner) {
  const int looks = looks_into_sys;
  void* context = NULL;
  check(tuner->init(&context, communicator + 1, 1, 1, NULL, NULL, NULL) == 0, "init succeeds");
  check(tuner->finalize(context) == 0, "finalize succeeds");
  check(looks_into_sys == looks, "the machine is read once a process");
}

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Where a rank is missing in each, only the first costs the time that ranks wait. */
static void play_earlier_communicators(tuner_t* tuner) {
  const double begin_ms = now_ms();
  for (int i = 1; i < communicators; ++i) {
    void* context = NULL;
    check(
        tuner->init(&context, communicator + (uint64_t)i, ranks, 1, take_warning, NULL, NULL) == 0,
        "init succeeds");
    check(tuner->finalize(context) == 0, "finalize succeeds");
  }
  const char* limit_ms = getenv("LANEWISE_AGREE_MS");
  check(communicators == 1 || now_ms() - begin_ms < 2.5 * atof(limit_ms),
        "a missing rank is waited for once");
}

/* As in NCCL, nobody goes on before everybody is through init: `gate` reads as closed then. */
static void play_rank(int answers, int gate) {
  void* handle;
  tuner_t* tuner = open_plugin(&handle);
  play_earlier_communicators(tuner);
  void* context = NULL;
  check(tuner->init(&context, communicator, ranks, 1, take_warning, NULL, NULL) == 0,
        "init succeeds");
  report.is_applied = ask_for(tuner, context, 14336, &report.channels);
  for (size_t bytes = 1024; bytes < 1 << 20; bytes += 7168) {
    int channels;
    (void)ask_for(tuner, context, bytes, &channels);
  }
  check_machine_is_read_once(tuner);
  check(write(answers, &report, sizeof report) == sizeof report, "the report is written");
  close(answers);
  char nothing;
  check(read(gate, &nothing, 1) == 0, "the gate opens");
  check(tuner->finalize(context) == 0, "finalize succeeds");
  close_plugin(handle);
  _exit(0);
}

static int print_results(int (*answers)[2], int gate, const pid_t* children) {
  int applied = 0, stock = 0, died = 0, warned = 0, skipped = 0, differ = 0;
  uint64_t choices = 0;
  for (size_t rank = 0; rank < ranks; ++rank) {
    if (read(answers[rank][0], &report, sizeof report) != sizeof report) continue;
    ++*(report.is_applied ? &applied : &stock);
    warned += report.warnings;
    if (choices == 0) choices = report.choices;
    differ |= report.choices != choices;
    printf("rank %zu: %d channels\n", rank, report.channels);
    if (report.warnings > 0) printf("rank %zu: %s\n", rank, report.warning);
  }
  close(gate);
  for (size_t rank = 0; rank < ranks; ++rank) {
    int status = 0;
    waitpid(children[rank], &status, 0);
    died += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    skipped |= WIFEXITED(status) && WEXITSTATUS(status) == exit_skipped;
  }
  printf("applied %d, stock %d, died %d, warned %d\n", applied, stock, died, warned);
  if (skipped) return exit_skipped;
  return differ;
}

/* Before any rank is there: one that cannot make its fault would let the others wait for it. */
static void need_mounts(int count, char** faults) {
  int is_needed = 0;
  for (int i = 0; i < count; ++i)
    is_needed |= strstr(faults[i], ":shm=") != NULL || strstr(faults[i], ":sys=absent") != NULL;
  if (!is_needed) return;
  const pid_t probe = fork();
  if (probe == 0) {
    own_mounts();
    _exit(0);
  }
  int status = 0;
  waitpid(probe, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) exit(exit_skipped);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  need_mounts(argc - 3, argv + 3);
  plugin_path = argv[1];
  ranks = (size_t)atoi(argv[2]);
  communicator = (uint64_t)getpid() << 32 | 0xfa017;
  if (ranks > most_ranks) return 2;
  commit_faults(argc - 3, argv + 3, "all");
  int answers[most_ranks][2], gate[2];
  pid_t children[most_ranks];
  check(pipe(gate) == 0, "a pipe opens");
  for (size_t rank = 0; rank < ranks; ++rank) {
    check(pipe(answers[rank]) == 0, "a pipe opens");
    children[rank] = fork();
    if (children[rank] == 0) {
      close(gate[1]);
      char who[24];
      snprintf(who, sizeof who, "%zu", rank);
      commit_faults(argc - 3, argv + 3, who);
      play_rank(answers[rank][1], gate[0]);
    }
    close(answers[rank][1]);
  }
  return print_results(answers, gate[1], children);
}
