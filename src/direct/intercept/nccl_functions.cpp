// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "intercept/nccl_functions.hpp"

#include <dlfcn.h>

namespace lanewise::direct {
namespace {

thread_local int depth = 0;

// In the NCCL that the process has loaded; where it is part of the program, among all symbols. The
// names with a p are NCCL's second set, which nobody stands in for.
template <class Function>
void find(void* library, const char* name, Function& function) {
  void* found = library != nullptr ? dlsym(library, name) : nullptr;
  if (found == nullptr) found = dlsym(RTLD_DEFAULT, name);
  function = reinterpret_cast<Function>(found);
}

NcclFunctions find_all() {
  void* library = dlopen("libnccl.so.2", RTLD_NOLOAD | RTLD_LAZY);
  NcclFunctions functions{};
  find(library, "pncclAllReduce", functions.all_reduce);
  find(library, "pncclCommInitRank", functions.init_rank);
  find(library, "pncclCommInitRankConfig", functions.init_rank_config);
  find(library, "pncclCommInitRankScalable", functions.init_rank_scalable);
  find(library, "pncclCommInitAll", functions.init_all);
  find(library, "pncclCommSplit", functions.split);
  find(library, "pncclCommShrink", functions.shrink);
  find(library, "pncclCommFinalize", functions.finalize);
  find(library, "pncclCommDestroy", functions.destroy);
  find(library, "pncclCommAbort", functions.abort);
  find(library, "pncclCommRevoke", functions.revoke);
  find(library, "pncclGroupStart", functions.group_start);
  find(library, "pncclGroupEnd", functions.group_end);
  find(library, "pncclGroupSimulateEnd", functions.group_simulate_end);
  find(library, "pncclGetVersion", functions.version);
  find(library, "pncclCommCount", functions.count);
  find(library, "pncclCommUserRank", functions.user_rank);
  return functions;
}

}  // namespace

const NcclFunctions& nccl_functions() noexcept {
  static const NcclFunctions functions = find_all();
  return functions;
}

bool is_inside_nccl() noexcept { return depth > 0; }
InsideNccl::InsideNccl() noexcept { ++depth; }
InsideNccl::~InsideNccl() { --depth; }

}  // namespace lanewise::direct
