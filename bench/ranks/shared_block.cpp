// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "shared_block.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "host/process/process_identity.hpp"
#include "wait.hpp"

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

constexpr std::chrono::seconds patience_for_the_name{60};

// None where it is not there yet in full.
std::optional<int> open_named(const std::string& name) {
  const int descriptor = shm_open(name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
  if (descriptor < 0) return std::nullopt;
  struct stat status {};
  if (fstat(descriptor, &status) == 0 && status.st_uid == getuid() &&
      status.st_size == static_cast<off_t>(sizeof(BlockLayout))) {
    return descriptor;
  }
  close(descriptor);
  return std::nullopt;
}

bool has_living_owner(const BlockLayout& layout) {
  const std::uint64_t word = layout.owner.load(std::memory_order_acquire);
  if (word == 0) return false;
  const auto owner = host::ProcessIdentity::from_word(word, layout.owner_namespace);
  return host::liveness_of(owner) != host::Liveness::dead;
}

}  // namespace

SharedBlock SharedBlock::create_named(const std::string& name, int ranks) {
  remove_name(name);  // of a run that was killed
  const int descriptor = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) fail("shm_open of the ranks' shared block");
  if (ftruncate(descriptor, sizeof(BlockLayout)) != 0) fail("ftruncate");
  auto* layout = static_cast<BlockLayout*>(map_block(descriptor));
  layout->ranks = ranks;
  const auto self = host::this_process();
  layout->owner_namespace = self.pid_namespace;
  layout->owner.store(self.word(), std::memory_order_release);
  return {descriptor, layout};
}

SharedBlock SharedBlock::attach_named(const std::string& name) {
  const auto deadline = std::chrono::steady_clock::now() + patience_for_the_name;
  Backoff backoff;
  while (std::chrono::steady_clock::now() < deadline) {
    if (const auto descriptor = open_named(name)) {
      SharedBlock block(*descriptor, static_cast<BlockLayout*>(map_block(*descriptor)));
      if (has_living_owner(block.layout())) return block;
    }
    backoff.pause();
  }
  throw std::runtime_error("rank 0 did not appear within a minute");
}

void SharedBlock::remove_name(const std::string& name) noexcept { shm_unlink(name.c_str()); }

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
