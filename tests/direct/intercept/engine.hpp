// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// One rank of a played engine: NCCL's functions as it finds them, a stream, and what it expects.
// For the scenes of plays-engine.
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fake_gpu/fake_cuda.hpp"

struct ncclComm;
using Comm = ncclComm*;
struct UniqueId {
  char bytes[128];
};
struct Config {
  std::size_t size;
  unsigned magic;
  unsigned version;
  int blocking;
};

extern "C" {
int ncclAllReduce(const void*, void*, std::size_t, int, int, Comm, CUstream_st*);
int ncclBroadcast(const void*, void*, std::size_t, int, int, Comm, CUstream_st*);
int ncclCommInitRank(Comm*, int, UniqueId, int);
int ncclCommInitRankConfig(Comm*, int, UniqueId, int, Config*);
int ncclCommSplit(Comm, int, int, Comm*, Config*);
int ncclCommFinalize(Comm);
int ncclCommDestroy(Comm);
int ncclCommAbort(Comm);
int ncclGroupStart();
int ncclGroupEnd();
int ncclGroupSimulateEnd(void*);
int fake_nccl_all_reduces();
int fake_nccl_open_groups();
int fake_nccl_ended();
}

inline constexpr int ranks = 2;
inline constexpr int int32 = 2, float16 = 6, float32 = 7, sum = 0, largest = 2;

struct Nccl {
  decltype(&ncclAllReduce) all_reduce = ncclAllReduce;
  decltype(&ncclBroadcast) broadcast = ncclBroadcast;
  decltype(&ncclCommInitRank) init_rank = ncclCommInitRank;
  decltype(&ncclCommInitRankConfig) init_rank_config = ncclCommInitRankConfig;
  decltype(&ncclCommSplit) split = ncclCommSplit;
  decltype(&ncclCommFinalize) finalize = ncclCommFinalize;
  decltype(&ncclCommDestroy) destroy = ncclCommDestroy;
  decltype(&ncclCommAbort) abort = ncclCommAbort;
  decltype(&ncclGroupStart) group_start = ncclGroupStart;
  decltype(&ncclGroupEnd) group_end = ncclGroupEnd;
  decltype(&ncclGroupSimulateEnd) group_simulate_end = ncclGroupSimulateEnd;
  void* library = nullptr;
};

// Linked to, or of the file of PLAYER_LIBRARY.
[[nodiscard]] Nccl open_nccl();

class Engine {
 public:
  Engine(int rank_in, const UniqueId& id_in);

  Comm init();
  // Sums `count` floats; false where they are not the sum, as where NCCL was asked.
  bool reduce(Comm communicator, std::size_t count, int members = ranks);
  // Queues a sum in place and does not wait for it.
  void queue(Comm communicator, std::vector<float>& data);
  // What this rank gives to a sum.
  [[nodiscard]] std::vector<float> part(std::size_t count) const;
  [[nodiscard]] bool is_sum(const std::vector<float>& data, int members = ranks) const;
  void expect(bool claim, const char* what);

  int rank;
  UniqueId id;
  Nccl nccl = open_nccl();
  CUstream_st* stream = nullptr;
  bool is_wrong = false;
};

[[nodiscard]] double seconds_of(const std::function<void()>& action);

using Scenes = std::map<std::string, void (*)(Engine&)>;
// Of ranks that die, hang, come late or are refused something.
[[nodiscard]] Scenes trouble_scenes();
