// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "context.hpp"

#include <array>
#include <cstdio>
#include <exception>
#include <string_view>
#include <utility>

#include "core/nccl/launch_rule.hpp"
#include "core/version.hpp"
#include "environment_layer.hpp"
#include "guard.hpp"
#include "host/machine/gpu_of_rank.hpp"
#include "host/nccl/nccl_environment.hpp"
#include "host/process/settings.hpp"
#include "translate.hpp"

namespace lanewise::plugin {
namespace {

// Empty where a policy is to decide.
std::string find_inert_reason(const PolicyInputs& inputs) {
  return std::string(inert_reason(inputs).value_or(""));
}

std::string describe_profile(const Inputs& inputs) {
  if (!inputs.most_channels) return inputs.profile_file;
  return inputs.profile_file + " up to " + std::to_string(*inputs.most_channels) +
         " channels, which is what this environment leaves,";
}

bool is_best_in_force(const Inputs& inputs) {
  if (!inputs.policy.profile || !inputs.profile->best_environment) return false;
  const auto matched = match_environment(*inputs.profile, inputs.environment);
  return matched.difference.empty() &&
         matched.nearest == &inputs.profile->environments.at(*inputs.profile->best_environment);
}

// Whatever ends prepare() early, the other ranks hear of it.
struct AbstainUnlessPrepared {
  Context& context;
  bool is_prepared = false;
  ~AbstainUnlessPrepared() {
    if (!is_prepared) context.abstain();
  }
};

}  // namespace

Context::Context(const Opening& opening) noexcept
    : opening_(opening), agreement_(opening), release_(opening.releases.first) {}

void Context::prepare() {
  begin_communicator(identify(opening_).ranks);
  const auto environment = read_environment_in_force();
  learn_of_stock(environment);
  const auto settings = host::parse_settings(environment);
  log_.emplace(
      host::LogOptions{settings.log_level, to_log_callback(opening_.logger), settings.log_file});
  log_unknown_names(*log_, settings);
  is_traced_ = log_->is_enabled(host::LogLevel::trace);
  may_write_ = settings.mode == host::Mode::apply;
  auto inputs = gather_inputs(opening_, settings, environment);
  open_counters(settings);
  const auto reason = plan(inputs, settings);
  if (counters_ != nullptr && policy_)
    counters_->set_mode(may_write_ ? host::CountedMode::applies : host::CountedMode::observes);
  try {
    log_start(inputs, reason);
  } catch (const std::exception&) {
    // The ranks have agreed by now: a line that is lost must not undo it on this one.
  }
}

// Before anything can fail: where the base environment is in force, stock's channels are asked for
// by an inert plugin, too.
void Context::learn_of_stock(const Environment& environment) {
  const auto identity = identify(opening_);
  ranks_ = identity.ranks;
  nodes_ = identity.nodes;
  release_ = identity.release;
  stock_channels_ = StockChannels(ranks_, release_, host::parse_nccl_limits(environment));
}

// Counting is of no consequence for decisions: where shared memory refuses, there is none.
void Context::open_counters(const host::Settings& settings) {
  if (settings.statistics == host::LiveStatistics::off || settings.mode == host::Mode::off ||
      ranks_ < 2)
    return;
  host::CountersRequest request;
  request.communicator = opening_.communicator;
  request.ranks = ranks_;
  request.release = release_;
  request.gpu = host::gpu_of_this_thread();
  std::string note;
  counters_ = host::LiveCounters::open(request, note);
  if (counters_ == nullptr && is_first(note))
    log_->write(host::LogLevel::info, "lanewise: calls are not counted: " + note);
}

// Makes the policy; where there is to be none, says why.
std::string Context::plan(Inputs& inputs, const host::Settings& settings) {
  if (settings.mode == host::Mode::off) {
    agreement_.withdraw();
    return "LANEWISE_MODE=off";
  }
  if (agreement_.is_possible()) return agree(inputs, settings);
  complete_inputs(inputs, {});
  auto reason = find_inert_reason(inputs.policy);
  if (reason.empty() && settings.agreement == host::AgreementRule::require)
    reason = "LANEWISE_AGREE=require, and this NCCL does not say which ranks belong together";
  if (reason.empty()) policy_.emplace(inputs.policy);
  return reason;
}

// The policy exists before this rank commits to it: nothing that follows can fail.
std::string Context::agree(Inputs& inputs, const host::Settings& settings) {
  const auto gpus = agreement_.gather(settings.agreement_limit, digest_of(inputs, settings.mode));
  if (!gpus) return disagree();
  complete_inputs(inputs, *gpus);
  auto reason = find_inert_reason(inputs.policy);
  if (reason.empty()) policy_.emplace(inputs.policy);
  if (agreement_.commit(plan_of(inputs.policy))) return reason;
  policy_.reset();
  return disagree();
}

std::string Context::disagree() const {
  auto reason = "the ranks do not agree: " + agreement_.reason();
  log_->write(is_first(reason) ? host::LogLevel::warning : host::LogLevel::info,
              "lanewise: NCCL's own choice stands: " + reason);
  return reason;
}

// One line a communicator, and a warning where a profile that the user named is not used.
void Context::log_start(const Inputs& inputs, const std::string& reason) const {
  std::string line = "lanewise " + std::string(version) + ": NCCL " + to_string(release_) + ", " +
                     std::to_string(opening_.ranks) + " ranks, " + inputs.machine + ", ";
  if (!reason.empty()) {
    line += "inert: " + reason;
  } else {
    line += inputs.policy.profile
                ? "choices from " + describe_profile(inputs) + " and the wave model"
                : "choices from the wave model";
    if (!may_write_) line += ", observing only";
  }
  if (stock_channels_.is_needed()) line += ", base environment in force";
  log_->write(host::LogLevel::info, line);
  log_unrestorable();
  if (reason.empty()) warn_of_lost_channels(inputs);
  if (inputs.profile_refusal.empty() || !reason.empty()) return;
  if (counters_ != nullptr)
    counters_->set_refusal(inputs.refusal_kind == Refusal::group ? host::RefusedPart::group
                                                                 : host::RefusedPart::profile,
                           inputs.profile_refusal + " (" + inputs.profile_file + ")");
  const std::string refusal = inputs.profile_file + " is not used: " + inputs.profile_refusal;
  log_->write(is_first(refusal) ? host::LogLevel::warning : host::LogLevel::info,
              "lanewise: " + refusal);
}

void Context::log_unrestorable() const {
  if (!stock_channels_.is_needed() || opening_.costs == CostTableAccess::with_table) return;
  const std::string line = "lanewise: NCCL " + to_string(release_) +
                           " shows no costs: where its own choice stands, it has the channels of "
                           "the base environment";
  if (is_first(line)) log_->write(host::LogLevel::info, line);
}

// With thresholds of their own users have their reasons, and so has a profile that calls this
// environment the best.
void Context::warn_of_lost_channels(const Inputs& inputs) const {
  if (!may_write_ || channel_request(release_) == ChannelRequest::replaces ||
      has_own_thresholds(inputs.policy.limits) || is_best_in_force(inputs))
    return;
  const std::string line = "lanewise: NCCL " + to_string(release_) +
                           " lets a tuner only lower its channels, so most of the gain is lost: "
                           "add NCCL_ENV_PLUGIN=lanewise, or start with `lanewise run -- COMMAND`";
  if (is_first(line)) log_->write(host::LogLevel::warning, line);
}

std::optional<Decision> Context::decide(const Query& query, const CostTable& table,
                                        const std::optional<ControlState>& control) noexcept {
  if (query.collective != Collective::all_reduce || query.nodes != 1 || query.ranks < 2) {
    return std::nullopt;
  }
  if (control && control->arm == ControlMode::stock) return std::nullopt;
  if (control && control->forced) return Decision{*control->forced, Source::forced};
  if (!policy_) return std::nullopt;
  return policy_->decide(query, table);
}

Outcome Context::write(const Choice& choice, CostTable& table,
                       const Outputs& outputs) const noexcept {
  if (choice.channels < 0 || choice.channels > release_.max_channels()) {
    return Outcome::left_to_nccl;
  }
  if (outputs.algorithm != nullptr && outputs.protocol != nullptr) {
    *outputs.algorithm = to_nccl(choice.algorithm);
    *outputs.protocol = to_nccl(choice.protocol);
  } else if (!table.prefer(choice.algorithm, choice.protocol)) {
    return Outcome::left_to_nccl;
  }
  if (choice.channels > 0 && outputs.channels != nullptr) *outputs.channels = choice.channels;
  return Outcome::applied;
}

Outcome Context::settle(const std::optional<Decision>& decision,
                        const std::optional<ControlState>& control, CostTable& table,
                        const Outputs& outputs) const noexcept {
  if (!decision || (control && control->arm != ControlMode::settings)) return Outcome::left_to_nccl;
  if (!may_write_ && decision->source != Source::forced) return Outcome::left_to_nccl;
  return write(decision->choice, table, outputs);
}

int Context::restore_stock(const Query& query, const CostTable& table,
                           const Outputs& outputs) const noexcept {
  const auto channels = stock_channels_.answer(query, table);
  if (!channels) return 0;
  if (outputs.channels != nullptr) *outputs.channels = *channels;
  return *channels;
}

void Context::trace(const Query& query, const std::optional<Decision>& decision, Outcome outcome,
                    int channels) const noexcept {
  std::array<char, 160> line{};
  const char* verb = outcome == Outcome::applied ? "applied" : "not applied";
  if (decision) {
    const auto& choice = decision->choice;
    std::snprintf(
        line.data(), line.size(), "lanewise: collective %d of %zu bytes: %s/%s/%d by %s, %s",
        to_nccl(query.collective), query.bytes, name_of(choice.algorithm).data(),
        name_of(choice.protocol).data(), choice.channels, name_of(decision->source).data(), verb);
  } else {
    std::snprintf(line.data(), line.size(),
                  channels > 0
                      ? "lanewise: collective %d of %zu bytes: NCCL's choice on %d channels"
                      : "lanewise: collective %d of %zu bytes: NCCL's choice",
                  to_nccl(query.collective), query.bytes, channels);
  }
  log_->write(host::LogLevel::trace, line.data());
}

void Context::answer_anew(const Call& call, CostTable table, const Outputs& outputs) noexcept {
  const auto collective = to_collective(call.function);
  if (!collective) return;
  const Query query{*collective, call.bytes, ranks_, nodes_, call.pipe_ops};
  const auto control = read_control();
  const bool is_watched = control && control->is_watched;
  // Asked first: writing changes what the table shows.
  const auto stock = is_watched ? table.stock_pick() : std::nullopt;
  const auto costs = table.is_tree_and_ring_only() ? std::optional(table.bits()) : std::nullopt;
  const auto decision = decide(query, table, control);
  const Outcome outcome = settle(decision, control, table, outputs);
  const bool is_applied = outcome == Outcome::applied;
  const int channels =
      is_applied ? decision->choice.channels : restore_stock(query, table, outputs);
  if (is_watched) {
    record_answer(query, decision ? decision->choice : stock,
                  decision ? decision->source : Source::none, outcome);
  }
  host::CounterEntry* counter = nullptr;
  const bool is_counted = counters_ != nullptr && query.collective == Collective::all_reduce;
  if (is_counted) counter = count(call, decision, outcome);
  if (is_traced_) trace(query, decision, outcome, channels);
  // A line for each call, a bench that changes its mind and a call without a counter need the rest.
  if (is_traced_ || control || !costs || (is_counted && counter == nullptr)) return;
  const auto choice = is_applied ? std::optional(decision->choice) : std::nullopt;
  memory_.keep({call, *costs, choice, channels, counter});
}

host::CounterEntry* Context::count(const Call& call, const std::optional<Decision>& decision,
                                   Outcome outcome) const noexcept {
  const auto effect =
      outcome == Outcome::applied ? host::CallEffect::applied : host::CallEffect::left_to_nccl;
  return counters_->record({call.bytes, decision, call.buffers, effect});
}

void open_context(void** context, const Opening& opening) {
  if (context != nullptr) *context = nullptr;
  if (!prepare_thread()) return warn_once(opening.logger, "there is no memory");
  if (context == nullptr) return;
  auto owner = std::make_unique<Context>(opening);
  Context& opened = *owner;
  *context = owner.release();
  AbstainUnlessPrepared guard{opened};
  opened.prepare();
  guard.is_prepared = true;
}

void close_context(void* context) noexcept {
  const std::unique_ptr<Context> owner(static_cast<Context*>(context));
}

}  // namespace lanewise::plugin
