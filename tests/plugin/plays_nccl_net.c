/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

/* Plays NCCL's net loader to the built plugin, found by NAME as NCCL finds it: on the loader
 * path. Usage: plays_nccl_net SCENARIO */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "layer_player.h"
#include "scenario.h"

typedef int (*refusal_t)(int device, void* out);

enum { internal_error = 3 };

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
  const net_t* net = find_symbol(handle, "Net", version);
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
  } releases[] = {{8, 5, 2}, {8, 5, 3}, {9, 5, 4}, {10, 6, 4}, {11, 6, 5}, {12, 6, 6}, {12, 6, 7}};
  for (size_t i = 0; i < sizeof releases / sizeof releases[0]; ++i) {
    void* net = open_by_name("net");
    int version = releases[i].net;
    while (version >= releases[i].oldest_net && find_symbol(net, "Net", version) == NULL) --version;
    check(version == releases[i].net, "the newest version that a release knows is there");
    decline(net, version);
    check(find_symbol(net, "CollNet", version) == NULL, "there is no collnet");
    /* 2.26 and later: the tuner comes from the net library, opened again or by the same handle. */
    void* tuner = open_by_name("net");
    check(tuner == net, "the same library answers");
    check(find_symbol(tuner, "Tuner", releases[i].tuner) != NULL, "it holds the tuner");
    check(dlclose(net) == 0 && dlclose(tuner) == 0, "both close");
    check(dlopen("libnccl-net-lanewise.so", RTLD_NOW | RTLD_NOLOAD) == NULL, "closing unloads it");
  }
}

static void init_newest_net(void) {
  void* context = NULL;
  check(call_init(find_symbol(open_by_name("net"), "Net", 12), 12, &context) == 0, "init succeeds");
}

static void play_net_applies(void) {
  init_newest_net();
  expect_value(getenv("NCCL_MIN_NCHANNELS"), "16", "the best environment is set");
  expect_value(getenv("NCCL_TUNER_PLUGIN"), "lanewise", "and the tuner");
  check(strstr(log_text, "set NCCL_MIN_NCHANNELS=16 (measured at 1.90x stock") != NULL,
        "what is set is logged with its gain");
}

static void play_net_applies_base(void) {
  init_newest_net();
  expect_value(getenv("NCCL_THREAD_THRESHOLDS"), "-1 -1 -1 8", "the base environment is set");
  expect_value(getenv("NCCL_TUNER_PLUGIN"), "lanewise", "and the tuner");
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

static void play_net_without_file(void) {
  init_newest_net();
  expect_value(getenv("NCCL_GRAPH_FILE"), NULL, "a file that is gone is not given to NCCL");
  expect_value(getenv("NCCL_MIN_NCHANNELS"), NULL, "nor half of its environment");
  expect_value(getenv("NCCL_TUNER_PLUGIN"), "lanewise", "the tuner is set all the same");
  expect_missing_file_said();
}

int main(int argc, char** argv) {
  const scenario_t scenarios[] = {{"declines_each", play_declines_each},
                                  {"each_release", play_each_release},
                                  {"net_applies_base", play_net_applies_base},
                                  {"net_applies", play_net_applies},
                                  {"net_keeps", play_net_keeps},
                                  {"net_leaves", play_net_leaves},
                                  {"net_without_file", play_net_without_file}};
  if (argc != 2) return 2;
  return play_scenario(argv[1], scenarios, sizeof scenarios / sizeof scenarios[0]);
}
