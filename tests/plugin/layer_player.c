/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

#include "layer_player.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { level_warn = 2, release_code = 23007 };

int warn_lines;
char log_text[8192];

void check(int is_true, const char* claim) {
  if (is_true) return;
  fprintf(stderr, "not so: %s\n%s", claim, log_text);
  exit(1);
}

void take_line(int level, unsigned long flags, const char* file, int line, const char* format,
               ...) {
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
void* open_by_name(const char* kind) {
  char name[64];
  snprintf(name, sizeof name, "libnccl-%s-lanewise.so", kind);
  check(dlopen("lanewise", RTLD_NOW | RTLD_LOCAL) == NULL, "no file is called lanewise");
  void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) fprintf(stderr, "%s\n", dlerror());
  check(handle != NULL, "the library is found by its kind and name");
  return handle;
}

void* find_symbol(void* handle, const char* kind, int version) {
  char name[64];
  snprintf(name, sizeof name, "nccl%sPlugin_v%d", kind, version);
  return dlsym(handle, name);
}

void expect_value(const char* value, const char* expected, const char* claim) {
  const int is_same =
      expected == NULL ? value == NULL : value != NULL && strcmp(value, expected) == 0;
  if (!is_same) fprintf(stderr, "got %s\n", value == NULL ? "nothing" : value);
  check(is_same, claim);
}

void expect_missing_file_said(void) {
  check(
      strstr(log_text, "NCCL_GRAPH_FILE=/nowhere/graph.xml: expected a file that is there") != NULL,
      "the missing file is named");
}
