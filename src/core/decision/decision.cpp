// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/decision/decision.hpp"

#include <array>

namespace lanewise {

std::string_view name_of(Source source) noexcept {
  constexpr std::array<std::string_view, 4> names = {"none", "profile", "model", "forced"};
  return names[static_cast<std::size_t>(source)];
}

}  // namespace lanewise
