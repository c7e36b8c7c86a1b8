/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

/* Preloaded into the processes of stock_choices.py: NCCL takes the one GPU of this machine for GPU
 * ONE_GPU_INDEX at ONE_GPU_BUS_ID of a machine that a topology file describes, without NVLink. Only
 * what NCCL plans is to be looked at: nothing that several processes of one GPU wait for may run.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { not_supported = 3 }; /* NVML_ERROR_NOT_SUPPORTED */

typedef void* (*find_t)(void*, const char*);
typedef int (*get_address_t)(const char*, void**, int, uint64_t, void*);

static get_address_t real_get_address;
static void* nvml;

static find_t real_dlsym(void) {
  static find_t found;
  if (found == NULL) found = (find_t)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  if (found == NULL) found = (find_t)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  return found;
}

static int get_bus_id(char* text, int size, int device) {
  (void)device;
  snprintf(text, (size_t)size, "%s", getenv("ONE_GPU_BUS_ID"));
  return 0;
}

static int get_address(const char* name, void** address, int version, uint64_t flags,
                       void* status) {
  const int result = real_get_address(name, address, version, flags, status);
  if (strcmp(name, "cuDeviceGetPCIBusId") == 0) *address = (void*)get_bus_id;
  if (strcmp(name, "cuGetProcAddress") == 0) {
    if (version >= 12000) real_get_address = (get_address_t)*address;
    *address = (void*)get_address;
  }
  return result;
}

static int get_handle(const char* bus_id, void** handle) {
  (void)bus_id;
  int (*by_index)(unsigned, void**) =
      (int (*)(unsigned, void**))real_dlsym()(nvml, "nvmlDeviceGetHandleByIndex_v2");
  return by_index(0, handle);
}

static int get_index(void* handle, unsigned* index) {
  (void)handle;
  *index = (unsigned)atoi(getenv("ONE_GPU_INDEX"));
  return 0;
}

static int refuse(void) { return not_supported; }

static int begins_with(const char* text, const char* start) {
  return strncmp(text, start, strlen(start)) == 0;
}

void* dlsym(void* handle, const char* name) {
  void* found = real_dlsym()(handle, name);
  if (found == NULL || getenv("ONE_GPU_BUS_ID") == NULL) return found;
  if (strcmp(name, "cuDeviceGetPCIBusId") == 0) return (void*)get_bus_id;
  if (begins_with(name, "cuGetProcAddress")) {
    real_get_address = (get_address_t)found;
    return (void*)get_address;
  }
  if (!begins_with(name, "nvmlDevice")) return found;
  nvml = handle;
  if (begins_with(name, "nvmlDeviceGetHandleByPciBusId")) return (void*)get_handle;
  if (strcmp(name, "nvmlDeviceGetIndex") == 0) return (void*)get_index;
  if (begins_with(name, "nvmlDeviceGetNvLink") || begins_with(name, "nvmlDeviceGetGpuFabric"))
    return (void*)refuse;
  return found;
}
