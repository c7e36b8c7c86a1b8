// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "data_type.hpp"

#include <array>
#include <cmath>
#include <string>

#include "core/error.hpp"

namespace lanewise::bench {
namespace {

// `unit_roundoff`: 2^-(significand bits); `smallest`: the least subnormal. NCCL adds fp8 in half
// precision and rounds twice: 2^-4 + 2^-11.
struct Properties {
  std::string_view name;
  std::size_t size;
  ncclDataType_t nccl;
  double unit_roundoff;
  double smallest;
};

constexpr std::array properties = {
    Properties{"bf16", 2, ncclBfloat16, 0x1p-8, 0x1p-133},
    Properties{"fp16", 2, ncclFloat16, 0x1p-11, 0x1p-24},
    Properties{"fp32", 4, ncclFloat32, 0x1p-24, 0x1p-149},
    Properties{"fp8", 1, ncclFloat8e4m3, 0x1p-4 + 0x1p-11, 0x1p-9},
};

const Properties& of(DataType type) noexcept { return properties[static_cast<std::size_t>(type)]; }

}  // namespace

std::size_t size_of(DataType type) noexcept { return of(type).size; }
std::string_view name_of(DataType type) noexcept { return of(type).name; }
ncclDataType_t nccl_type(DataType type) noexcept { return of(type).nccl; }

DataType parse_data_type(std::string_view word) {
  for (std::size_t index = 0; index < properties.size(); ++index) {
    if (properties[index].name == word) return static_cast<DataType>(index);
  }
  throw Error("unknown data type \"" + std::string(word) + "\": bf16, fp16, fp32 or fp8");
}

ErrorBound error_bound(DataType type, int ranks) noexcept {
  const double adds = ranks - 1;
  return {std::pow(1 + of(type).unit_roundoff, adds) - 1, adds * of(type).smallest};
}

}  // namespace lanewise::bench
