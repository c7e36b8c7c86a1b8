// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/machine/gpu_of_rank.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace lanewise::host {
namespace {

class FakeCuda {
 public:
  FakeCuda() : library_(dlopen(LANEWISE_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw std::runtime_error(dlerror());
  }
  ~FakeCuda() { dlclose(library_); }
  FakeCuda(const FakeCuda&) = delete;
  FakeCuda& operator=(const FakeCuda&) = delete;
  void make_current(int device) const {
    reinterpret_cast<void (*)(int)>(dlsym(library_, "fake_cuda_make_current"))(device);
  }

 private:
  void* library_;
};

TEST(GpuOfRank, IsUnknownWithoutADriverAndLoadsNone) {
  EXPECT_FALSE(gpu_of_this_thread());
  EXPECT_EQ(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), nullptr);
}

TEST(GpuOfRank, IsUnknownWithoutAContext) {
  const FakeCuda cuda;

  EXPECT_FALSE(gpu_of_this_thread());
}

TEST(GpuOfRank, IsTheGpuOfEachThreadsContext) {
  const FakeCuda cuda;
  cuda.make_current(2);
  std::optional<PciAddress> other;

  std::thread([&] {
    cuda.make_current(7);
    other = gpu_of_this_thread();
  }).join();

  EXPECT_EQ(gpu_of_this_thread(), (PciAddress{0, 0x12, 0, 0}));
  EXPECT_EQ(other, (PciAddress{0x10000, 0x17, 0, 0}));
}

TEST(GpuOfRank, IsUnknownInAForkedChild) {
  const FakeCuda cuda;
  cuda.make_current(1);

  const pid_t child = fork();
  if (child == 0) _exit(gpu_of_this_thread() ? 1 : 0);
  int status = 0;
  waitpid(child, &status, 0);

  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(GpuOfRank, LeavesTheDriverAsItWasLoaded) {
  {
    const FakeCuda cuda;
    cuda.make_current(1);
    (void)gpu_of_this_thread();
  }

  EXPECT_EQ(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), nullptr);
}

}  // namespace
}  // namespace lanewise::host
