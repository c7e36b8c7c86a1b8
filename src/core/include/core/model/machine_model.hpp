// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The machines that fit what is known of one: how NCCL's hops are carried, and how fast the
// narrowest of them is. What nobody can tell stays a set, and a choice must win on all of it.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/machine/link_rates.hpp"

namespace lanewise {

// How bytes go from GPU to GPU: through host memory, or by peer access.
enum class Transport : std::uint8_t { unknown, host_memory, peer };

// `link_rate`: GB/s that the narrowest hop can carry; `moving_rate`: what NCCL gets out of it.
struct MachineModel {
  Transport transport = Transport::host_memory;
  double link_rate = 0;
  double moving_rate = 0;
  friend bool operator==(const MachineModel&, const MachineModel&) = default;
};

// The machine that the constants are fitted on: Gen5 x16 and host memory.
inline constexpr MachineModel fitted_machine = {Transport::host_memory, 63.0, 63.0};

class PlausibleMachines {
 public:
  static constexpr std::size_t most = 4;

  // The first is the likeliest. `nccl_rate`: GB/s that NCCL reckons with, where its costs tell and
  // are not absurd. It counts where the links are not known.
  PlausibleMachines(const LinkRates& links, Transport transport,
                    std::optional<double> nccl_rate) noexcept;
  // One that is known: its own times say what its hops and links carry.
  explicit PlausibleMachines(const MachineModel& known) noexcept : machines_{known}, count_(1) {}
  [[nodiscard]] std::span<const MachineModel> machines() const noexcept {
    return {machines_.data(), count_};
  }

 private:
  std::array<MachineModel, most> machines_{};
  std::size_t count_ = 0;
};

}  // namespace lanewise
