/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

/* Plays NCCL's net and env loaders to the built plugin, found by NAME as NCCL finds it: on the
 * loader path. Usage: plays_nccl_layers SCENARIO */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*logger_t)(int level, unsigned long flags, const char* file, int line,
                         const char* format, ...);
typedef int (*refusal_t)(int device, void* out);

enum { level_warn = 2, internal_error = 3, release_code = 23007 };

static int warn_lines;
static char log_text[8192];

static void check(int is_true, const char* claim) {
  if (is_true) return;
  fprintf(stderr, "plays_nccl_layers: not so: %s\n%s", claim, log_text);
  exit(1);
}

static void take_line(int level, unsigned long flags, const char* file, int line,
                      const char* format, ...) {
  (void)flags, (void)file, (void)line;
  const size_t used = strlen(log_text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(log_text + used, sizeof log_text - used, format, arguments);
  va_end(arguments);
  strncat(log_text, "\n", sizeof log_text - strlen(log_text) - 1);
  if (level == level_warn) ++warn_lines;
}

/* The plugin asks the object that holds the logger which NCCL it is. */
__attribute__((visibility("default"))) int ncclGetVersion(int* version);
int ncclGetVersion(int* version) {
  *version = release_code;
  return 0;
}

/* The value itself first, then the name made of kind and value. */
static void* open_by_name(const char* kind) {
  char name[64];
  snprintf(name, sizeof name, "libnccl-%s-lanewise.so", kind);
  check(dlopen("lanewise", RTLD_NOW | RTLD_LOCAL) == NULL, "no file is called lanewise");
  void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) fprintf(stderr, "%s\n", dlerror());
  check(handle != NULL, "the library is found by its kind and name");
  return handle;
}

static void* find(void* handle, const char* kind, int version) {
  char name[64];
  snprintf(name, sizeof name, "nccl%sPlugin_v%d", kind, version);
  return dlsym(handle, name);
}

/* ---- net ---- */

/* The members of a net plugin in NCCL's order; `rest` counts those after devices and before
 * finalize. */
typedef struct {
  const char* name;
  void (*init)(void);
  int (*devices)(int* count);
  refusal_t rest[19];
} net_t;

static int count_rest(int version) { return version == 6 ? 14 : version < 9 ? 16 : 17; }

static int call_init(const net_t* net, int version, void** context) {
  typedef int (*init_v6_t)(logger_t);
  typedef int (*init_v10_t)(logger_t, void*);
  typedef int (*init_v11_t)(void**, uint64_t, void*, logger_t, void*);
  if (version < 10) return ((init_v6_t)net->init)(take_line);
  if (version == 10) return ((init_v10_t)net->init)(take_line, NULL);
  return ((init_v11_t)net->init)(context, 0x1234, NULL, take_line, NULL);
}

static int call_finalize(const net_t* net, void* context) {
  typedef int (*finalize_t)(void*);
  return ((finalize_t)(void (*)(void))net->rest[17])(context);
}

/* What 2.28 and later do for every version: an adapter learns of v6 to v10 plugins only from a
 * successful init, and a plugin that fails later is finalized through it. */
static void decline(void* handle, int version) {
  const net_t* net = find(handle, "Net", version);
  check(net != NULL && strcmp(net->name, "lanewise") == 0, "the version is exported with a name");
  void* context = (void*)(uintptr_t)0xdead;
  check(call_init(net, version, &context) == 0, "init succeeds");
  int count = -1;
  check(net->devices(&count) == 0 && count == 0, "there are no devices");
  for (int i = 0; i < count_rest(version); ++i)
    check(net->rest[i](0, NULL) == internal_error, "a member that is never called refuses");
  if (version < 11) return;
  check(context == NULL, "there is no context");
  check(call_finalize(net, context) == 0, "finalize takes no context");
}

static void play_declines_each(void) {
  void* handle = open_by_name("net");
  for (int version = 6; version <= 12; ++version) decline(handle, version);
  check(warn_lines == 0, "declining is no warning");
  check(strstr(log_text, "no network of its own") != NULL, "declining is said");
  check(dlclose(handle) == 0, "the library closes");
}

