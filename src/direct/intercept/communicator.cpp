// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "intercept/communicator.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "core/agreement/digest.hpp"
#include "core/error.hpp"
#include "core/version.hpp"
#include "direct/kernel_plan.hpp"
#include "host/agreement/agreement.hpp"
#include "host/counters/counter_key.hpp"
#include "host/machine/gpu_of_rank.hpp"
#include "intercept/nccl_functions.hpp"
#include "intercept/rank_board.hpp"

namespace lanewise::direct {
namespace {

std::optional<Element> element_of(int type) noexcept {
  switch (type) {
    case nccl_float16:
      return Element::fp16;
    case nccl_float32:
      return Element::fp32;
    case nccl_bfloat16:
      return Element::bf16;
    default:
      return std::nullopt;
  }
}

host::DirectForm counted_form(Form form) noexcept {
  return static_cast<host::DirectForm>(static_cast<int>(form) + 1);
}
static_assert(static_cast<int>(host::DirectForm::one_shot_ll) ==
                  static_cast<int>(Form::one_shot_ll) + 1 &&
              static_cast<int>(host::DirectForm::two_shot) == static_cast<int>(Form::two_shot) + 1);

// Of everything that this library does with a call: ranks that differ stay with NCCL.
std::uint64_t digest_of(const DirectSettings& settings) {
  return Digest()
      .add(version)
      .add("direct 1")
      .add(format_size_ranges(settings.ranges))
      .add(static_cast<std::uint64_t>(settings.graphs))
      .add(settings.may_use_gpu ? 1U : 0U)
      .value();
}

host::AgreementRequest request_for(std::uint64_t name, int ranks, const DirectSettings& settings) {
  host::AgreementRequest request;
  request.communicator = name;
  request.ranks = ranks;
  request.digest = digest_of(settings);
  request.limit = settings.agreement_limit;
  return request;
}

std::size_t largest_ll_size(const std::vector<SizeRange>& ranges, int ranks) {
  std::size_t largest = 0;
  for (const SizeRange& range : ranges) {
    if (range.form == Form::one_shot_ll && (range.ranks == 0 || range.ranks == ranks))
      largest = std::max(largest, range.highest);
  }
  return largest;
}

std::vector<host::ProcessIdentity> exchange_identities(RankBoard& board) {
  const auto mine = host::this_process();
  const std::array<std::uint64_t, 2> words = {mine.word(), mine.pid_namespace};
  const auto all = board.gather(words);
  std::vector<host::ProcessIdentity> identities;
  for (std::size_t i = 0; i + 1 < all.size(); i += 2)
    identities.push_back(host::ProcessIdentity::from_word(all[i], all[i + 1]));
  return identities;
}

std::unique_ptr<Group> make_group(RankBoard& board, int rank, int ranks,
                                  const DirectSettings& settings) {
  GroupOptions options;
  options.max_bytes = largest_size(settings.ranges, ranks);
  options.ll_bytes = largest_ll_size(settings.ranges, ranks);
  options.graphs = settings.graphs;
  options.may_use_gpu = settings.may_use_gpu;
  return std::make_unique<Group>(
      rank, ranks, [&](std::span<const std::uint64_t> mine) { return board.gather(mine); },
      options);
}

}  // namespace

Communicator::~Communicator() {
  if (!group_) return;
  if (is_verbose_) say("took " + std::to_string(taken_) + " calls");
  if (!group_->drain([this] { return is_aborted_ || has_dead_peer(); }))
    static_cast<void>(group_.release());
}

void Communicator::join(int rank, int ranks, const DirectSettings& settings) noexcept {
  if (ranks < 2 || ranks > most_ranks || largest_size(settings.ranges, ranks) == 0) return;
  try {
    agree(rank, ranks, settings);
  } catch (const std::exception& error) {
    group_.reset();
    if (!settings.is_quiet)
      say("rank " + std::to_string(rank) + " of " + std::to_string(ranks) + ": " + error.what() +
          "; all ranks stay with NCCL");
  }
}

void Communicator::agree(int rank, int ranks, const DirectSettings& settings) {
  host::Agreement agreement(request_for(name_, ranks, settings));
  const auto why = [&] {
    const auto note = agreement.note();
    return std::string(lanewise::name_of(agreement.verdict())) + (note.empty() ? "" : ": " + note);
  };
  if (!agreement.gather()) throw Error("no agreement, " + why());
  RankBoard board(name_, rank, ranks, settings.agreement_limit);
  try {
    peers_ = exchange_identities(board);
    group_ = make_group(board, rank, ranks, settings);
  } catch (const std::exception&) {
    board.give_up();
    agreement.withdraw();
    throw;
  }
  if (agreement.commit(digest_of(settings)) != AgreementVerdict::apply)
    throw Error("no agreement, " + why());
  ranks_ = ranks;
  ranges_ = settings.ranges;
  is_verbose_ = settings.is_verbose;
  open_counters(settings);
  if (rank != 0 || !is_verbose_) return;
  const GroupMemory& memory = group_->memory();
  say(std::to_string(ranks) + " ranks all-reduce through " + std::string(name_of(memory.place)) +
      ", " + std::to_string(memory.rank_bytes >> 10) + " KiB a rank, sizes " +
      format_size_ranges(ranges_));
}

// Counting is of no consequence for calls: where shared memory refuses, there is none.
void Communicator::open_counters(const DirectSettings& settings) {
  if (!settings.is_counting) return;
  host::CountersRequest request;
  request.ranks = ranks_;
  request.gpu = host::gpu_of_this_thread();
  int code = 0;
  if (ask_nccl(nccl_functions().version, &code) == nccl_success)
    request.release = NcclRelease::from_code(code);
  std::string note;
  counters_ = host::LiveCounters::open(request, note);
  if (counters_)
    counters_->set_mode(host::CountedMode::direct);
  else if (is_verbose_)
    say("calls are not counted: " + note);
}

void Communicator::stay_away(int ranks, const DirectSettings& settings) noexcept {
  if (ranks < 2 || ranks > most_ranks || largest_size(settings.ranges, ranks) == 0) return;
  try {
    host::Agreement(request_for(name_, ranks, settings)).withdraw();
  } catch (const std::exception&) {  // then the others wait for their limit
  }
}

bool Communicator::takes(const NcclAllReduce& call) const noexcept {
  if (!group_ || call.operation != nccl_sum || call.count == 0) return false;
  const auto element = element_of(call.type);
  if (!element) return false;
  return find_range(ranges_, call.count * size_of(*element), ranks_) != nullptr;
}

Taken Communicator::launch(const NcclAllReduce& call) noexcept {
  const auto element = element_of(call.type);
  const auto* range = find_range(ranges_, call.count * size_of(*element), ranks_);
  Queued queued;
  const Taken taken =
      group_->launch(call.stream, call.in, call.out, call.count, *element, range->form, &queued);
  if (taken == Taken::done) {
    taken_.fetch_add(1, std::memory_order_relaxed);
    if (counters_)
      counters_->record(
          {call.count * size_of(*element), std::nullopt,
           queued.is_captured ? host::CallBuffers::captured : host::CallBuffers::eager,
           host::CallEffect::applied, counted_form(queued.form)});
  }
  if (taken == Taken::failed) say("an all-reduce failed: " + group_->failure());
  return taken;
}

void Communicator::count_left(const NcclAllReduce& call) noexcept {
  if (counters_ && call.count > 0)
    counters_->record({call.count * nccl_size_of(call.type), {}, {}, {}, {}});
}

std::uint64_t Communicator::name_child(std::span<const int> distinction) noexcept {
  Digest digest;
  digest.add(name_).add(++children_);
  for (const int number : distinction) digest.add(static_cast<std::uint64_t>(number));
  return digest.value();
}

bool Communicator::has_dead_peer() const noexcept {
  for (const auto& peer : peers_)
    if (host::liveness_of(peer) == host::Liveness::dead) return true;
  return false;
}

void Communicator::abort() noexcept {
  is_aborted_ = true;
  if (group_) group_->abort();
}

void Communicators::add(NcclComm handle, std::shared_ptr<Communicator> communicator) {
  const std::unique_lock lock(mutex_);
  all_[handle] = std::move(communicator);
}

std::shared_ptr<Communicator> Communicators::find(NcclComm handle) const {
  const std::shared_lock lock(mutex_);
  const auto found = all_.find(handle);
  return found == all_.end() ? nullptr : found->second;
}

std::shared_ptr<Communicator> Communicators::remove(NcclComm handle) {
  const std::unique_lock lock(mutex_);
  const auto found = all_.find(handle);
  if (found == all_.end()) return nullptr;
  auto communicator = std::move(found->second);
  all_.erase(found);
  return communicator;
}

void Communicators::abort_all() noexcept {
  const std::shared_lock lock(mutex_);
  for (const auto& [handle, communicator] : all_) communicator->abort();
}

Communicators& communicators() {
  static auto& all = *new Communicators;
  return all;
}

}  // namespace lanewise::direct
