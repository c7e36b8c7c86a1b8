// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The env plugin's ABI. NCCL asks get_env instead of getenv for every variable of its own; an error
// of init would fail every NCCL call of the process.
#include <cstdint>

#include "nccl_abi.hpp"

namespace lanewise::abi {

// What get_env returns must stay valid while NCCL runs; it is called by many threads at once.
struct EnvV1 {
  const char* name;
  Result (*init)(std::uint8_t major, std::uint8_t minor, std::uint8_t patch, const char* suffix);
  Result (*finalize)();
  const char* (*get_env)(const char* name);
};

struct EnvV2 {
  const char* name;
  Result (*init)(std::uint8_t major, std::uint8_t minor, std::uint8_t patch, const char* suffix,
                 DebugLogger);
  Result (*finalize)();
  const char* (*get_env)(const char* name);
};

}  // namespace lanewise::abi
