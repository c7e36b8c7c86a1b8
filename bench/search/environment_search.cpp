// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "environment_search.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/profile/environment_plan.hpp"

namespace lanewise {
namespace {

// A step upwards is one that a repeat of the same run would not make by itself.
constexpr double least_step = gain_limit;
// Values of one kind come with growing memory: the larger one has to earn it.
constexpr double least_improvement = 1.01;

// Stock's four channels have 4 MiB each for Simple. More channels share these 16 MiB: with 4 MiB
// each, 16 channels over host memory are 0.965 of stock at 16 MiB, with 1 MiB 1.34.
constexpr std::array channel_counts = {8, 16, 32};
constexpr int stock_simple_bytes = 16 << 20;
// NCCL's own is 640 threads x 8 steps x 120 words of 8 bytes, 4915200; this is a sixteenth.
constexpr const char* idle_ll128_bytes = "307200";

// What the user has set stays.
SettingAxis channel_axis(const Environment& own, Ll128Buffers ll128,
                         std::optional<int> most_channels) {
  SettingAxis axis{"channels", {}};
  for (const int channels : channel_counts) {
    if (most_channels && channels > *most_channels) continue;
    Environment value = {{"NCCL_MIN_NCHANNELS", std::to_string(channels)}};
    if (!own.contains("NCCL_BUFFSIZE"))
      value.emplace("NCCL_BUFFSIZE", std::to_string(stock_simple_bytes / channels));
    if (ll128 == Ll128Buffers::idle && !own.contains("NCCL_LL128_BUFFSIZE"))
      value.emplace("NCCL_LL128_BUFFSIZE", idle_ll128_bytes);
    axis.values.push_back(value);
  }
  return axis;
}

Environment join(Environment base, const Environment& value) {
  for (const auto& [name, text] : value) base.insert_or_assign(name, text);
  return base;
}

bool contains(const Environment& whole, const Environment& part) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

bool touches(const SettingAxis& axis, const Environment& own) {
  return std::any_of(axis.values.begin(), axis.values.end(), [&](const Environment& value) {
    return std::any_of(value.begin(), value.end(),
                       [&](const auto& variable) { return own.contains(variable.first); });
  });
}

}  // namespace

std::vector<SettingAxis> setting_axes(const Environment& own, const std::string& graph_file,
                                      Ll128Buffers ll128, std::optional<int> most_channels) {
  std::vector<SettingAxis> axes;
  if (!graph_file.empty()) axes.push_back({"graph", {{{"NCCL_GRAPH_FILE", graph_file}}}});
  axes.push_back({"transport", {{{"NCCL_P2P_LEVEL", "SYS"}}, {{"NCCL_P2P_DISABLE", "1"}}}});
  axes.push_back(channel_axis(own, ll128, most_channels));
  // In bytes a thread for tree and ring, each LL, LL128, Simple; the base environment's are higher.
  axes.push_back(
      {"threads", {{{"NCCL_THREAD_THRESHOLDS", "1 8 64 1 8 64"}}, {{"NCCL_NTHREADS", "256"}}}});
  // Stock's is 4 MiB a channel and peer.
  axes.push_back({"buffers", {{{"NCCL_BUFFSIZE", "1048576"}}, {{"NCCL_BUFFSIZE", "8388608"}}}});
  std::erase_if(axes,
                [&](const SettingAxis& axis) { return axis.values.empty() || touches(axis, own); });
  return axes;
}

std::vector<SettingAxis> given_axes(const std::vector<Environment>& environments) {
  return {{"given", environments, AxisOrder::as_given}};
}

EnvironmentSearch::EnvironmentSearch(Environment base, std::vector<SettingAxis> axes,
                                     long long memory_limit)
    : axes_(std::move(axes)), memory_limit_(memory_limit), base_(std::move(base)) {}

std::optional<Environment> EnvironmentSearch::next() const {
  if (screenings_.empty()) return base_;
  // Without a sound base there is nothing to build upon.
  if (!screenings_.front().fault.empty() || axis_ >= axes_.size()) return std::nullopt;
  return join(base_, axes_[axis_].values[value_]);
}

bool EnvironmentSearch::is_skipped(const Environment& variables) const {
  return std::any_of(screenings_.begin(), screenings_.end(), [&](const Screening& screening) {
    if (screening.variables == variables) return true;
    return axes_[axis_].order == AxisOrder::by_memory && !screening.fault.empty() &&
           contains(variables, screening.variables);
  });
}

void EnvironmentSearch::settle_axis() {
  if (best_of_axis_) {
    accepted_.push_back(*best_of_axis_);
    base_ = screenings_[*best_of_axis_].variables;
    best_of_axis_.reset();
  }
  ++axis_;
  value_ = 0;
}

void EnvironmentSearch::record(const Screening& screening) {
  if (next() != screening.variables)
    throw Error("screened " + to_string(screening.variables) + " out of turn");
  screenings_.push_back(screening);
  const std::size_t index = screenings_.size() - 1;
  if (index == 0) {
    accepted_.push_back(0);
  } else {
    const bool is_too_large = screening.memory_bytes > memory_limit_;
    const double to_beat = best_of_axis_ ? screenings_[*best_of_axis_].speedup * least_improvement
                                         : screenings_[accepted_.back()].speedup * least_step;
    if (screening.fault.empty() && !is_too_large && screening.speedup > to_beat)
      best_of_axis_ = index;
    const bool is_last = is_too_large && axes_[axis_].order == AxisOrder::by_memory;
    value_ = is_last ? axes_[axis_].values.size() : value_ + 1;
  }
  while (axis_ < axes_.size()) {
    if (value_ >= axes_[axis_].values.size()) {
      settle_axis();
    } else if (is_skipped(join(base_, axes_[axis_].values[value_]))) {
      ++value_;
    } else {
      return;
    }
  }
}

std::vector<Screening> EnvironmentSearch::worthwhile() const {
  std::vector<Screening> found;
  for (const auto index : accepted_)
    if (screenings_[index].fault.empty()) found.push_back(screenings_[index]);
  std::stable_sort(found.begin(), found.end(),
                   [](const Screening& a, const Screening& b) { return a.speedup > b.speedup; });
  return found;
}

std::vector<UnsafeSetting> EnvironmentSearch::unsafe_settings() const {
  std::vector<UnsafeSetting> settings;
  for (const auto& screening : screenings_)
    if (!screening.fault.empty()) settings.push_back({screening.variables, screening.fault});
  return settings;
}

}  // namespace lanewise
