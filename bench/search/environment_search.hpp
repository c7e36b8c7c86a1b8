// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Which environments a tune screens, in which order, and which of them are worth a full sweep. One
// kind of setting after the other, each on top of the best so far. Pure: the caller measures.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/profile/profile.hpp"
#include "core/statistics.hpp"

namespace lanewise {

// Whether a value that takes too much memory ends its axis: the later ones take more.
enum class AxisOrder : std::uint8_t { by_memory, as_given };

struct SettingAxis {
  std::string name;  // for people: "channels"
  std::vector<Environment> values;
  AxisOrder order = AxisOrder::by_memory;
};

// Whether LL128's buffers are of any use: where NCCL prices none of it, as over PCIe, they are not.
enum class Ll128Buffers : std::uint8_t { needed, idle };

// Transport, channels, threads and buffers. `graph_file`: an NCCL_GRAPH_FILE to try first; empty:
// none. Axes of which `own` (what the user has set) has any variable are left out. Channels share
// stock's buffers, and idle ones are cut to a sixteenth: on two H200s, 8 ranks over host memory, 16
// channels then take 142 instead of 334 MiB a rank and are faster above 4 MiB (bench/RESULTS.md).
// More channels than `most_channels`, where ranks share GPUs, would hang and are not tried.
[[nodiscard]] std::vector<SettingAxis> setting_axes(const Environment& own,
                                                    const std::string& graph_file,
                                                    Ll128Buffers ll128,
                                                    std::optional<int> most_channels = {});

// One axis of whole environments: the search picks among them and builds on none.
[[nodiscard]] std::vector<SettingAxis> given_axes(const std::vector<Environment>& environments);

// What fresh ranks showed. `speedup`: geometric mean over the screened sizes of stock's time in
// stock's environment over the best choice's time in this one.
struct Screening {
  Environment variables;
  double speedup = 0;
  long long memory_bytes = 0;  // of a rank, beyond stock's environment
  std::string fault;           // hung, failed or gave a wrong sum; empty: none
  friend bool operator==(const Screening&, const Screening&) = default;
};

class EnvironmentSearch {
 public:
  // `base`: the keyed variables that the user has set; all environments hold them. A setting that
  // takes more than `memory_limit` bytes a rank is recorded and not built upon, and where
  // its axis goes by memory neither are the later values.
  EnvironmentSearch(Environment base, std::vector<SettingAxis> axes, long long memory_limit);

  // What to screen now, the base first; nullopt: the search is over. The same until it is recorded.
  [[nodiscard]] std::optional<Environment> next() const;
  // Throws Error for another environment than next().
  void record(const Screening& screening);

  [[nodiscard]] const std::vector<Screening>& screenings() const noexcept { return screenings_; }
  // The environments worth a full sweep, fastest first: the base, and what the search built upon.
  [[nodiscard]] std::vector<Screening> worthwhile() const;
  [[nodiscard]] std::vector<UnsafeSetting> unsafe_settings() const;

 private:
  [[nodiscard]] bool is_skipped(const Environment& variables) const;
  void settle_axis();

  std::vector<SettingAxis> axes_;
  long long memory_limit_;
  std::vector<Screening> screenings_;
  std::vector<std::size_t> accepted_;  // into screenings_, the base and each step upwards
  Environment base_;
  std::size_t axis_ = 0;
  std::size_t value_ = 0;
  std::optional<std::size_t> best_of_axis_;  // into screenings_
};

}  // namespace lanewise
