// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "direct/shared_segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "direct/cuda_check.hpp"

namespace lanewise::bench {
namespace {

[[noreturn]] void fail(int cause, const char* call) {
  throw std::system_error(cause, std::generic_category(),
                          std::string("host memory for the one-shot all-reduce: ") + call);
}

int create(std::size_t bytes) {
  const int descriptor = ::memfd_create("lanewise-one-shot", MFD_CLOEXEC);
  if (descriptor < 0) fail(errno, "memfd_create");
  // Reserves the pages now: a shortage is an error here and not a SIGBUS later.
  const int status = ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  if (status != 0) {
    ::close(descriptor);
    fail(status, "posix_fallocate");
  }
  return descriptor;
}

int open_of(std::int64_t process, int descriptor) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
  const int opened = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (opened < 0) fail(errno, "opening another rank's");
  return opened;
}

}  // namespace

SharedSegment::SharedSegment(std::size_t bytes) : descriptor_(create(bytes)), bytes_(bytes) {
  map();
}

SharedSegment::SharedSegment(std::int64_t process, int descriptor, std::size_t bytes)
    : descriptor_(open_of(process, descriptor)), bytes_(bytes) {
  map();
}

SharedSegment::SharedSegment(SharedSegment&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      bytes_(other.bytes_),
      memory_(std::exchange(other.memory_, nullptr)),
      device_data_(std::exchange(other.device_data_, nullptr)) {}

SharedSegment::~SharedSegment() { release(); }

void SharedSegment::map() {
  try {
    void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (memory == MAP_FAILED) fail(errno, "mmap");
    memory_ = memory;
    check_cuda(cudaHostRegister(memory_, bytes_, cudaHostRegisterPortable | cudaHostRegisterMapped),
               "cudaHostRegister");
    void* data = nullptr;
    check_cuda(cudaHostGetDevicePointer(&data, memory_, 0), "cudaHostGetDevicePointer");
    device_data_ = static_cast<std::byte*>(data);
  } catch (const std::exception&) {
    release();
    throw;
  }
}

void SharedSegment::release() noexcept {
  if (memory_ != nullptr) {
    static_cast<void>(cudaHostUnregister(memory_));
    ::munmap(memory_, bytes_);
  }
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace lanewise::bench
