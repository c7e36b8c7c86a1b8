// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// One all-reduce on each GPU, or by RANKS threads that share them, with whichever NCCL the loader
// path gives, its sums checked: what layers_check.sh and scripts/matrix.sh run with each release to
// see which layers of Lanewise it takes. Ranks that share a GPU need NCCL 2.30.3 and
// NCCL_MULTI_RANK_GPU_ENABLE=1. Usage: lanewise-layers-check [RANKS]
#include <atomic>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gpu/cuda_check.hpp"
#include "gpu/devices.hpp"
#include "gpu/nccl_library.hpp"

namespace lanewise::bench {
namespace {

constexpr std::size_t elements = 3584;  // 14 KiB of floats
constexpr int calls = 50;

// Small whole numbers: any order of adding gives the same bits.
float input_of(int rank, std::size_t element) {
  return static_cast<float>((rank + 1) * (1 + static_cast<int>(element % 7)));
}

bool is_right(const std::vector<float>& sums, int ranks) {
  const int weight = ranks * (ranks + 1) / 2;
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i] != static_cast<float>(weight * (1 + static_cast<int>(i % 7)))) return false;
  return true;
}

// Memory and stream end with the process.
std::vector<float> reduce(const NcclLibrary& nccl, ncclComm_t communicator, int rank) {
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreate(&stream), "cudaStreamCreate");
  float* memory = nullptr;
  constexpr std::size_t bytes = elements * sizeof(float);
  check_cuda(cudaMalloc(&memory, 2 * bytes), "cudaMalloc");
  std::vector<float> values(elements);
  for (std::size_t i = 0; i < elements; ++i) values[i] = input_of(rank, i);
  check_cuda(cudaMemcpy(memory, values.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  for (int call = 0; call < calls; ++call)
    nccl.check(nccl.all_reduce(memory, memory + elements, elements, ncclFloat32, ncclSum,
                               communicator, stream),
               "ncclAllReduce");
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  check_cuda(cudaMemcpy(values.data(), memory + elements, bytes, cudaMemcpyDeviceToHost),
             "cudaMemcpy");
  return values;
}

void run_rank(int rank, int ranks, const ncclUniqueId& id) {
  const auto& nccl = open_nccl();
  const int gpus = static_cast<int>(list_devices().size());
  check_cuda(cudaSetDevice(rank % gpus), "cudaSetDevice");
  ncclComm_t communicator = nullptr;
  nccl.check(nccl.init_rank(&communicator, ranks, id, rank), "ncclCommInitRank");
  const auto sums = reduce(nccl, communicator, rank);
  nccl.check(nccl.destroy(communicator), "ncclCommDestroy");
  if (!is_right(sums, ranks))
    throw std::runtime_error("wrong sums on rank " + std::to_string(rank));
}

int check_layers(int ranks) {
  const auto& nccl = open_nccl();
  ncclUniqueId id{};
  nccl.check(nccl.get_unique_id(&id), "ncclGetUniqueId");
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([rank, ranks, &id, &failures] {
      try {
        run_rank(rank, ranks, id);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
        ++failures;
      }
    });
  for (auto& thread : threads) thread.join();
  if (failures > 0) return 1;
  std::printf("NCCL %s: %d ranks, sums right\n", to_string(nccl.release()).c_str(), ranks);
  return 0;
}

}  // namespace
}  // namespace lanewise::bench

int main(int argc, char** argv) {
  try {
    const int gpus = static_cast<int>(lanewise::bench::list_devices().size());
    return lanewise::bench::check_layers(argc > 1 ? std::stoi(argv[1]) : gpus);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lanewise-layers-check: %s\n", error.what());
    return 2;
  }
}