/* The newest net and tuner symbols that each line of releases looks for. */
static void play_each_release(void) {
  const struct {
    int net, oldest_net, tuner;
  } releases[] = {{8, 5, 2}, {8, 5, 3}, {9, 5, 4}, {10, 6, 4}, {11, 6, 5}, {12, 6, 6}};
  for (size_t i = 0; i < sizeof releases / sizeof releases[0]; ++i) {
    void* net = open_by_name("net");
    int version = releases[i].net;
    while (version >= releases[i].oldest_net && find(net, "Net", version) == NULL) --version;
    check(version == releases[i].net, "the newest version that a release knows is there");
    decline(net, version);
    check(find(net, "CollNet", version) == NULL, "there is no collnet");
    /* 2.26 and later: the tuner comes from the net library, opened again or by the same handle. */
    void* tuner = open_by_name("net");
    check(tuner == net, "the same library answers");
    check(find(tuner, "Tuner", releases[i].tuner) != NULL, "it holds the tuner");
    check(dlclose(net) == 0 && dlclose(tuner) == 0, "both close");
    check(dlopen("libnccl-net-lanewise.so", RTLD_NOW | RTLD_NOLOAD) == NULL, "closing unloads it");
  }
}

static void init_newest_net(void) {
  void* context = NULL;
  check(call_init(find(open_by_name("net"), "Net", 12), 12, &context) == 0, "init succeeds");
}

static void expect_value(const char* value, const char* expected, const char* claim) {
  const int is_same =
      expected == NULL ? value == NULL : value != NULL && strcmp(value, expected) == 0;
  if (!is_same) fprintf(stderr, "got %s\n", value == NULL ? "nothing" : value);
  check(is_same, claim);
}

static void play_net_applies(void) {
  init_newest_net();
  expect_value(getenv("NCCL_MIN_NCHANNELS"), "16", "the best environment is set");
  expect_value(getenv("NCCL_TUNER_PLUGIN"), "lanewise", "and the tuner");
  check(strstr(log_text, "set NCCL_MIN_NCHANNELS=16 (measured at 1.90x stock") != NULL,
        "what is set is logged with its gain");
}

static void play_net_keeps(void) {
  init_newest_net();
  expect_value(getenv("NCCL_MIN_NCHANNELS"), "4", "the user's value is kept");
  check(strstr(log_text, "NCCL_MIN_NCHANNELS=4 is set already and kept") != NULL,
        "keeping is said");
}

static void play_net_leaves(void) {
  init_newest_net();
  expect_value(getenv("NCCL_MIN_NCHANNELS"), NULL, "the environment is left alone");
  expect_value(getenv("NCCL_TUNER_PLUGIN"), NULL, "without the opt-in");
}

static void expect_missing_file_said(void) {
  check(
      strstr(log_text, "NCCL_GRAPH_FILE=/nowhere/graph.xml: expected a file that is there") != NULL,
      "the missing file is named");
}

static void play_net_without_file(void) {
  init_newest_net();
  expect_value(getenv("NCCL_GRAPH_FILE"), NULL, "a file that is gone is not given to NCCL");
  expect_value(getenv("NCCL_MIN_NCHANNELS"), NULL, "nor half of its environment");
  expect_value(getenv("NCCL_TUNER_PLUGIN"), "lanewise", "the tuner is set all the same");
  expect_missing_file_said();
}

/* ---- env ---- */

typedef struct {
  const char* name;
  int (*init)(uint8_t major, uint8_t minor, uint8_t patch, const char* suffix, logger_t logger);
  int (*finalize)(void);
  const char* (*get_env)(const char* name);
} env_t;

static const env_t* open_env(int version, int minor, int patch) {
  const env_t* env = find(open_by_name("env"), "Env", version);
  check(env != NULL && env->name != NULL, "the version is exported with a name");
  typedef int (*init_v1_t)(uint8_t, uint8_t, uint8_t, const char*);
  const int result =
      version == 1 ? ((init_v1_t)(void (*)(void))env->init)(2, (uint8_t)minor, (uint8_t)patch, "")
                   : env->init(2, (uint8_t)minor, (uint8_t)patch, "", take_line);
  check(result == 0, "init succeeds whatever happens");
  return env;
}

static void expect_pass_through(const env_t* env) {
  check(env->get_env("PATH") == getenv("PATH"), "other names are the process's own");
  check(env->get_env("NCCL_NOBODY_SETS_THIS") == NULL, "also where they are not set");
  check(env->get_env(NULL) == NULL, "no name has no value");
}

