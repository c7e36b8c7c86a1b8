// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// NCCL's own functions, behind ours. Found in the libnccl.so.2 that the process has loaded, at the
// first use.
#include "intercept/nccl_abi.hpp"

namespace lanewise::direct {

struct NcclFunctions {
  NcclStatus (*all_reduce)(const void*, void*, std::size_t, int, int, NcclComm, CUstream_st*);
  NcclStatus (*init_rank)(NcclComm*, int, NcclUniqueId, int);
  NcclStatus (*init_rank_config)(NcclComm*, int, NcclUniqueId, int, NcclConfig*);
  NcclStatus (*init_rank_scalable)(NcclComm*, int, int, int, NcclUniqueId*, NcclConfig*);
  NcclStatus (*init_all)(NcclComm*, int, const int*);
  NcclStatus (*split)(NcclComm, int, int, NcclComm*, NcclConfig*);
  NcclStatus (*shrink)(NcclComm, int*, int, NcclComm*, NcclConfig*, int);
  NcclStatus (*finalize)(NcclComm);
  NcclStatus (*destroy)(NcclComm);
  NcclStatus (*abort)(NcclComm);
  NcclStatus (*revoke)(NcclComm, int);
  NcclStatus (*group_start)();
  NcclStatus (*group_end)();
  NcclStatus (*group_simulate_end)(void*);
  NcclStatus (*version)(int*);
  NcclStatus (*count)(NcclComm, int*);
  NcclStatus (*user_rank)(NcclComm, int*);
};

// A function that this NCCL does not have is null.
[[nodiscard]] const NcclFunctions& nccl_functions() noexcept;

// Whether this thread is inside NCCL: what NCCL calls by its public names there is its own affair.
[[nodiscard]] bool is_inside_nccl() noexcept;

class InsideNccl {
 public:
  InsideNccl() noexcept;
  InsideNccl(const InsideNccl&) = delete;
  InsideNccl& operator=(const InsideNccl&) = delete;
  ~InsideNccl();
};

// Calls NCCL; invalid usage where it lacks the function.
template <typename... Parameters, typename... Arguments>
NcclStatus ask_nccl(NcclStatus (*function)(Parameters...), Arguments... arguments) noexcept {
  if (function == nullptr) return nccl_invalid_usage;
  const InsideNccl inside;
  return function(arguments...);
}

}  // namespace lanewise::direct
