/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

/* Watches how the built plugin opens files: none may wait for somebody, and none may be left to a
 * program that the host starts. Usage: plays_opens PLUGIN.so, with settings that name files. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "faulty_libc.h"
#include "tuner_player.h"

static atomic_int streams;

/* The plugin finds these before libc's. A stream says neither whether it waits nor who inherits it.
 */
static FILE* open_stream(const char* name, const char* path, const char* mode) {
  FILE* (*real)(const char*, const char*);
  *(void**)(&real) = dlsym(RTLD_NEXT, name);
  if (strchr(mode, 'e') == NULL) {
    fprintf(stderr, "a stream of %s\n", path);
    atomic_fetch_add(&streams, 1);
  }
  return real(path, mode);
}

FILE* fopen(const char* path, const char* mode) { return open_stream("fopen", path, mode); }
FILE* fopen64(const char* path, const char* mode) { return open_stream("fopen64", path, mode); }

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  plugin_path = argv[1];
  void* handle;
  tuner_t* tuner = open_plugin(&handle);
  streams = 0;
  careless_opens = 0;
  void* context = open_communicator(tuner, 2, 1, take_line);
  float table[max_table];
  fill_table(table, 7);
  ask(tuner, context, table, 7, 14336);
  check(tuner->finalize(context) == 0, "finalize succeeds");
  check(careless_opens == 0,
        "every file is opened O_CLOEXEC and, outside /proc and /sys, O_NONBLOCK");
  check(streams == 0, "no file is opened as a stream");
  close_plugin(handle);
  return 0;
}
