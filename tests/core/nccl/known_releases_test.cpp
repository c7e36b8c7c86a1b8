// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/nccl/known_releases.hpp"

#include <gtest/gtest.h>

namespace lanewise {
namespace {

TEST(KnownReleases, SayThatNothingBefore221LoadsThePlugin) {
  for (const NcclRelease release : {NcclRelease{1, 0, 0}, NcclRelease{2, 20, 5}}) {
    ASSERT_TRUE(describe_unknown_release(release));
    EXPECT_NE(describe_unknown_release(release)->find("2.21.5"), std::string::npos);
  }
}

TEST(KnownReleases, NameTheReleasesThereAreInsteadOfOneThereIsNot) {
  const auto said = describe_unknown_release({2, 28, 4});

  ASSERT_TRUE(said);
  EXPECT_NE(said->find("2.28.3, 2.28.7, 2.28.9"), std::string::npos);
}

TEST(KnownReleases, HaveNothingAgainstWhatIsKnownOrNewer) {
  for (const NcclRelease release :
       {NcclRelease{2, 21, 5}, NcclRelease{2, 30, 7}, NcclRelease{2, 32, 3}, NcclRelease{3, 0, 1}})
    EXPECT_FALSE(describe_unknown_release(release)) << to_string(release);
  EXPECT_TRUE(is_newer_than_known({3, 0, 1}));
  EXPECT_FALSE(is_newer_than_known({2, 30, 7}));
}

}  // namespace
}  // namespace lanewise
