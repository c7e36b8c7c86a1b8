// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "group/driver.hpp"

#include <dlfcn.h>

#include "core/error.hpp"

namespace lanewise::direct {
namespace {

constexpr const char* library_name = "libcuda.so.1";

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

template <class Function>
void require(void* library, const char* name, Function& function) {
  find(library, name, function);
  if (function == nullptr) throw Error("the CUDA driver has no " + std::string(name));
}

void require_memory(void* library, Driver& driver) {
  require(library, "cuMemAlloc_v2", driver.allocate);
  require(library, "cuMemFree_v2", driver.free);
  require(library, "cuMemsetD8Async", driver.set_bytes);
  require(library, "cuMemHostAlloc", driver.allocate_host);
  require(library, "cuMemFreeHost", driver.free_host);
  require(library, "cuMemHostRegister_v2", driver.register_host);
  require(library, "cuMemHostUnregister", driver.unregister_host);
  require(library, "cuMemHostGetDevicePointer_v2", driver.host_device_pointer);
}

void require_work(void* library, Driver& driver) {
  require(library, "cuModuleLoadData", driver.load_module);
  require(library, "cuModuleGetFunction", driver.find_function);
  require(library, "cuFuncGetAttribute", driver.function_attribute);
  require(library, "cuStreamCreate", driver.create_stream);
  require(library, "cuStreamDestroy_v2", driver.destroy_stream);
  require(library, "cuStreamSynchronize", driver.wait_for_stream);
  require(library, "cuEventCreate", driver.create_event);
  require(library, "cuEventDestroy_v2", driver.destroy_event);
  require(library, "cuEventRecord", driver.record_event);
  require(library, "cuEventQuery", driver.query_event);
  require(library, "cuStreamWaitEvent", driver.wait_for_event);
  require(library, "cuLaunchKernel", driver.launch);
  find(library, "cuStreamGetCaptureInfo_v2", driver.capture_info_v2);
  find(library, "cuStreamGetId", driver.stream_number);
  if (driver.capture_info_v2 == nullptr)
    require(library, "cuStreamGetCaptureInfo", driver.capture_info);
}

}  // namespace

Driver find_driver() {
  // The one that is loaded: a process without CUDA is not given any.
  void* library = dlopen(library_name, RTLD_NOLOAD | RTLD_LAZY);
  if (library == nullptr) throw Error("the process has not loaded " + std::string(library_name));
  Driver driver;
  require(library, "cuGetErrorName", driver.get_error_name);
  require(library, "cuCtxGetCurrent", driver.current_context);
  require(library, "cuCtxPushCurrent_v2", driver.push_context);
  require(library, "cuCtxPopCurrent_v2", driver.pop_context);
  require(library, "cuCtxGetDevice", driver.context_device);
  require(library, "cuDeviceGetAttribute", driver.device_attribute);
  // The newer one tells the parts of a GPU that is cut up (MIG) from each other.
  find(library, "cuDeviceGetUuid_v2", driver.device_uuid);
  if (driver.device_uuid == nullptr) require(library, "cuDeviceGetUuid", driver.device_uuid);
  require_memory(library, driver);
  require_work(library, driver);
  return driver;
}

std::string Driver::text_of(DriverStatus status) const {
  const char* name = nullptr;
  if (get_error_name(status, &name) != driver_success || name == nullptr)
    return "error " + std::to_string(status);
  return name;
}

void Driver::check(DriverStatus status, const char* call) const {
  if (status != driver_success) throw Error(std::string(call) + ": " + text_of(status));
}

ContextScope::ContextScope(const Driver& driver, DriverContext context) : driver_(driver) {
  DriverContext current = nullptr;
  if (driver.current_context(&current) == driver_success && current == context) return;
  driver.check(driver.push_context(context), "cuCtxPushCurrent");
  is_pushed_ = true;
}

ContextScope::~ContextScope() {
  DriverContext ignored = nullptr;
  if (is_pushed_) static_cast<void>(driver_.pop_context(&ignored));
}

}  // namespace lanewise::direct
