// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The CUDA driver that this process has loaded, by name: nothing of CUDA is needed to build or to
// load us. Numbers are those of cuda.h, whose ABI they are.
#include <cstddef>
#include <cstdint>
#include <string>

struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUfunc_st;
struct CUmod_st;

namespace lanewise::direct {

using DriverContext = CUctx_st*;
using DriverStream = CUstream_st*;
using DriverEvent = CUevent_st*;
using DriverFunction = CUfunc_st*;
using DriverModule = CUmod_st*;
using DevicePointer = std::uint64_t;
using DriverStatus = int;  // CUresult

struct DriverUuid {
  std::uint64_t words[2];
};

inline constexpr DriverStatus driver_success = 0;
inline constexpr DriverStatus driver_not_ready = 600;
inline constexpr int attribute_multiprocessors = 16;
inline constexpr int attribute_registers = 4;
inline constexpr unsigned event_without_timing = 2;
inline constexpr unsigned stream_that_waits_for_none = 1;
inline constexpr unsigned register_portable_mapped = 1U | 2U;
inline constexpr unsigned allocate_portable_mapped = 1U | 2U;
inline constexpr int capture_none = 0;
inline constexpr int capture_active = 1;

struct Driver {
  DriverStatus (*get_error_name)(DriverStatus, const char**) = nullptr;
  DriverStatus (*current_context)(DriverContext*) = nullptr;
  DriverStatus (*push_context)(DriverContext) = nullptr;
  DriverStatus (*pop_context)(DriverContext*) = nullptr;
  DriverStatus (*context_device)(int*) = nullptr;
  DriverStatus (*device_attribute)(int*, int, int) = nullptr;
  DriverStatus (*device_uuid)(DriverUuid*, int) = nullptr;
  DriverStatus (*load_module)(DriverModule*, const void*) = nullptr;
  DriverStatus (*find_function)(DriverFunction*, DriverModule, const char*) = nullptr;
  DriverStatus (*function_attribute)(int*, int, DriverFunction) = nullptr;
  DriverStatus (*allocate)(DevicePointer*, std::size_t) = nullptr;
  DriverStatus (*free)(DevicePointer) = nullptr;
  DriverStatus (*set_bytes)(DevicePointer, unsigned char, std::size_t, DriverStream) = nullptr;
  DriverStatus (*allocate_host)(void**, std::size_t, unsigned) = nullptr;
  DriverStatus (*free_host)(void*) = nullptr;
  DriverStatus (*register_host)(void*, std::size_t, unsigned) = nullptr;
  DriverStatus (*unregister_host)(void*) = nullptr;
  DriverStatus (*host_device_pointer)(DevicePointer*, void*, unsigned) = nullptr;
  DriverStatus (*create_stream)(DriverStream*, unsigned) = nullptr;
  DriverStatus (*destroy_stream)(DriverStream) = nullptr;
  DriverStatus (*wait_for_stream)(DriverStream) = nullptr;
  DriverStatus (*create_event)(DriverEvent*, unsigned) = nullptr;
  DriverStatus (*destroy_event)(DriverEvent) = nullptr;
  DriverStatus (*record_event)(DriverEvent, DriverStream) = nullptr;
  DriverStatus (*query_event)(DriverEvent) = nullptr;
  DriverStatus (*wait_for_event)(DriverStream, DriverEvent, unsigned) = nullptr;
  DriverStatus (*launch)(DriverFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, DriverStream, void**, void**) = nullptr;
  // Status and a number that no other capture of the process has.
  DriverStatus (*capture_info)(DriverStream, int*, std::uint64_t*) = nullptr;
  // Newer drivers (12.0): a number that no other stream of the process has. Null where unknown.
  DriverStatus (*stream_number)(DriverStream, unsigned long long*) = nullptr;
  // Since 11.3; it says the same as capture_info, which newer ones may no longer have.
  DriverStatus (*capture_info_v2)(DriverStream, int*, std::uint64_t*, void*, void*,
                                  std::size_t*) = nullptr;

  [[nodiscard]] DriverStatus capture_of(DriverStream stream, int& status,
                                        std::uint64_t& number) const {
    return capture_info_v2 != nullptr
               ? capture_info_v2(stream, &status, &number, nullptr, nullptr, nullptr)
               : capture_info(stream, &status, &number);
  }
  // Throws Error that names the call and the driver's word for what went wrong.
  void check(DriverStatus status, const char* call) const;
  [[nodiscard]] std::string text_of(DriverStatus status) const;
};

// Throws Error where the process has loaded none, or one without a function that is needed.
[[nodiscard]] Driver find_driver();

// Makes a context current for the scope; a call costs nothing where it is already.
class ContextScope {
 public:
  ContextScope(const Driver& driver, DriverContext context);
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;
  ~ContextScope();

 private:
  const Driver& driver_;
  bool is_pushed_ = false;
};

}  // namespace lanewise::direct
