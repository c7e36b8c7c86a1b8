// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "communicator.hpp"

#include <cstring>

#include "direct/cuda_check.hpp"

namespace lanewise::bench {

Communicator::Communicator(RankLink& link) : nccl_(open_nccl()) {
  static_assert(sizeof(ncclUniqueId) <= sizeof(link.unique_id()));
  // Non-blocking: a stream that waits for the default stream waits for every other rank here.
  check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  if (link.rank() == 0) {
    ncclUniqueId fresh{};
    nccl_.check(nccl_.get_unique_id(&fresh), "ncclGetUniqueId");
    std::memcpy(link.unique_id().data(), &fresh, sizeof(fresh));
  }
  link.barrier();
  ncclUniqueId id{};
  std::memcpy(&id, link.unique_id().data(), sizeof(id));
  nccl_.check(nccl_.init_rank(&communicator_, link.ranks(), id, link.rank()), "ncclCommInitRank");
  link.barrier();
}

Communicator::~Communicator() {
  if (communicator_ != nullptr) static_cast<void>(nccl_.destroy(communicator_));
  if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
}

void Communicator::all_reduce(const void* send, void* receive, std::size_t bytes,
                              DataType type) const {
  nccl_.check(nccl_.all_reduce(send, receive, bytes / size_of(type), nccl_type(type), ncclSum,
                               communicator_, stream_),
              "ncclAllReduce");
}

void Communicator::wait() const {
  check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

}  // namespace lanewise::bench
