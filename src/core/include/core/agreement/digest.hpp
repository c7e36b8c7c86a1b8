// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A 64-bit digest (FNV-1a) for telling equal settings from different ones. Not for secrets.
#include <cstdint>
#include <string_view>

namespace lanewise {

class Digest {
 public:
  // The length goes in first, so that {"ab", "c"} and {"a", "bc"} differ.
  constexpr Digest& add(std::string_view text) noexcept {
    add(static_cast<std::uint64_t>(text.size()));
    for (const char character : text) mix(static_cast<std::uint8_t>(character));
    return *this;
  }
  constexpr Digest& add(std::uint64_t number) noexcept {
    for (int shift = 0; shift < 64; shift += 8) mix(static_cast<std::uint8_t>(number >> shift));
    return *this;
  }
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }

 private:
  constexpr void mix(std::uint8_t byte) noexcept { value_ = (value_ ^ byte) * 0x100000001b3; }
  std::uint64_t value_ = 0xcbf29ce484222325;  // FNV's offset basis; the factor is its 64-bit prime
};

}  // namespace lanewise
