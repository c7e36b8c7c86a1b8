// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "group/kernel_functions.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/error.hpp"
#include "group/kernel_image.hpp"

namespace lanewise::direct {
namespace {

constexpr std::array<const char*, form_count> form_names = {"one_shot_ll", "one_shot_simple",
                                                            "two_shot"};

KernelFunctions load(const Driver& driver) {
  DriverModule module = nullptr;
  const auto status = driver.load_module(&module, kernel_image());
  if (status != driver_success)
    throw Error("loading the kernels into the GPU: " + driver.text_of(status));
  KernelFunctions functions{};
  for (std::size_t form = 0; form < form_count; ++form) {
    for (std::size_t element = 0; element < element_count; ++element) {
      const std::string name = std::string("lanewise_") + form_names[form] + "_" +
                               std::string(name_of(static_cast<Element>(element)));
      auto& function = functions[form][element];
      driver.check(driver.find_function(&function, module, name.c_str()), "cuModuleGetFunction");
      // Where modules load lazily it makes sure that this one is in: the first launch must not wait
      // for a kernel that waits for us.
      int registers = 0;
      driver.check(driver.function_attribute(&registers, attribute_registers, function),
                   "cuFuncGetAttribute");
    }
  }
  return functions;
}

struct Loaded {
  std::mutex mutex;
  std::map<DriverContext, std::unique_ptr<KernelFunctions>> by_context;
};

}  // namespace

const KernelFunctions& load_kernels(const Driver& driver, DriverContext context) {
  static auto& loaded = *new Loaded;  // outlives every thread that ends late
  const std::lock_guard lock(loaded.mutex);
  auto& functions = loaded.by_context[context];
  if (!functions) functions = std::make_unique<KernelFunctions>(load(driver));
  return *functions;
}

}  // namespace lanewise::direct
