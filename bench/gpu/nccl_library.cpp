// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "nccl_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "core/error.hpp"
#include "host/nccl/plugin_library.hpp"

namespace lanewise::bench {
namespace {

constexpr const char* library_name = "libnccl.so.2";
constexpr const char* direct_name = "liblanewise-nccl.so";

template <class Function>
void look_for(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

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

// NCCL itself first: what stands in for it then finds the same one.
void* open_library() {
  void* library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error("NCCL is missing, put its folder into LD_LIBRARY_PATH: " + std::string(dlerror()));
  }
  const char* other = std::getenv(nccl_variable);
  if (other == nullptr || *other == '\0') return library;
  library = dlopen(other, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw Error("opening it in NCCL's place: " + std::string(dlerror()));
  return library;
}

NcclLibrary load() {
  void* library = open_library();
  NcclLibrary nccl;
  find(library, "ncclGetVersion", nccl.get_version);
  find(library, "ncclGetErrorString", nccl.get_error_string);
  find(library, "ncclGetLastError", nccl.get_last_error);
  find(library, "ncclGetUniqueId", nccl.get_unique_id);
  find(library, "ncclCommInitRank", nccl.init_rank);
  find(library, "ncclCommDestroy", nccl.destroy);
  look_for(library, "ncclBroadcast", nccl.broadcast);
  look_for(library, "ncclReduce", nccl.reduce);
  look_for(library, "ncclAllGather", nccl.all_gather);
  look_for(library, "ncclReduceScatter", nccl.reduce_scatter);
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

bool NcclLibrary::has_all_collectives() const noexcept {
  return broadcast != nullptr && reduce != nullptr && all_gather != nullptr &&
         reduce_scatter != nullptr;
}

void NcclLibrary::check(ncclResult_t status, const char* call) const {
  if (status == ncclSuccess) return;
  throw std::runtime_error(std::string(call) + ": " + get_error_string(status) + ": " +
                           get_last_error(nullptr));
}

std::string find_direct_library() {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  auto folders = host::plugin_folders(program);
  folders.push_back(program.parent_path() / "../src/direct");  // a build tree
  folders.push_back(program.parent_path() / "../../src/direct");
  for (const auto& folder : folders) {
    std::error_code error;
    if (std::filesystem::is_regular_file(folder / direct_name, error))
      return (folder / direct_name).lexically_normal().string();
  }
  throw Error(std::string(direct_name) + " is in none of the folders beside " + program.string());
}

const NcclLibrary& open_nccl() {
  static const NcclLibrary nccl = load();
  return nccl;
}

}  // namespace lanewise::bench
