/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */
#pragma once

/* What the loaded plugin lets a bench do in its own process: switch arms without new communicators,
 * force a choice, and see what was answered. Plain C; exported as the data object
 * lanewise_control_v1: dlopen the plugin that NCCL has open (RTLD_NOLOAD) and dlsym that name. */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Arms. SETTINGS: as LANEWISE_MODE says, the state at load. STOCK: every getCollInfo returns at
 * once. OBSERVE: decides, writes nothing. A forced choice is written in SETTINGS alone. */
enum { LANEWISE_ARM_SETTINGS = 0, LANEWISE_ARM_STOCK = 1, LANEWISE_ARM_OBSERVE = 2 };

/* Who made the answer. NONE: NCCL keeps its own choice. */
enum {
  LANEWISE_SOURCE_NONE = 0,
  LANEWISE_SOURCE_PROFILE = 1,
  LANEWISE_SOURCE_MODEL = 2,
  LANEWISE_SOURCE_FORCED = 3
};

/* A value that is not known: NCCL's own choice through tuner v2, which shows no costs. */
enum { LANEWISE_UNKNOWN = -1 };

/* The latest getCollInfo call of any communicator since watch(). algorithm and protocol are
 * NCCL's indices (0 tree, 1 ring, ...; 0 LL, 1 LL128, 2 Simple): what was decided, written only
 * where is_applied; without a decision the cheapest priced entry, which is what NCCL takes.
 * channels is what was asked for, 0 where NCCL chooses. */
typedef struct {
  uint64_t calls; /* since watch() */
  uint64_t bytes;
  int32_t collective; /* ncclFunc_t: 4 is all-reduce */
  int32_t algorithm;
  int32_t protocol;
  int32_t channels;
  int32_t source;
  int32_t is_applied; /* 0: the call's outputs were left untouched */
} lanewise_answer_v1;

/* All functions are thread-safe and act on the whole process, on every communicator: what calls
 * later see. Calls already captured in a CUDA graph keep their answer. */
typedef struct {
  const char* version; /* of the plugin, as in "0.1.0" */
  /* One of LANEWISE_ARM_*; 0 if taken, 1 for any other value (nothing changes). */
  int (*set_arm)(int arm);
  /* Writes this choice on every all-reduce, whatever the policy says and also on an inert
   * communicator (one rank and several nodes excepted), until release(). channels 0 leaves the
   * count to NCCL, otherwise 1..64 (1..32 before NCCL 2.25). 0 if taken, 1 out of range. An entry
   * that NCCL did not cost is never written: last_answer then says source FORCED, is_applied 0. */
  int (*force)(int algorithm, int protocol, int channels);
  void (*release)(void);
  /* Starts recording answers, from zero calls; unused, recording costs nothing. */
  void (*watch)(void);
  /* 0 and *answer filled, or 1 if no call was seen since watch(). Fields of two calls on two
   * threads may mix if their sizes or choices differ. */
  int (*last_answer)(lanewise_answer_v1* answer);
} lanewise_control_v1_t;

#ifdef __cplusplus
}
#endif
