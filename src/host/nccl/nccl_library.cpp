// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/nccl/nccl_library.hpp"

#include <dlfcn.h>

#include <memory>
#include <utility>

namespace lanewise::host {
namespace {

struct CloseLibrary {
  void operator()(void* handle) const noexcept { ::dlclose(handle); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

// The main program has no name that could be opened.
Library open_loaded(const char* path) {
  Library library(::dlopen(path, RTLD_LAZY | RTLD_NOLOAD));
  return library != nullptr ? std::move(library) : Library(::dlopen(nullptr, RTLD_LAZY));
}

std::optional<NcclLibrary> ask(const void* address) {
  Dl_info object{};
  if (address == nullptr || ::dladdr(address, &object) == 0 || object.dli_fname == nullptr)
    return std::nullopt;
  const Library library = open_loaded(object.dli_fname);
  void* symbol = library == nullptr ? nullptr : ::dlsym(library.get(), "ncclGetVersion");
  // What an object needs is looked through as well: that is another one's answer.
  Dl_info owner{};
  if (symbol == nullptr || ::dladdr(symbol, &owner) == 0 || owner.dli_fbase != object.dli_fbase)
    return std::nullopt;
  int code = 0;
  if (reinterpret_cast<int (*)(int*)>(symbol)(&code) != 0 || code <= 0) return std::nullopt;
  return NcclLibrary{NcclRelease::from_code(code), object.dli_fname};
}

}  // namespace

std::optional<NcclLibrary> find_nccl_library(std::initializer_list<const void*> addresses,
                                             const ReleaseBounds& bounds) {
  for (const void* address : addresses)
    if (auto library = ask(address); library && bounds.hold(library->release)) return library;
  return std::nullopt;
}

}  // namespace lanewise::host
