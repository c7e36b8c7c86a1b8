// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "group/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "core/error.hpp"

namespace lanewise::direct {
namespace {

[[noreturn]] void fail(int cause, const std::string& action) {
  throw Error(action + ": " + std::generic_category().message(cause));
}

int create(std::size_t bytes) {
  const int descriptor = memfd_create("lanewise-direct", MFD_CLOEXEC);
  if (descriptor < 0) fail(errno, "making host memory to share");
  if (const int cause = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes)); cause != 0) {
    close(descriptor);
    fail(cause, "reserving " + std::to_string(bytes >> 20) + " MiB of host memory to share");
  }
  return descriptor;
}

int open_of(std::uint32_t process, int descriptor) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
  const int opened = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (opened < 0) fail(errno, "opening another rank's memory, " + path);
  return opened;
}

class HostMemory final : public SharedMemory {
 public:
  HostMemory(const Driver& driver, DriverContext context, const AnonymousFile& file,
             std::size_t bytes)
      : driver_(driver), context_(context), bytes_(bytes) {
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
    if (memory_ == MAP_FAILED) fail(errno, "mapping host memory to share");
    const auto status = driver.register_host(memory_, bytes, register_portable_mapped);
    if (status == driver_success) return;
    munmap(memory_, bytes);
    throw Error("pinning " + std::to_string(bytes >> 20) +
                " MiB of host memory: " + driver.text_of(status));
  }
  ~HostMemory() override {
    try {
      const ContextScope scope(driver_, context_);
      static_cast<void>(driver_.unregister_host(memory_));
    } catch (const Error&) {  // the context is gone, and the registration with it
    }
    munmap(memory_, bytes_);
  }

  [[nodiscard]] std::byte* address() const override {
    DevicePointer pointer = 0;
    driver_.check(driver_.host_device_pointer(&pointer, memory_, 0), "cuMemHostGetDevicePointer");
    return reinterpret_cast<std::byte*>(pointer);
  }

 private:
  Driver driver_;
  DriverContext context_;
  std::size_t bytes_;
  void* memory_ = nullptr;
};

class GpuMemory final : public SharedMemory {
 public:
  GpuMemory(const Driver& driver, DriverContext context, std::size_t bytes)
      : driver_(driver), context_(context) {
    const ContextScope scope(driver_, context_);
    driver_.check(driver_.allocate(&pointer_, bytes), "cuMemAlloc");
    const auto status = clear(bytes);
    if (status == driver_success) return;
    static_cast<void>(driver_.free(pointer_));
    driver_.check(status, "cuMemsetD8");
  }
  ~GpuMemory() override {
    try {
      const ContextScope scope(driver_, context_);
      static_cast<void>(driver_.free(pointer_));
    } catch (const Error&) {  // the context is gone, and the memory with it
    }
  }

  [[nodiscard]] std::byte* address() const override {
    return reinterpret_cast<std::byte*>(pointer_);
  }

 private:
  // On a stream of its own: others may hold kernels that wait for other ranks.
  DriverStatus clear(std::size_t bytes) const {
    DriverStream stream = nullptr;
    auto status = driver_.create_stream(&stream, stream_that_waits_for_none);
    if (status != driver_success) return status;
    status = driver_.set_bytes(pointer_, 0, bytes, stream);
    if (status == driver_success) status = driver_.wait_for_stream(stream);
    static_cast<void>(driver_.destroy_stream(stream));
    return status;
  }

  Driver driver_;
  DriverContext context_;
  DevicePointer pointer_ = 0;
};

class PinnedMemory final : public SharedMemory {
 public:
  PinnedMemory(const Driver& driver, DriverContext context, std::size_t bytes)
      : driver_(driver), context_(context) {
    const ContextScope scope(driver_, context_);
    driver_.check(driver_.allocate_host(&memory_, bytes, allocate_portable_mapped),
                  "cuMemHostAlloc");
    std::memset(memory_, 0, bytes);
  }
  ~PinnedMemory() override {
    try {
      const ContextScope scope(driver_, context_);
      static_cast<void>(driver_.free_host(memory_));
    } catch (const Error&) {  // the context is gone, and the memory with it
    }
  }

  [[nodiscard]] std::byte* address() const override { return static_cast<std::byte*>(memory_); }

 private:
  Driver driver_;
  DriverContext context_;
  void* memory_ = nullptr;
};

}  // namespace

AnonymousFile::AnonymousFile(std::size_t bytes) : descriptor_(create(bytes)) {}
AnonymousFile::AnonymousFile(std::uint32_t process, int descriptor)
    : descriptor_(open_of(process, descriptor)) {}
AnonymousFile::~AnonymousFile() { close(descriptor_); }

std::shared_ptr<SharedMemory> map_host_memory(const Driver& driver, DriverContext context,
                                              const AnonymousFile& file, std::size_t bytes) {
  return std::make_shared<HostMemory>(driver, context, file, bytes);
}

std::shared_ptr<SharedMemory> make_gpu_memory(const Driver& driver, DriverContext context,
                                              std::size_t bytes) {
  return std::make_shared<GpuMemory>(driver, context, bytes);
}

std::shared_ptr<SharedMemory> make_pinned_memory(const Driver& driver, DriverContext context,
                                                 std::size_t bytes) {
  return std::make_shared<PinnedMemory>(driver, context, bytes);
}

}  // namespace lanewise::direct
