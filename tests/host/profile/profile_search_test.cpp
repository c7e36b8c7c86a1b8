// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/profile/profile_search.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "host/profile/profile_file.hpp"

namespace lanewise::host {
namespace {

constexpr const char* here = "00000000000000aa";

class ProfileSearch : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) / "lanewise_search" / test->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& name, const std::string& fingerprint,
                              const NcclRelease& nccl = {2, 30, 7}) const {
    Profile profile;
    profile.fingerprint = fingerprint;
    profile.nccl = nccl;
    profile.created = "2026-11-29T18:00:00Z";
    write_profile(folder_ / name, profile);
    return folder_ / name;
  }

  std::filesystem::path folder_;
};

TEST_F(ProfileSearch, FindsAProfileByTheMachinesFingerprint) {
  const auto path = write(std::string(here) + ".json", here);

  const auto found = find_profile("", here, {folder_ / "none", folder_});

  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->path, path);
}

TEST_F(ProfileSearch, FindsNothingForAnotherMachine) {
  write("00000000000000bb.json", "00000000000000bb");

  EXPECT_FALSE(find_profile("", here, {folder_}).has_value());
}

TEST_F(ProfileSearch, TakesTheProfileOfThisNcclAmongSeveral) {
  const auto plain = write(std::string(here) + ".json", here, {2, 30, 7});
  const auto older = write(std::string(here) + "-2.28.9.json", here, {2, 28, 9});
  write(std::string(here) + "-2.27.3.json", here, {2, 27, 3});

  EXPECT_EQ(find_profile("", here, {folder_}, NcclRelease{2, 28, 9})->path, older);
  EXPECT_EQ(find_profile("", here, {folder_}, NcclRelease{2, 29, 2})->path, plain);
  EXPECT_EQ(find_profile("", here, {folder_})->path, plain);
}

TEST_F(ProfileSearch, TakesAProfileWithASuffixWhereThereIsNoOther) {
  const auto path = write(std::string(here) + "-tp8.json", here);
  write(std::string(here) + "0.json", "00000000000000bb");

  EXPECT_EQ(find_profile("", here, {folder_})->path, path);
}

TEST_F(ProfileSearch, TakesANamedProfileAlone) {
  write(std::string(here) + ".json", here);
  const auto named = write("mine.json", here);

  EXPECT_EQ(find_profile(named, here, {folder_})->path, named);
}

TEST_F(ProfileSearch, RefusesANamedProfileOfAnotherMachine) {
  const auto named = write("theirs.json", "00000000000000bb");

  EXPECT_THROW(static_cast<void>(find_profile(named, here, {})), Error);
}

TEST_F(ProfileSearch, RefusesANamedProfileThatIsMissing) {
  EXPECT_THROW(static_cast<void>(find_profile(folder_ / "none.json", here, {})), Error);
}

TEST_F(ProfileSearch, RefusesAFoundProfileThatLiesAboutItsMachine) {
  write(std::string(here) + ".json", "00000000000000bb");

  EXPECT_THROW(static_cast<void>(find_profile("", here, {folder_})), Error);
}

TEST_F(ProfileSearch, StartsInTheSystemsFolder) {
  EXPECT_EQ(profile_folders().front(), "/etc/lanewise/profiles");
}

}  // namespace
}  // namespace lanewise::host
