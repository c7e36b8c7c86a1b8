// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/nccl/nccl_library.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace lanewise::host {
namespace {

TEST(NcclLibrary, IsTheObjectThatHoldsTheLogger) {
  void* handle = ::dlopen(LANEWISE_FAKE_NCCL, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << ::dlerror();

  const auto library = find_nccl_library(::dlsym(handle, "fake_nccl_logger"));

  ASSERT_TRUE(library);
  EXPECT_EQ(library->release, (NcclRelease{2, 28, 9}));
  EXPECT_EQ(library->path, LANEWISE_FAKE_NCCL);
  ::dlclose(handle);
}

TEST(NcclLibrary, IsFoundByNameWhereTheLoggerIsElsewhere) {
  void* handle = ::dlopen(LANEWISE_FAKE_NCCL, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << ::dlerror();

  const auto from_null = find_nccl_library(nullptr);
  const auto from_program = find_nccl_library(reinterpret_cast<const void*>(&find_nccl_library));

  ASSERT_TRUE(from_null && from_program);
  EXPECT_EQ(from_null->release, (NcclRelease{2, 28, 9}));
  EXPECT_EQ(from_program->release, (NcclRelease{2, 28, 9}));
  ::dlclose(handle);
}

TEST(NcclLibrary, IsNoneWhereNoneIsLoaded) { EXPECT_FALSE(find_nccl_library(nullptr)); }

}  // namespace
}  // namespace lanewise::host
