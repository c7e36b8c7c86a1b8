// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Which state of the sources a program was built from: two installations of one release differ in
// nothing else.
#include <string>
#include <string_view>

namespace lanewise::program {

// The first 12 digits of the git commit; empty for sources without a repository.
[[nodiscard]] std::string_view build_commit() noexcept;

// "lanewise 0.1.0 (commit 0123456789ab)", "lanewise 0.1.0".
[[nodiscard]] std::string describe_version(std::string_view program);

}  // namespace lanewise::program
