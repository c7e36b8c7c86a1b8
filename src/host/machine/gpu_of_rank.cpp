// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/machine/gpu_of_rank.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

namespace lanewise::host {
namespace {

// The driver's own types: a device is an int, a result an int whose 0 is success.
using GetCurrentDevice = int (*)(int* device);
using GetPciBusId = int (*)(char* text, int length, int device);
constexpr int driver_success = 0;
// "ffffffff:ff:1f.7" with its end; the driver's documentation asks for at least 13.
constexpr std::size_t address_space = 32;

struct CloseLibrary {
  void operator()(void* library) const noexcept { dlclose(library); }
};

// Looked for among what is loaded: dlopen would search every folder for a driver that is not.
bool is_driver_loaded() noexcept {
  const auto is_driver = [](dl_phdr_info* object, std::size_t, void*) {
    const std::string_view path(object->dlpi_name == nullptr ? "" : object->dlpi_name);
    return path.substr(path.rfind('/') + 1).starts_with("libcuda.so") ? 1 : 0;
  };
  return dl_iterate_phdr(is_driver, nullptr) != 0;
}

}  // namespace

std::optional<PciAddress> gpu_of_this_thread() noexcept {
  if (!is_driver_loaded()) return std::nullopt;
  const std::unique_ptr<void, CloseLibrary> driver(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD));
  if (driver == nullptr) return std::nullopt;
  const auto get_device = reinterpret_cast<GetCurrentDevice>(dlsym(driver.get(), "cuCtxGetDevice"));
  const auto get_address =
      reinterpret_cast<GetPciBusId>(dlsym(driver.get(), "cuDeviceGetPCIBusId"));
  if (get_device == nullptr || get_address == nullptr) return std::nullopt;
  int device = 0;
  std::array<char, address_space> text{};
  if (get_device(&device) != driver_success) return std::nullopt;
  if (get_address(text.data(), static_cast<int>(text.size()) - 1, device) != driver_success)
    return std::nullopt;
  return parse_pci_address(text.data());
}

}  // namespace lanewise::host
