// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The NCCL variables that a profile may hold: what each does to a measurement and which values it
// takes. A profile is applied to a server, so it holds no other name, and no value unchecked.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lanewise {

// `transfer`: another value is another measurement. `channels`: a bound of the communicator's
// channels, see channel_bounds.hpp. `none`: kept by profiles of earlier releases, part of no key.
enum class VariableEffect : std::uint8_t { transfer, channels, none };
enum class ValueKind : std::uint8_t {
  whole,
  level,
  policy,
  thresholds,
  algorithms,
  protocols,
  file
};

// `low` and `high` bound a whole number. `neutral`: NCCL's default, as good as not set.
struct ProfileVariable {
  std::string_view name;
  VariableEffect effect = VariableEffect::transfer;
  ValueKind kind = ValueKind::whole;
  long long low = 0;
  long long high = 0;
  std::string_view neutral;
};

[[nodiscard]] std::span<const ProfileVariable> profile_variables() noexcept;
[[nodiscard]] const ProfileVariable* find_profile_variable(std::string_view name) noexcept;

// What a value of `variable` has to be, for people; empty where `value` is that.
[[nodiscard]] std::string find_value_fault(const ProfileVariable& variable, std::string_view value);

// As NCCL takes it: any base of C, and what follows the number is not looked at. Nullopt where NCCL
// goes on with its default, also for a negative number.
[[nodiscard]] std::optional<long long> read_whole(std::string_view value) noexcept;

// One text for values that are one to NCCL ("0x10" and "16"); empty for what is as good as not set.
[[nodiscard]] std::string normalize(const ProfileVariable& variable, const std::string& value);

}  // namespace lanewise
