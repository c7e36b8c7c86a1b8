// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// NCCL opened at run time: LD_LIBRARY_PATH chooses the release, and --help works without any.
#include <nccl.h>

#include <string>

#include "core/nccl/nccl_release.hpp"

namespace lanewise::bench {

struct NcclLibrary {
  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetErrorString) get_error_string = nullptr;
  decltype(&ncclGetLastError) get_last_error = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRank) init_rank = nullptr;
  decltype(&ncclCommDestroy) destroy = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclReduce) reduce = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  std::string path;  // of NCCL's file

  [[nodiscard]] NcclRelease release() const;
  // A library that stands in for NCCL may have the all-reduce alone.
  [[nodiscard]] bool has_all_collectives() const noexcept;
  // Throws std::runtime_error with NCCL's own words where `status` is not success.
  void check(ncclResult_t status, const char* call) const;
};

// A file to open in NCCL's place, as engines' VLLM_NCCL_SO_PATH names one; empty: none.
inline constexpr const char* nccl_variable = "LANEWISE_BENCH_NCCL";
// liblanewise-nccl.so beside the running program. Throws Error with where it is not.
[[nodiscard]] std::string find_direct_library();

// Throws Error that says what is missing. Opened once per process.
[[nodiscard]] const NcclLibrary& open_nccl();

}  // namespace lanewise::bench
