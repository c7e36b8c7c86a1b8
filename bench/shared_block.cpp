// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "shared_block.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace lanewise::bench {
namespace {

[[noreturn]] void fail(const char* call) {
  throw std::runtime_error(std::string(call) + ": " + std::strerror(errno));
}

void* map_block(int descriptor) {
  void* memory =
      mmap(nullptr, sizeof(BlockLayout), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) fail("mmap of the ranks' shared block");
  return memory;
}

}  // namespace

SharedBlock SharedBlock::create(int ranks) {
  const int descriptor = memfd_create("lanewise-bench", 0);
  if (descriptor < 0) fail("memfd_create");
  if (ftruncate(descriptor, sizeof(BlockLayout)) != 0) fail("ftruncate");
  // A file of zeros is a valid initial state: constructing it would touch every page.
  auto* layout = static_cast<BlockLayout*>(map_block(descriptor));
  layout->ranks = ranks;
  return {descriptor, layout};
}

SharedBlock SharedBlock::attach(int descriptor) {
  return {descriptor, static_cast<BlockLayout*>(map_block(descriptor))};
}

SharedBlock::SharedBlock(SharedBlock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      layout_(std::exchange(other.layout_, nullptr)) {}

SharedBlock::~SharedBlock() {
  if (layout_ != nullptr) munmap(layout_, sizeof(BlockLayout));
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace lanewise::bench
