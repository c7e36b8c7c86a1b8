// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// libnvidia-ml.so.1 of one GPU at 1980 MHz, on which process 4711 computes.
extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) { return *count = 1, 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned, void** device) { return *device = nullptr, 0; }
int nvmlDeviceGetClockInfo(void*, int, unsigned* mhz) { return *mhz = 1980, 0; }
// `processes`: of 24 bytes, the number first.
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, unsigned* processes) {
  *count = 1;
  processes[0] = 4711;
  return 0;
}

}  // extern "C"
