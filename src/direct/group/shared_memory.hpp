// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The memory in which the ranks of a group meet, mapped once a process. Private to the group.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "group/driver.hpp"

namespace lanewise::direct {

// A file without a name in the file system: it is gone with the last process that maps it, however
// that ends, and needs no room in /dev/shm.
class AnonymousFile {
 public:
  // Makes one with its pages reserved: a shortage is an error here and no bus error later.
  explicit AnonymousFile(std::size_t bytes);
  // Opens the one that a process of this user has under this number.
  AnonymousFile(std::uint32_t process, int descriptor);
  AnonymousFile(const AnonymousFile&) = delete;
  AnonymousFile& operator=(const AnonymousFile&) = delete;
  ~AnonymousFile();

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

// Zeroed memory that every GPU of the process reaches; freed with the last rank that holds it.
class SharedMemory {
 public:
  virtual ~SharedMemory() = default;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  // As the GPU of the current context sees it. Throws Error.
  [[nodiscard]] virtual std::byte* address() const = 0;

 protected:
  SharedMemory() = default;
};

// All of these throw Error with what was refused.
[[nodiscard]] std::shared_ptr<SharedMemory> map_host_memory(const Driver& driver,
                                                            DriverContext context,
                                                            const AnonymousFile& file,
                                                            std::size_t bytes);
[[nodiscard]] std::shared_ptr<SharedMemory> make_gpu_memory(const Driver& driver,
                                                            DriverContext context,
                                                            std::size_t bytes);
// For one rank: host memory that the GPU reads.
[[nodiscard]] std::shared_ptr<SharedMemory> make_pinned_memory(const Driver& driver,
                                                               DriverContext context,
                                                               std::size_t bytes);

}  // namespace lanewise::direct
