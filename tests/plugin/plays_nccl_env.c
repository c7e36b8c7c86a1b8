/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

/* Plays NCCL's env loader to the built plugin, found by NAME as NCCL finds it: on the loader
 * path. Usage: plays_nccl_env SCENARIO */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "layer_player.h"
#include "scenario.h"

typedef struct {
  const char* name;
  int (*init)(uint8_t major, uint8_t minor, uint8_t patch, const char* suffix, logger_t logger);
  int (*finalize)(void);
  const char* (*get_env)(const char* name);
} env_t;

static const env_t* open_env(int version, int minor, int patch) {
  const env_t* env = find_symbol(open_by_name("env"), "Env", version);
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

static void play_env_base(void) {
  const env_t* env = open_env(2, 32, 3);
  expect_value(env->get_env("NCCL_THREAD_THRESHOLDS"), "-1 -1 -1 8", "the base is answered");
  expect_value(env->get_env("NCCL_TUNER_PLUGIN"), "lanewise", "and the tuner");
  expect_value(getenv("NCCL_THREAD_THRESHOLDS"), NULL, "the process keeps its environment");
}

typedef struct {
  const char* name;
  int (*init)(void** context, uint64_t id, size_t ranks, size_t nodes, logger_t logger,
              void* nvl_domains, void* constants);
  int (*get_coll_info)(void);
  int (*finalize)(void* context);
} tuner_t;

/* As NCCL opens a communicator: the tuner's init, then the question. */
static void expect_thresholds(const env_t* env, size_t ranks, const char* expected) {
  const tuner_t* tuner = find_symbol(open_by_name("tuner"), "Tuner", 6);
  void* context = NULL;
  check(tuner->init(&context, 1, ranks, 1, take_line, NULL, NULL) == 0, "the tuner starts");
  expect_value(env->get_env("NCCL_THREAD_THRESHOLDS"), expected, "a communicator's own value");
  tuner->finalize(context);
}

static void* ask_elsewhere(void* env) {
  expect_value(((const env_t*)env)->get_env("NCCL_THREAD_THRESHOLDS"), "-1 -1 -1 8",
               "a thread without a communicator has the process's value");
  expect_thresholds(env, 2, "-1 -1 -1 9");
  return NULL;
}

static void play_env_base_of_each(void) {
  const env_t* env = open_env(2, 32, 3);
  expect_thresholds(env, 4, "-1 -1 -1 17");
  const char* before = env->get_env("NCCL_THREAD_THRESHOLDS");
  pthread_t other;
  pthread_create(&other, NULL, ask_elsewhere, (void*)env);
  pthread_join(other, NULL);
  expect_value(env->get_env("NCCL_THREAD_THRESHOLDS"), "-1 -1 -1 17",
               "another thread's is not ours");
  expect_thresholds(env, 8, "-1 -1 -1 33");
  expect_value(before, "-1 -1 -1 17", "an answer stays valid");
  expect_thresholds(env, 72, "-1 -1 -1 8");
  setenv("NCCL_THREAD_THRESHOLDS", "1", 1);
  expect_thresholds(env, 4, "1");
}

/* An NCCL that asks before its tuner's init. */
static void play_env_base_of_all(void) {
  const env_t* env = open_env(2, 30, 7);
  expect_thresholds(env, 4, "-1 -1 -1 8");
}

static void play_env_base_kept(void) {
  const env_t* env = open_env(2, 32, 3);
  expect_value(env->get_env("NCCL_THREAD_THRESHOLDS"), "1 1 1 1 1 1", "the user's value is kept");
  check(strstr(log_text, "NCCL_THREAD_THRESHOLDS=1 1 1 1 1 1 is set already and kept") != NULL,
        "keeping is said");
}

static void play_env_observes(void) {
  const env_t* env = open_env(2, 32, 3);
  expect_value(env->get_env("NCCL_THREAD_THRESHOLDS"), NULL, "who observes changes nothing");
  expect_value(env->get_env("NCCL_TUNER_PLUGIN"), "lanewise", "the tuner is answered");
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

static void play_env_without_file(void) {
  const env_t* env = open_env(2, 30, 7);
  expect_value(env->get_env("NCCL_GRAPH_FILE"), NULL, "a file that is gone is not answered");
  expect_value(env->get_env("NCCL_MIN_NCHANNELS"), NULL, "nor half of its environment");
  expect_value(env->get_env("NCCL_TUNER_PLUGIN"), "lanewise", "the tuner is answered all the same");
  expect_missing_file_said();
}

/* Run with a profile or settings that cannot be used. */
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
  shared_env = find_symbol(open_by_name("env"), "Env", 2);
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
  const scenario_t scenarios[] = {{"env_without_file", play_env_without_file},
                                  {"env_base", play_env_base},
                                  {"env_base_kept", play_env_base_kept},
                                  {"env_base_of_each", play_env_base_of_each},
                                  {"env_base_of_all", play_env_base_of_all},
                                  {"env_observes", play_env_observes},
                                  {"env_v1", play_env_v1},
                                  {"env_v2", play_env_v2},
                                  {"env_keeps", play_env_keeps},
                                  {"env_other_release", play_env_other_release},
                                  {"env_inert", play_env_inert},
                                  {"env_off", play_env_off},
                                  {"env_threads", play_env_threads}};
  if (argc != 2) return 2;
  return play_scenario(argv[1], scenarios, sizeof scenarios / sizeof scenarios[0]);
}
