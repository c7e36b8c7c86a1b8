/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

/* What hwloc's own PCI part costs an init: cc hwloc_cost.c -lhwloc && ./a.out, beside nothing else.
 */
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { rounds = 5 };

static double now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* NUMA nodes and packages, and of PCI what `devices` says, read from /sys. */
static void measure(const char* name, enum hwloc_type_filter_e devices) {
  double first = 0, best = 0;
  int found = 0;
  for (int round = 0; round < rounds; ++round) {
    const double start = now_ms();
    hwloc_topology_t topology;
    hwloc_topology_init(&topology);
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_io_types_filter(topology, devices);
    hwloc_topology_load(topology);
    const double took = now_ms() - start;
    found = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PCI_DEVICE);
    hwloc_topology_destroy(topology);
    if (round == 0) first = took;
    if (round == 0 || took < best) best = took;
  }
  printf("%-22s first %.1f ms, best of %d %.1f ms, %d PCI devices\n", name, first, rounds, best,
         found);
}

int main(void) {
  setenv("HWLOC_COMPONENTS", "-pci", 1);
  measure("no devices", HWLOC_TYPE_FILTER_KEEP_NONE);
  measure("important PCI devices", HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  measure("all PCI devices", HWLOC_TYPE_FILTER_KEEP_ALL);
  return 0;
}
