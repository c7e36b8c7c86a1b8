// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// One rank's side of a rank_group: what it does for each request. All ranks run every request in
// step. Where several ranks share a GPU, allocation, capture and instantiation happen only while no
// NCCL kernel runs: a call that waits for the device would wait for a rank that waits for us.
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "comparison/candidate.hpp"
#include "gpu/buffers.hpp"
#include "gpu/call_graph.hpp"
#include "gpu/communicator.hpp"
#include "gpu/plugin_control.hpp"
#include "gpu/timer.hpp"
#include "rank_link.hpp"

namespace lanewise::bench {

class Session {
 public:
  explicit Session(RankLink& link) : link_(link) {}

  // open    {max_bytes, type, plugin, inject, collective, variables} -> {nccl, nccl_path}
  // probe   Batch -> [Verification]: captures each candidate and says what NCCL would launch
  // prepare Batch -> [Verification]: builds each candidate and checks its sums
  // time    {ids, launches} -> [us]: a call of each candidate in this order, slowest rank
  // soak    {id, rounds, seed} -> Verification: the same check again with ever new data
  // memory  {} -> {bytes}: device memory taken since the context was made, a rank's share of it
  // drop    {ids} -> {}: forgets what was prepared
  // Throws std::runtime_error for an unknown operation or whatever goes wrong.
  nlohmann::json run(std::string_view operation, const nlohmann::json& request);

 private:
  struct Prepared {
    Candidate candidate;
    std::size_t bytes = 0;
    int calls = 0;
    CallMode mode = CallMode::graph;
    double gap_us = 0;
    std::vector<std::size_t> trace;
    CallGraph graph;
  };
  const Prepared& find(int id) const;
  static Prepared plan(const Candidate& candidate, const Batch& batch);

  nlohmann::json open(const nlohmann::json& request);
  nlohmann::json probe(const nlohmann::json& request);
  nlohmann::json prepare(const nlohmann::json& request);
  nlohmann::json time(const nlohmann::json& request);
  nlohmann::json soak(const nlohmann::json& request);
  nlohmann::json memory(const nlohmann::json& request);
  nlohmann::json drop(const nlohmann::json& request);

  void warm_own_kernels();
  void steer(const Candidate& candidate);
  Verification capture(Prepared& prepared);
  std::string find_refusal(const Candidate& candidate, const Verification& found);
  int ranks_of_this_gpu() const;
  void instantiate(Prepared& prepared);
  void verify(const Prepared& prepared, std::uint64_t seed, Verification& verification);
  void verify_pattern(const Prepared& prepared, const InputCode& code, Verification& verification);
  void queue_calls(const Prepared& prepared);
  void queue_call(const Prepared& prepared, std::size_t bytes);
  void run_calls(const Prepared& prepared);
  double time_once(const Prepared& prepared, int launches);
  void inject_fault(const Prepared& prepared);
  void begin(std::string_view what, const Prepared& prepared);

  RankLink& link_;
  FaultInjection injection_;
  DataType type_ = DataType::bf16;
  Collective collective_ = Collective::all_reduce;
  int device_ = 0;
  double cycles_per_us_ = 0;
  int multiprocessors_ = 0;
  std::size_t free_before_ = 0;  // of the device's memory, when all ranks had their contexts
  std::optional<PluginControl> control_;
  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<Buffers> buffers_;
  std::unique_ptr<Timer> timer_;
  std::map<int, Prepared> prepared_;
};

}  // namespace lanewise::bench
