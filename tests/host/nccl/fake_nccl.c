/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

/* A libnccl.so.2 that only says its release and holds a logger. */
__attribute__((visibility("default"))) int ncclGetVersion(int* version);
__attribute__((visibility("default"))) void fake_nccl_logger(void);

int ncclGetVersion(int* version) {
  *version = 22809;
  return 0;
}

void fake_nccl_logger(void) {}
