// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The element types of an engine's all-reduces.
#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lanewise::bench {

enum class DataType : std::uint8_t { bf16, fp16, fp32, fp8 };  // fp8: e4m3

[[nodiscard]] std::size_t size_of(DataType type) noexcept;
[[nodiscard]] std::string_view name_of(DataType type) noexcept;
[[nodiscard]] ncclDataType_t nccl_type(DataType type) noexcept;
// Throws Error for any other word.
[[nodiscard]] DataType parse_data_type(std::string_view word);

// How far a sum may be from the exact one. Each of n-1 adds rounds by at most the unit roundoff u
// of the type: |sum - exact| <= ((1+u)^(n-1) - 1) * sum|x| + (n-1) * smallest (gradual underflow).
struct ErrorBound {
  double relative = 0;  // of the sum of magnitudes
  double absolute = 0;
};
[[nodiscard]] ErrorBound error_bound(DataType type, int ranks) noexcept;

}  // namespace lanewise::bench