static void play_env(int version) {
  const env_t* env = open_env(version, 30, 7);
  expect_value(env->get_env("NCCL_MIN_NCHANNELS"), "16", "the best environment is answered");
  expect_value(env->get_env("NCCL_TUNER_PLUGIN"), "lanewise", "and the tuner");
  expect_value(getenv("NCCL_MIN_NCHANNELS"), NULL, "the process keeps its environment");
  expect_pass_through(env);
  const char* before = env->get_env("NCCL_MIN_NCHANNELS");
  setenv("NCCL_MIN_NCHANNELS", "2", 1);
  expect_value(env->get_env("NCCL_MIN_NCHANNELS"), "2", "what the process sets later wins");
  check(env->finalize() == 0, "finalize succeeds");
  expect_value(before, "16", "an answer stays valid");
}

static void play_env_v1(void) { play_env(1); }

static void play_env_v2(void) {
  play_env(2);
  check(strstr(log_text, "answer NCCL_MIN_NCHANNELS=16 (measured at 1.90x stock") != NULL,
        "what is answered is logged with its gain");
}

static void play_env_keeps(void) {
  const env_t* env = open_env(2, 30, 7);
  expect_value(env->get_env("NCCL_MIN_NCHANNELS"), "4", "the user's value is kept");
  check(strstr(log_text, "NCCL_MIN_NCHANNELS=4 is set already and kept") != NULL,
        "keeping is said");
}

static void play_env_other_release(void) {
  const env_t* env = open_env(2, 28, 9);
  expect_value(env->get_env("NCCL_MIN_NCHANNELS"), NULL, "another NCCL's environment is not used");
  expect_value(env->get_env("NCCL_TUNER_PLUGIN"), "lanewise", "the tuner is");
  check(strstr(log_text, "was made with NCCL 2.30.7, here is NCCL 2.28.9") != NULL, "it says why");
}

/* Run with a profile or settings that cannot be used. */
static void play_env_without_file(void) {
  const env_t* env = open_env(2, 30, 7);
  expect_value(env->get_env("NCCL_GRAPH_FILE"), NULL, "a file that is gone is not answered");
  expect_value(env->get_env("NCCL_MIN_NCHANNELS"), NULL, "nor half of its environment");
  expect_value(env->get_env("NCCL_TUNER_PLUGIN"), "lanewise", "the tuner is answered all the same");
  expect_missing_file_said();
}

static void play_env_inert(void) {
  expect_pass_through(open_env(1, 30, 7));
  const env_t* env = open_env(2, 30, 7);
  expect_value(env->get_env("NCCL_MIN_NCHANNELS"), NULL, "nothing of its own is answered");
  expect_value(env->get_env("NCCL_TUNER_PLUGIN"), NULL, "not even the tuner");
  expect_pass_through(env);
  check(warn_lines == 1, "one warning says why");
}

static void play_env_off(void) {
  const env_t* env = open_env(2, 30, 7);
  expect_value(env->get_env("NCCL_TUNER_PLUGIN"), NULL, "nothing is answered when off");
  check(warn_lines == 0, "that is no warning");
}

static const env_t* shared_env;

static void* ask_often(void* argument) {
  (void)argument;
  for (int i = 0; i < 20000; ++i) {
    const char* value = shared_env->get_env("NCCL_MIN_NCHANNELS");
    if (value != NULL && strcmp(value, "16") != 0) return (void*)"a torn answer";
  }
  return NULL;
}

static void play_env_threads(void) {
  shared_env = find(open_by_name("env"), "Env", 2);
  pthread_t threads[8];
  for (int i = 0; i < 8; ++i) pthread_create(&threads[i], NULL, ask_often, NULL);
  open_env(2, 30, 7);
  for (int i = 0; i < 8; ++i) {
    void* failure = NULL;
    pthread_join(threads[i], &failure);
    check(failure == NULL, "answers are whole");
  }
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*play)(void);
  } scenarios[] = {{"declines_each", play_declines_each},
                   {"each_release", play_each_release},
                   {"net_applies", play_net_applies},
                   {"net_keeps", play_net_keeps},
                   {"net_leaves", play_net_leaves},
                   {"net_without_file", play_net_without_file},
                   {"env_without_file", play_env_without_file},
                   {"env_v1", play_env_v1},
                   {"env_v2", play_env_v2},
                   {"env_keeps", play_env_keeps},
                   {"env_other_release", play_env_other_release},
                   {"env_inert", play_env_inert},
                   {"env_off", play_env_off},
                   {"env_threads", play_env_threads}};
  if (argc != 2) return 2;
  for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; ++i) {
    if (strcmp(scenarios[i].name, argv[1]) != 0) continue;
    scenarios[i].play();
    return 0;
  }
  return 2;
}
