// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/nccl/nccl_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <memory>
#include <string_view>

namespace lanewise::host {
namespace {

struct CloseLibrary {
  void operator()(void* handle) const noexcept { ::dlclose(handle); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

// A null path is the main program.
std::optional<NcclLibrary> ask(const char* path) {
  const Library library(::dlopen(path, RTLD_LAZY | RTLD_NOLOAD));
  if (library == nullptr) return std::nullopt;
  void* symbol = ::dlsym(library.get(), "ncclGetVersion");
  if (symbol == nullptr) return std::nullopt;
  int code = 0;
  if (reinterpret_cast<int (*)(int*)>(symbol)(&code) != 0 || code <= 0) return std::nullopt;
  return NcclLibrary{NcclRelease::from_code(code), path == nullptr ? "" : path};
}

int collect_path(dl_phdr_info* object, std::size_t, void* path) {
  if (object->dlpi_name == nullptr) return 0;
  const std::string_view name(object->dlpi_name);
  if (name.find("libnccl.so") == std::string_view::npos) return 0;
  static_cast<std::string*>(path)->assign(name);
  return 1;
}

}  // namespace

std::optional<NcclLibrary> find_nccl_library(const void* address) {
  Dl_info object{};
  if (address != nullptr && ::dladdr(address, &object) != 0 && object.dli_fname != nullptr) {
    if (auto library = ask(object.dli_fname)) return library;
  }
  std::string path;
  ::dl_iterate_phdr(collect_path, &path);
  if (!path.empty()) return ask(path.c_str());
  return ask(nullptr);
}

}  // namespace lanewise::host
