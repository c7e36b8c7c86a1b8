/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

/* A program of someone else's: asks the plugin at argv[1] for its version. */
#include <dlfcn.h>
#include <lanewise/control.h>
#include <stdio.h>

int main(int count, char** words) {
  void* plugin = count == 2 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (plugin == NULL) {
    fprintf(stderr, "consumer: %s\n", dlerror());
    return 1;
  }
  const lanewise_control_v1_t* control = dlsym(plugin, "lanewise_control_v1");
  if (control == NULL) return 1;
  printf("lanewise %s\n", control->version);
  return dlclose(plugin);
}
