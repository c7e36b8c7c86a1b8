// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "program/build_commit.hpp"

#include "core/version.hpp"
#include "lanewise_commit.hpp"

namespace lanewise::program {

std::string_view build_commit() noexcept { return LANEWISE_COMMIT; }

std::string describe_version(std::string_view program) {
  std::string text(program);
  text.append(" ").append(version);
  if (!build_commit().empty()) text.append(" (commit ").append(build_commit()).append(")");
  return text;
}

}  // namespace lanewise::program
