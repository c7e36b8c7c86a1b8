// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "rank_agreement.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <exception>
#include <utility>

#include "core/agreement/digest.hpp"
#include "core/error.hpp"
#include "core/profile/environment_key.hpp"
#include "core/version.hpp"
#include "host/machine/gpu_of_rank.hpp"
#include "host/profile/profile_file.hpp"

namespace lanewise::plugin {
namespace {

void add(Digest& digest, const NcclRelease& release) noexcept {
  for (const int part : {release.major, release.minor, release.patch})
    digest.add(static_cast<std::uint64_t>(part));
}

void add(Digest& digest, std::optional<long long> number) noexcept {
  digest.add(std::uint64_t{number.has_value()});
  digest.add(static_cast<std::uint64_t>(number.value_or(0)));
}

void add(Digest& digest, const NcclLimits& limits) noexcept {
  for (const auto& limit :
       {limits.min_channels, limits.max_channels, limits.min_ctas, limits.max_ctas, limits.threads})
    add(digest, limit);
  for (const auto& row : limits.thread_thresholds)
    for (const auto& threshold : row) add(digest, threshold);
}

void add(Digest& digest, const Rule& rule) noexcept {
  digest.add(rule.bytes.low).add(rule.bytes.high);
  digest.add(static_cast<std::uint64_t>(rule.choice.algorithm))
      .add(static_cast<std::uint64_t>(rule.choice.protocol))
      .add(static_cast<std::uint64_t>(rule.choice.channels));
}

void add(Digest& digest, const MachineFit& fit) noexcept {
  digest.add(static_cast<std::uint64_t>(fit.channels))
      .add(fit.smallest_bytes)
      .add(fit.largest_bytes)
      .add(fit.constants.largest_tree_bytes);
  for (const auto& terms : {fit.constants.tree_ll, fit.constants.tree_simple, fit.constants.ring_ll,
                            fit.constants.ring_simple})
    for (const auto word : std::bit_cast<std::array<std::uint64_t, 7>>(terms)) digest.add(word);
}

// A rank that never came most likely sees another /dev/shm, and will in every communicator of this
// process. Ranks leave NCCL's own barrier within milliseconds of each other, so those that can meet
// still do.
constexpr std::chrono::milliseconds limit_once_learnt{50};
// The fewest ranks that waited for one of them in vain; 0: none did.
constinit std::atomic<std::size_t> ranks_in_vain{0};

void learn(AgreementVerdict verdict, std::size_t ranks) noexcept {
  const auto known = ranks_in_vain.load();
  if (verdict == AgreementVerdict::timed_out && (known == 0 || ranks < known))
    ranks_in_vain = ranks;
  if (verdict == AgreementVerdict::apply && ranks >= known) ranks_in_vain = 0;
}

}  // namespace

bool RankAgreement::is_possible() const noexcept {
  return opening_.communicator && opening_.nodes == 1 && opening_.ranks >= 2;
}

void RankAgreement::begin(std::chrono::milliseconds limit, std::uint64_t digest) {
  if (opening_.ranks > static_cast<std::size_t>(AgreementWord::max_ranks))
    throw Error(std::to_string(opening_.ranks) + " ranks are more than can agree");
  host::AgreementRequest request;
  request.communicator = *opening_.communicator;
  request.ranks = static_cast<int>(opening_.ranks);
  request.digest = digest;
  request.gpu = host::gpu_of_this_thread();
  request.limit = limit;
  agreement_ = std::make_unique<host::Agreement>(std::move(request));
}

std::optional<RankGpus> RankAgreement::gather(std::chrono::milliseconds limit,
                                              std::uint64_t digest) {
  begin(ranks_in_vain == 0 ? limit : std::min(limit, limit_once_learnt), digest);
  auto gpus = agreement_->gather();
  if (!gpus) learn(agreement_->verdict(), opening_.ranks);
  return gpus;
}

bool RankAgreement::commit(std::uint64_t plan) noexcept {
  if (agreement_ == nullptr) return false;
  const auto verdict = agreement_->commit(plan);
  learn(verdict, opening_.ranks);
  return verdict == AgreementVerdict::apply;
}

void RankAgreement::withdraw() noexcept {
  if (!is_possible()) return;
  try {
    if (agreement_ == nullptr) begin(host::AgreementRequest{}.limit, 0);
    agreement_->withdraw();
  } catch (const std::exception&) {
    // Without memory this rank says nothing, and the others run into their limit.
  }
}

std::string RankAgreement::reason() const {
  if (agreement_ == nullptr) return {};
  const auto note = agreement_->note();
  std::string reason(name_of(agreement_->verdict()));
  if (agreement_->verdict() == AgreementVerdict::timed_out)
    reason +=
        " (ranks in containers need one /dev/shm, as with --ipc=host; further communicators "
        "wait " +
        std::to_string(limit_once_learnt.count()) + " ms)";
  return note.empty() ? reason : reason + " (" + note + ')';
}

std::uint64_t digest_of(const Inputs& inputs, host::Mode mode) {
  Digest digest;
  digest.add(version).add(static_cast<std::uint64_t>(mode));
  add(digest, inputs.policy.release);
  for (const auto& [name, value] : keyed_part(inputs.environment)) digest.add(name).add(value);
  if (inputs.profile) digest.add(host::format_profile(*inputs.profile));
  return digest.value();
}

std::uint64_t plan_of(const PolicyInputs& inputs) noexcept {
  Digest digest;
  digest.add(static_cast<std::uint64_t>(inputs.ranks))
      .add(static_cast<std::uint64_t>(inputs.costs))
      .add(static_cast<std::uint64_t>(inputs.user_filter))
      .add(static_cast<std::uint64_t>(inputs.nvlink))
      .add(static_cast<std::uint64_t>(inputs.switches))
      .add(static_cast<std::uint64_t>(inputs.models))
      .add(static_cast<std::uint64_t>(inputs.sharing))
      .add(static_cast<std::uint64_t>(inputs.transport))
      .add(std::bit_cast<std::uint64_t>(inputs.links.low))
      .add(std::bit_cast<std::uint64_t>(inputs.links.high));
  add(digest, inputs.release);
  add(digest, inputs.limits);
  add(digest, inputs.channels);
  if (inputs.fit) add(digest, *inputs.fit);
  if (!inputs.profile) return digest.value();
  digest.add(static_cast<std::uint64_t>(inputs.profile->ll128))
      .add(static_cast<std::uint64_t>(inputs.profile->link));
  for (const auto& rule : inputs.profile->rules.rules()) add(digest, rule);
  for (const auto bytes : inputs.profile->rules.stock_sizes()) digest.add(bytes);
  return digest.value();
}

}  // namespace lanewise::plugin
