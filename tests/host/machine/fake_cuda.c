/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

/* A libcuda.so.1 with one GPU for each thread that made itself a context; initialising is a test's
   failure. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
EXPORT int cuInit(unsigned flags);
EXPORT int cuCtxGetDevice(int* device);
EXPORT int cuDeviceGetPCIBusId(char* text, int length, int device);
EXPORT void fake_cuda_make_current(int device);

static _Thread_local int current = -1;
static _Thread_local pid_t owner;

int cuInit(unsigned flags) {
  (void)flags;
  abort();
}

void fake_cuda_make_current(int device) {
  current = device;
  owner = getpid();
}

/* As the driver: 3 (not initialised) in a forked child, 201 (invalid context) without a context. */
int cuCtxGetDevice(int* device) {
  if (current >= 0 && owner != getpid()) return 3;
  if (current < 0) return 201;
  *device = current;
  return 0;
}

int cuDeviceGetPCIBusId(char* text, int length, int device) {
  if (device < 0 || length < 13) return 1;
  /* From 16 on a device's number is its bus. */
  snprintf(text, (size_t)length, "%04x:%02x:00.0", device == 7 ? 0x10000 : 0,
           device < 16 ? 0x10 + device : device);
  return 0;
}
