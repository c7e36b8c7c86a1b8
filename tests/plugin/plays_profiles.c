/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

/* Changes a profile under the built plugin's feet. FIRST and SECOND are two profiles of this
 * machine for two ranks that differ in the channels of every size; LANEWISE_PROFILE names a file
 * that this program makes, in a folder of its own. Usage: plays_profiles PLUGIN.so SCENARIO FIRST
 * CHANNELS SECOND CHANNELS */
#define _GNU_SOURCE
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenario.h"
#include "tuner_player.h"

static tuner_t* tuner;
static const char* in_force;
static const char *first, *second;
static int first_channels, second_channels;

static void copy(const char* from, const char* to) {
  char text[65536];
  FILE* file = fopen(from, "r");
  check(file != NULL, "the profile opens");
  const size_t length = fread(text, 1, sizeof text, file);
  fclose(file);
  file = fopen(to, "w");
  check(file != NULL && fwrite(text, 1, length, file) == length && fclose(file) == 0,
        "the profile is copied");
}

static int channels_of(void* context, size_t bytes) {
  float table[max_table];
  fill_table(table, 7);
  int channels = 0;
  check(
      tuner->get_coll_info(context, all_reduce, bytes, 1, (float**)table, 7, 3, 0, &channels) == 0,
      "getCollInfo succeeds");
  return channels;
}

static void* open_pair(void) { return open_communicator(tuner, 2, 1, take_line); }

static void close_pair(void* context) { check(tuner->finalize(context) == 0, "finalize succeeds"); }

/* Asked for the size before, and not. */
static void check_keeps(void* context, size_t new_bytes) {
  check(channels_of(context, 14336) == first_channels, "an answer that was given stays");
  check(channels_of(context, new_bytes) == first_channels, "so do those that were not given yet");
}

/* One rank: it says that it is inert and waits for nobody. */
static void check_new_ones_stand_aside(const char* cause) {
  const int warned = warn_lines;
  void* context = NULL;
  check(tuner->init(&context, (uint64_t)getpid() << 32 | 0xa1de, 2, 1, take_line, NULL, NULL) == 0,
        "init succeeds");
  check(channels_of(context, 14336) != first_channels, "a new communicator has no such rule");
  check(channels_of(context, 14336) != second_channels, "nor another's");
  close_pair(context);
  check(warn_lines == warned + 1 && strstr(last_line, cause) != NULL, "one warning says why");
  check(strstr(last_line, "inert") != NULL, "and that the plugin is inert");
}

static void play_replaced(void) {
  void* before = open_pair();
  check(channels_of(before, 14336) == first_channels, "the rule is applied");
  char other[4096];
  snprintf(other, sizeof other, "%s.new", in_force);
  copy(second, other);
  check(rename(other, in_force) == 0, "the profile is replaced");
  void* after = open_pair();
  check(channels_of(after, 14336) == second_channels, "a new communicator reads it anew");
  check_keeps(before, 28672);
  close_pair(after);
  close_pair(before);
}

static void play_rewritten(void) {
  void* before = open_pair();
  check(channels_of(before, 14336) == first_channels, "the rule is applied");
  copy(second, in_force);
  check_keeps(before, 28672);
  check(truncate(in_force, 100) == 0, "the profile is cut off");
  check_keeps(before, 43008);
  check(unlink(in_force) == 0, "the profile is removed");
  check_keeps(before, 57344);
  check_new_ones_stand_aside("cannot open");
  check_keeps(before, 71680);
  close_pair(before);
}

static void play_world_writable(void) {
  void* before = open_pair();
  check(channels_of(before, 14336) == first_channels, "the rule is applied");
  check(chmod(in_force, 0666) == 0, "everyone may write it");
  check_new_ones_stand_aside("not everyone may write");
  check_keeps(before, 28672);
  close_pair(before);
}

static void play_open_folder(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s", in_force);
  const char* folder = dirname(path);
  check(chmod(folder, 01777) == 0, "the folder is like /tmp");
  void* before = open_pair();
  check(channels_of(before, 14336) == first_channels, "the rule is applied");
  check(chmod(folder, 0777) == 0, "everyone may replace it");
  check_new_ones_stand_aside("not everyone may replace");
  check_keeps(before, 28672);
  close_pair(before);
}

int main(int argc, char** argv) {
  const scenario_t scenarios[] = {{"replaced", play_replaced},
                                  {"rewritten", play_rewritten},
                                  {"world_writable", play_world_writable},
                                  {"open_folder", play_open_folder}};
  in_force = getenv("LANEWISE_PROFILE");
  if (argc != 7 || in_force == NULL) return 2;
  plugin_path = argv[1];
  first = argv[3], first_channels = atoi(argv[4]);
  second = argv[5], second_channels = atoi(argv[6]);
  copy(first, in_force);
  void* handle;
  tuner = open_plugin(&handle);
  const int status = play_scenario(argv[2], scenarios, sizeof scenarios / sizeof scenarios[0]);
  if (status == 0) close_plugin(handle);
  return status;
}
