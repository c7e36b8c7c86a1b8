// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A PCI address, or none, as one word of shared memory. Private to this layer.
#include <cstdint>
#include <optional>

#include "core/machine/topology.hpp"

namespace lanewise::host {

// 0 is none; the highest bit says that the address is known.
[[nodiscard]] constexpr std::uint64_t to_word(const std::optional<PciAddress>& address) noexcept {
  if (!address) return 0;
  return std::uint64_t{1} << 63 | std::uint64_t{address->domain} << 24 |
         std::uint64_t{address->bus} << 16 | std::uint64_t{address->device} << 8 |
         address->function;
}

[[nodiscard]] constexpr std::optional<PciAddress> to_address(std::uint64_t word) noexcept {
  if (word >> 63 == 0) return std::nullopt;
  return PciAddress{static_cast<std::uint32_t>(word >> 24), static_cast<std::uint8_t>(word >> 16),
                    static_cast<std::uint8_t>(word >> 8), static_cast<std::uint8_t>(word)};
}

}  // namespace lanewise::host
