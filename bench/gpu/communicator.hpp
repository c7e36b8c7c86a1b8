// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// One rank's NCCL communicator with the stream it works on.
#include <cuda_runtime_api.h>

#include "core/nccl/collective.hpp"
#include "data_type.hpp"
#include "nccl_library.hpp"
#include "ranks/rank_link.hpp"

namespace lanewise::bench {

class Communicator {
 public:
  // On the current device; all ranks call it at the same time. Throws std::runtime_error.
  explicit Communicator(RankLink& link);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  // Nothing may be in flight on the stream.
  ~Communicator();

  // Queues one call, out of place; `bytes` as NCCL tells them to a tuner: of the whole result of an
  // all-gather, of the whole input of a reduce-scatter. The root is rank 0, what is reduced summed.
  void call(Collective collective, const void* send, void* receive, std::size_t bytes,
            DataType type) const;
  [[nodiscard]] cudaStream_t stream() const noexcept { return stream_; }
  // Waits for this rank's stream alone: the device may run other ranks that wait for this one.
  void wait() const;

 private:
  const NcclLibrary& nccl_;
  std::size_t ranks_ = 0;
  cudaStream_t stream_ = nullptr;
  ncclComm_t communicator_ = nullptr;
};

}  // namespace lanewise::bench
