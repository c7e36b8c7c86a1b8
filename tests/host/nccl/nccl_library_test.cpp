// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/nccl/nccl_library.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace lanewise::host {
namespace {

class NcclLibraryTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(handle_, nullptr) << ::dlerror(); }
  void TearDown() override { ::dlclose(handle_); }
  [[nodiscard]] const void* logger() const { return ::dlsym(handle_, "fake_nccl_logger"); }
  // Of an object without NCCL.
  [[nodiscard]] static const void* program() {
    return reinterpret_cast<const void*>(&find_nccl_library);
  }

 private:
  void* handle_ = ::dlopen(LANEWISE_FAKE_NCCL, RTLD_NOW | RTLD_GLOBAL);
};

TEST_F(NcclLibraryTest, IsTheObjectThatHoldsTheLogger) {
  const auto library = find_nccl_library({logger()});

  ASSERT_TRUE(library);
  EXPECT_EQ(library->release, (NcclRelease{2, 28, 9}));
  EXPECT_EQ(library->path, LANEWISE_FAKE_NCCL);
}

TEST_F(NcclLibraryTest, IsTheCallersWhereTheLoggerIsElsewhere) {
  EXPECT_EQ(find_nccl_library({program(), logger()})->release, (NcclRelease{2, 28, 9}));
  EXPECT_EQ(find_nccl_library({nullptr, logger()})->release, (NcclRelease{2, 28, 9}));
}

TEST_F(NcclLibraryTest, IsNoneThatIsMerelyLoaded) {
  EXPECT_FALSE(find_nccl_library({nullptr}));
  EXPECT_FALSE(find_nccl_library({program()}));
}

TEST_F(NcclLibraryTest, IsNoneThatCannotHaveCalled) {
  EXPECT_TRUE(find_nccl_library({logger()}, {{2, 28, 3}, NcclRelease{2, 30, 0}}));
  EXPECT_FALSE(find_nccl_library({logger()}, {{2, 21, 5}, NcclRelease{2, 22, 0}}));
  EXPECT_FALSE(find_nccl_library({logger()}, {{2, 24, 3}, NcclRelease{2, 28, 0}}));
  EXPECT_FALSE(find_nccl_library({logger()}, {{2, 30, 3}, std::nullopt}));
}

TEST(NcclLibrary, IsNoneWhereNoneIsLoaded) { EXPECT_FALSE(find_nccl_library({nullptr})); }

}  // namespace
}  // namespace lanewise::host
