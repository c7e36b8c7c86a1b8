// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "intercept/engine.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace {

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    std::printf("no %s\n", name);
    std::_Exit(1);
  }
}

}  // namespace

Nccl open_nccl() {
  Nccl nccl;
  const char* file = std::getenv("PLAYER_LIBRARY");
  if (file == nullptr) return nccl;
  nccl.library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (nccl.library == nullptr) {
    std::printf("%s\n", dlerror());
    std::_Exit(1);
  }
  find(nccl.library, "ncclAllReduce", nccl.all_reduce);
  find(nccl.library, "ncclBroadcast", nccl.broadcast);
  find(nccl.library, "ncclCommInitRank", nccl.init_rank);
  find(nccl.library, "ncclCommInitRankConfig", nccl.init_rank_config);
  find(nccl.library, "ncclCommSplit", nccl.split);
  find(nccl.library, "ncclCommFinalize", nccl.finalize);
  find(nccl.library, "ncclCommDestroy", nccl.destroy);
  find(nccl.library, "ncclCommAbort", nccl.abort);
  find(nccl.library, "ncclGroupStart", nccl.group_start);
  find(nccl.library, "ncclGroupEnd", nccl.group_end);
  find(nccl.library, "ncclGroupSimulateEnd", nccl.group_simulate_end);
  return nccl;
}

Engine::Engine(int rank_in, const UniqueId& id_in) : rank(rank_in), id(id_in) {
  fake_use_device(rank);
  cuStreamCreate(&stream, 1);
}

Comm Engine::init() {
  Comm made = nullptr;
  expect(nccl.init_rank(&made, ranks, id, rank) == 0, "init");
  return made;
}

std::vector<float> Engine::part(std::size_t count) const {
  std::vector<float> data(count);
  for (std::size_t i = 0; i < count; ++i)
    data[i] = static_cast<float>(rank + 1) + static_cast<float>(i % 7);
  return data;
}

void Engine::queue(Comm communicator, std::vector<float>& data) {
  expect(nccl.all_reduce(data.data(), data.data(), data.size(), float32, sum, communicator,
                         stream) == 0,
         "all-reduce");
}

bool Engine::reduce(Comm communicator, std::size_t count, int members) {
  auto data = part(count);
  queue(communicator, data);
  cuStreamSynchronize(stream);
  return is_sum(data, members);
}

bool Engine::is_sum(const std::vector<float>& data, int members) const {
  for (std::size_t i = 0; i < data.size(); ++i) {
    const float each = static_cast<float>(members) * static_cast<float>(i % 7);
    const float of_ranks = members == ranks ? 3.0F : static_cast<float>(rank + 1);
    if (data[i] != each + of_ranks) return false;
  }
  return true;
}

void Engine::expect(bool claim, const char* what) {
  if (claim) return;
  std::printf("rank %d: WRONG %s\n", rank, what);
  is_wrong = true;
}

double seconds_of(const std::function<void()>& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
