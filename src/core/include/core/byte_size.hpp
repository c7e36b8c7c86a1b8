// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A number of bytes as people write it, for every option of both programs that takes one.
#include <cstddef>
#include <optional>
#include <string_view>

namespace lanewise {

// "14336", "14K", "4M", "1G", also "KiB" and so on; powers of 1024. Nullopt for anything else and
// for what no size_t holds.
[[nodiscard]] std::optional<std::size_t> parse_byte_size(std::string_view text) noexcept;

}  // namespace lanewise
