/* SPDX-License-Identifier: Apache-2.0
 * Copyright the Lanewise authors */

/* libnccl.so.2 as far as the direct libraries see it: every function twice, weak under its own name
 * and strong with a p before it, as NCCL has them. It sums nothing: it counts what reaches it. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct ncclComm {
  int rank;
  int ranks;
};
typedef struct ncclComm* ncclComm_t;
typedef struct {
  char internal[128];
} ncclUniqueId;

#define TWICE(result, name, parameters)                           \
  result p##name parameters;                                      \
  result name parameters __attribute__((weak, alias("p" #name))); \
  result p##name parameters

static int all_reduces;
static int broadcasts;
static int open_groups;
static int ended_communicators;

int fake_nccl_all_reduces(void) { return all_reduces; }
int fake_nccl_broadcasts(void) { return broadcasts; }
int fake_nccl_open_groups(void) { return open_groups; }
int fake_nccl_ended(void) { return ended_communicators; }

static int make(ncclComm_t* made, int ranks, int rank) {
  *made = malloc(sizeof(**made));
  (*made)->rank = rank;
  (*made)->ranks = ranks;
  return 0;
}

TWICE(int, ncclGetVersion, (int* version)) {
  *version = 23007;
  return 0;
}
TWICE(int, ncclGroupStart, (void)) {
  ++open_groups;
  return 0;
}
TWICE(int, ncclGroupEnd, (void)) {
  --open_groups;
  return 0;
}
TWICE(int, ncclGroupSimulateEnd, (void* information)) {
  (void)information;
  --open_groups;
  return 0;
}
TWICE(int, ncclCommInitRankConfig,
      (ncclComm_t * made, int ranks, ncclUniqueId id, int rank, void* config)) {
  (void)id;
  (void)config;
  return make(made, ranks, rank);
}
TWICE(int, ncclCommInitRank, (ncclComm_t * made, int ranks, ncclUniqueId id, int rank)) {
  (void)id;
  /* By their public names: what NCCL does inside is nobody's business. */
  ncclGroupStart();
  const int status = make(made, ranks, rank);
  ncclGroupEnd();
  return status;
}
/* Colors are halves of the parent: even ranks and odd ones. */
TWICE(int, ncclCommSplit, (ncclComm_t parent, int color, int key, ncclComm_t* made, void* config)) {
  (void)key;
  (void)config;
  *made = NULL;
  if (color < 0) return 0;
  return make(made, (parent->ranks + 1 - color) / 2, parent->rank / 2);
}
TWICE(int, ncclCommCount, (ncclComm_t communicator, int* count)) {
  *count = communicator->ranks;
  return 0;
}
TWICE(int, ncclCommUserRank, (ncclComm_t communicator, int* rank)) {
  *rank = communicator->rank;
  return 0;
}
TWICE(int, ncclCommFinalize, (ncclComm_t communicator)) {
  (void)communicator;
  return getenv("FAKE_NCCL_BREAKS") != NULL ? 6 : 0;
}
TWICE(int, ncclCommDestroy, (ncclComm_t communicator)) {
  ++ended_communicators;
  free(communicator);
  return 0;
}
TWICE(int, ncclCommAbort, (ncclComm_t communicator)) {
  ++ended_communicators;
  free(communicator);
  return 0;
}
TWICE(int, ncclAllReduce,
      (const void* in, void* out, size_t count, int type, int operation, ncclComm_t communicator,
       void* stream)) {
  (void)in;
  (void)out;
  (void)count;
  (void)type;
  (void)operation;
  (void)communicator;
  (void)stream;
  ++all_reduces;
  return 0;
}
TWICE(int, ncclBroadcast,
      (const void* in, void* out, size_t count, int type, int root, ncclComm_t communicator,
       void* stream)) {
  (void)in;
  (void)out;
  (void)count;
  (void)type;
  (void)root;
  (void)communicator;
  (void)stream;
  ++broadcasts;
  return 0;
}
