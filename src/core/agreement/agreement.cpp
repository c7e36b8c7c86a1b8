// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/agreement/agreement.hpp"

#include <array>

namespace lanewise {

std::string_view name_of(AgreementVerdict verdict) noexcept {
  constexpr std::array<std::string_view, 7> names = {
      "pending",
      "apply",
      "the ranks differ in version, mode, settings or profile",
      "not every rank came within the time limit",
      "a rank could not use its choice",
      "a rank died",
      "this rank could not take part"};
  const auto index = static_cast<std::size_t>(verdict);
  return index < names.size() ? names[index] : "damaged";
}

}  // namespace lanewise
