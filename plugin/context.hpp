// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What the plugin keeps for one communicator, the same for every ABI version. Adapters open it in
// init, ask it in getCollInfo and close it in destroy or finalize.
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "answer_cache.hpp"
#include "control.hpp"
#include "core/decision/policy.hpp"
#include "core/decision/stock_channels.hpp"
#include "core/nccl/cost_table.hpp"
#include "core/nccl/nccl_release.hpp"
#include "host/counters/counter_key.hpp"
#include "host/counters/live_counters.hpp"
#include "host/process/log.hpp"
#include "host/process/settings.hpp"
#include "inputs.hpp"
#include "nccl_abi.hpp"
#include "rank_agreement.hpp"

namespace lanewise::plugin {

// Where an answer goes: a zero cost in the table, or through v2 (no table) the two indices.
struct Outputs {
  int* algorithm = nullptr;
  int* protocol = nullptr;
  int* channels = nullptr;
};

class Context {
 public:
  // Inert until prepared.
  explicit Context(const Opening& opening) noexcept;

  // Everything slow. Throws Error for settings it does not take, and stays inert.
  void prepare();
  // After a failed prepare(): the other ranks need not wait for this one.
  void abstain() noexcept { agreement_.withdraw(); }

  // Writes its answer, or nothing. Called by one thread at a time, as NCCL does.
  void answer(const Call& call, CostTable table, const Outputs& outputs) noexcept {
    const auto* known = memory_.find(call, table);
    if (known == nullptr || is_control_used()) return answer_anew(call, table, outputs);
    if (known->choice) table.prefer_again(known->choice->algorithm, known->choice->protocol);
    if (known->channels > 0 && outputs.channels != nullptr) *outputs.channels = known->channels;
    if (known->counter != nullptr) counters_->record_again(*known->counter);
  }

 private:
  void answer_anew(const Call& call, CostTable table, const Outputs& outputs) noexcept;
  void learn_of_stock(const Environment& environment);
  [[nodiscard]] std::string plan(Inputs& inputs, const host::Settings& settings);
  [[nodiscard]] std::string agree(Inputs& inputs, const host::Settings& settings);
  [[nodiscard]] std::string disagree() const;
  void open_counters(const host::Settings& settings);
  [[nodiscard]] host::CounterEntry* count(const Call& call, const std::optional<Decision>& decision,
                                          Outcome outcome) const noexcept;
  void log_start(const Inputs& inputs, const std::string& reason) const;
  [[nodiscard]] std::optional<Decision> decide(const Query& query, const CostTable& table,
                                               const std::optional<ControlState>& control) noexcept;
  [[nodiscard]] Outcome write(const Choice& choice, CostTable& table,
                              const Outputs& outputs) const noexcept;

  [[nodiscard]] Outcome settle(const std::optional<Decision>& decision,
                               const std::optional<ControlState>& control, CostTable& table,
                               const Outputs& outputs) const noexcept;
  // Where the choice is left to NCCL: the channels asked for, 0 for none.
  [[nodiscard]] int restore_stock(const Query& query, const CostTable& table,
                                  const Outputs& outputs) const noexcept;
  void log_unrestorable() const;
  void warn_of_lost_channels(const Inputs& inputs) const;
  void trace(const Query& query, const std::optional<Decision>& decision, Outcome outcome,
             int channels) const noexcept;

  Opening opening_;
  RankAgreement agreement_;
  int ranks_ = 0;
  int nodes_ = 0;
  NcclRelease release_;
  StockChannels stock_channels_;
  std::optional<Policy> policy_;  // none: inert
  std::optional<host::Log> log_;
  std::unique_ptr<host::LiveCounters> counters_;  // null: not counted
  bool may_write_ = false;
  bool is_traced_ = false;
  AnswerCache memory_;
};

// The three calls of every adapter. `context` is NCCL's opaque pointer and may be null.
void open_context(void** context, const Opening& opening);
inline void answer(void* context, const Call& call, CostTable table,
                   const Outputs& outputs) noexcept {
  if (context != nullptr) static_cast<Context*>(context)->answer(call, table, outputs);
}
void close_context(void* context) noexcept;

}  // namespace lanewise::plugin
