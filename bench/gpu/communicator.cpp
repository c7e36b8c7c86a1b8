// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "communicator.hpp"

#include <cstring>

#include "cuda_check.hpp"

namespace lanewise::bench {

Communicator::Communicator(RankLink& link)
    : nccl_(open_nccl()), ranks_(static_cast<std::size_t>(link.ranks())) {
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

void Communicator::call(Collective collective, const void* send, void* receive, std::size_t bytes,
                        DataType type) const {
  constexpr int root = 0;
  const ncclDataType_t element = nccl_type(type);
  const std::size_t count = bytes / size_of(type);
  switch (collective) {
    case Collective::broadcast:
      return nccl_.check(
          nccl_.broadcast(send, receive, count, element, root, communicator_, stream_),
          "ncclBroadcast");
    case Collective::reduce:
      return nccl_.check(
          nccl_.reduce(send, receive, count, element, ncclSum, root, communicator_, stream_),
          "ncclReduce");
    case Collective::all_gather:
      return nccl_.check(
          nccl_.all_gather(send, receive, count / ranks_, element, communicator_, stream_),
          "ncclAllGather");
    case Collective::reduce_scatter:
      return nccl_.check(nccl_.reduce_scatter(send, receive, count / ranks_, element, ncclSum,
                                              communicator_, stream_),
                         "ncclReduceScatter");
    case Collective::all_reduce:
      break;
  }
  nccl_.check(nccl_.all_reduce(send, receive, count, element, ncclSum, communicator_, stream_),
              "ncclAllReduce");
}

void Communicator::wait() const {
  check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

}  // namespace lanewise::bench
