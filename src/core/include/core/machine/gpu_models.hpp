// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What a PCI device id of NVIDIA's tells about a GPU: its model, its compute capability, and
// whether it can carry NVLink at all. Sources in the .cpp. A wrong "cannot" would let the wave
// model answer over NVLink where NCCL shows no costs, so what is not certain is unknown.
#include <cstdint>
#include <optional>
#include <string_view>

namespace lanewise {

enum class NvlinkAbility : std::uint8_t { no, yes, unknown };

struct GpuModel {
  std::uint16_t device = 0;
  std::string_view name;
  int compute_capability = 0;  // 120 for sm_120
  NvlinkAbility nvlink = NvlinkAbility::unknown;
};

// The model with this device id (vendor 10de); none where the list does not have it.
[[nodiscard]] std::optional<GpuModel> find_gpu_model(std::uint16_t device) noexcept;

// By model where it is listed, else by the id range of its chip (GA104 and smaller, Ada and GB20x
// have no NVLink), else unknown. Vendors other than NVIDIA: no.
[[nodiscard]] NvlinkAbility find_nvlink_ability(std::uint16_t vendor,
                                                std::uint16_t device) noexcept;

}  // namespace lanewise
