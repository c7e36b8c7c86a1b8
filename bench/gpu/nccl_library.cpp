// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "nccl_library.hpp"

#include <dlfcn.h>

#include <stdexcept>

#include "core/error.hpp"

namespace lanewise::bench {
namespace {

constexpr const char* library_name = "libnccl.so.2";

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    throw Error(std::string(library_name) + " has no " + name + ": it is too old");
  }
}

std::string path_of(const void* symbol) {
  Dl_info info{};
  return dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : library_name;
}

NcclLibrary load() {
  void* library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error("NCCL is missing, put its folder into LD_LIBRARY_PATH: " + std::string(dlerror()));
  }
  NcclLibrary nccl;
  find(library, "ncclGetVersion", nccl.get_version);
  find(library, "ncclGetErrorString", nccl.get_error_string);
  find(library, "ncclGetLastError", nccl.get_last_error);
  find(library, "ncclGetUniqueId", nccl.get_unique_id);
  find(library, "ncclCommInitRank", nccl.init_rank);
  find(library, "ncclCommDestroy", nccl.destroy);
  find(library, "ncclAllReduce", nccl.all_reduce);
  nccl.path = path_of(reinterpret_cast<const void*>(nccl.get_version));
  return nccl;
}

}  // namespace

NcclRelease NcclLibrary::release() const {
  int code = 0;
  check(get_version(&code), "ncclGetVersion");
  return NcclRelease::from_code(code);
}

void NcclLibrary::check(ncclResult_t status, const char* call) const {
  if (status == ncclSuccess) return;
  throw std::runtime_error(std::string(call) + ": " + get_error_string(status) + ": " +
                           get_last_error(nullptr));
}

const NcclLibrary& open_nccl() {
  static const NcclLibrary nccl = load();
  return nccl;
}

}  // namespace lanewise::bench
