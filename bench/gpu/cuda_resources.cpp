// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "cuda_resources.hpp"

#include <cstring>

namespace lanewise::bench {

PinnedBuffer::PinnedBuffer(std::size_t bytes) {
  check_cuda(cudaHostAlloc(&data_, bytes, cudaHostAllocPortable | cudaHostAllocMapped),
             "cudaHostAlloc");
  std::memset(data_, 0, bytes);
}

PeerAccess::PeerAccess(int from, int to) : from_(from), to_(to) {
  if (from == to) return;
  const DeviceScope scope(from);
  const cudaError_t status = cudaDeviceEnablePeerAccess(to, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    // The runtime also keeps it as the last error, which a later check would find.
    static_cast<void>(cudaGetLastError());
    return;
  }
  check_cuda(status, "cudaDeviceEnablePeerAccess");
  is_ours_ = true;
}

PeerAccess::~PeerAccess() {
  if (!is_ours_) return;
  int previous = 0;
  static_cast<void>(cudaGetDevice(&previous));
  static_cast<void>(cudaSetDevice(from_));
  static_cast<void>(cudaDeviceDisablePeerAccess(to_));
  static_cast<void>(cudaSetDevice(previous));
}

}  // namespace lanewise::bench
