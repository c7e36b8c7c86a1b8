/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

/* What a program that plays NCCL can play, by the name that its arguments give. */
#ifndef LANEWISE_SCENARIO_H
#define LANEWISE_SCENARIO_H

#include <stddef.h>
#include <string.h>

typedef struct {
  const char* name;
  void (*play)(void);
} scenario_t;

/* main's status: 2 where none of `count` has that name. */
static inline int play_scenario(const char* name, const scenario_t* scenarios, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(scenarios[i].name, name) != 0) continue;
    scenarios[i].play();
    return 0;
  }
  return 2;
}

#endif
