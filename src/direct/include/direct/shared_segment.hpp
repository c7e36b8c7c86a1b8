// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Pinned host memory that GPUs of several processes see. It has no name in /dev/shm: it is gone
// with the last process that maps it, however that ends.
#include <cstddef>
#include <cstdint>

namespace lanewise::bench {

class SharedSegment {
 public:
  // Makes one, zeroed. Throws std::runtime_error, also where memory is short.
  explicit SharedSegment(std::size_t bytes);
  // Maps the one that process `process` has under this number. The process is still alive.
  SharedSegment(std::int64_t process, int descriptor, std::size_t bytes);
  SharedSegment(SharedSegment&& other) noexcept;
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;
  SharedSegment& operator=(SharedSegment&&) = delete;
  ~SharedSegment();

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  // As the GPUs of this process see it.
  [[nodiscard]] std::byte* data() const noexcept { return device_data_; }

 private:
  void map();
  void release() noexcept;

  int descriptor_;
  std::size_t bytes_;
  void* memory_ = nullptr;
  std::byte* device_data_ = nullptr;
};

}  // namespace lanewise::bench
