// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// NCCL's C interface as far as the direct libraries stand in it; nccl.h is not needed to build
// them.
#include <cstddef>

struct ncclComm;
struct CUstream_st;

namespace lanewise::direct {

using NcclComm = ncclComm*;
using NcclStatus = int;  // ncclResult_t
inline constexpr NcclStatus nccl_success = 0;
inline constexpr NcclStatus nccl_unhandled_cuda_error = 1;
inline constexpr NcclStatus nccl_internal_error = 3;
inline constexpr NcclStatus nccl_invalid_usage = 5;
inline constexpr NcclStatus nccl_in_progress = 7;

inline constexpr int nccl_float16 = 6;
inline constexpr int nccl_float32 = 7;
inline constexpr int nccl_bfloat16 = 9;
// By ncclDataType_t, int8 to fp8e5m2; of a later type nothing is known.
[[nodiscard]] constexpr std::size_t nccl_size_of(int type) noexcept {
  constexpr unsigned char sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type >= 0 && type < static_cast<int>(sizeof sizes) ? sizes[type] : 0;
}
inline constexpr int nccl_sum = 0;
inline constexpr int nccl_no_color = -1;

struct NcclUniqueId {
  char bytes[128];
};

// The head of ncclConfig_t, which later releases only add to.
struct NcclConfig {
  std::size_t size;
  unsigned magic;
  unsigned version;
  int blocking;  // 0: calls return before they are done
};

// One all-reduce as the program asks for it.
struct NcclAllReduce {
  const void* in;
  void* out;
  std::size_t count;
  int type;
  int operation;
  NcclComm communicator;
  CUstream_st* stream;
};

}  // namespace lanewise::direct
