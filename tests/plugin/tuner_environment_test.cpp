// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "tuner_host.hpp"

// The base environment as the plugin meets it: NCCL has more channels than stock's there.
namespace lanewise::testing {
namespace {

constexpr const char* thresholds = "NCCL_THREAD_THRESHOLDS";
constexpr int all_reduce = 4;

template <typename Version>
class TunerInBaseEnvironment : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv(thresholds, "-1 -1 -1 8", 1); }
  void TearDown() override {
    for (const char* name : {thresholds, "LANEWISE_MODE"}) ::unsetenv(name);
  }
  PluginFile plugin_;
};
using BaseVersions = ::testing::Types<V3, V4, V5, V6, V7>;
TYPED_TEST_SUITE(TunerInBaseEnvironment, BaseVersions);

TYPED_TEST(TunerInBaseEnvironment, AsksForStocksChannelsWhereItIsInert) {
  for (const char* mode : {"observe", "off", "no such mode"}) {
    ::setenv("LANEWISE_MODE", mode, 1);
    Communicator<TypeParam> communicator(this->plugin_, 8, 1);
    // Each size twice: the second answer is given again without deciding.
    for (const auto& [bytes, channels] :
         {std::pair<std::size_t, int>{14336, 1}, {14336, 1}, {131072, 4}, {131072, 4}}) {
      const auto reply = communicator.ask({.bytes = bytes}, pcie_costs());

      EXPECT_EQ(reply.channels, channels) << mode << ", " << bytes;
      EXPECT_EQ(reply.costs, pcie_costs());
    }
    EXPECT_EQ(communicator.result, abi::success);
  }
}

TYPED_TEST(TunerInBaseEnvironment, AsksForStocksChannelsOfOtherCollectivesAndOverNodes) {
  for (const std::size_t nodes : {1U, 2U}) {
    Communicator<TypeParam> communicator(this->plugin_, 8, nodes);
    for (int function = 0; function < all_reduce; ++function) {
      for (int time = 0; time < 2; ++time) {
        const auto reply = communicator.ask({.function = function, .bytes = 65536}, pcie_costs());

        EXPECT_EQ(reply.channels, 2) << function;
        EXPECT_EQ(reply.costs, pcie_costs());
      }
    }
  }
}

TYPED_TEST(TunerInBaseEnvironment, LeavesATableOfIgnoredEntriesAlone) {
  Communicator<TypeParam> communicator(this->plugin_, 8, 1);
  Costs none;
  none.fill(-1.0F);

  for (int function = 0; function <= all_reduce; ++function)
    EXPECT_TRUE(is_untouched(communicator.ask({.function = function}, none), none)) << function;
}

TYPED_TEST(TunerInBaseEnvironment, LeavesOtherPicksAndOneRankAlone) {
  Costs tree_first = pcie_costs();
  tree_first[0] = 1.0F;
  Communicator<TypeParam> several(this->plugin_, 8, 1);
  Communicator<TypeParam> one(this->plugin_, 1, 1);

  EXPECT_TRUE(is_untouched(several.ask({.function = 2}, tree_first), tree_first));
  EXPECT_TRUE(is_untouched(one.ask({}, pcie_costs()), pcie_costs()));
}

TYPED_TEST(TunerInBaseEnvironment, LeavesAUsersOwnThresholdsToNccl) {
  ::setenv(thresholds, "-1 -1 -1 4", 1);
  Communicator<TypeParam> communicator(this->plugin_, 8, 1);

  EXPECT_TRUE(is_untouched(communicator.ask({.function = 2}, pcie_costs()), pcie_costs()));
}

TEST(TunerV2, CannotBringBackStocksChannels) {
  ::setenv(thresholds, "-1 -1 -1 8", 1);
  ::setenv("LANEWISE_MODE", "observe", 1);
  const PluginFile plugin;
  Communicator<V2> communicator(plugin, 8, 1);

  EXPECT_TRUE(is_untouched(communicator.ask({}, {}), {}));
  ::unsetenv(thresholds);
  ::unsetenv("LANEWISE_MODE");
}

// Whichever rank says it: all of them write into one file.
class LostChannels : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove(log_);
    ::setenv("LANEWISE_LOG_FILE", log_.c_str(), 1);
  }
  void TearDown() override {
    for (const char* name : {thresholds, "LANEWISE_MODE", "LANEWISE_LOG_FILE"}) ::unsetenv(name);
    std::filesystem::remove(log_);
  }
  template <typename Version>
  int count_warnings() {
    const PluginFile plugin;
    for (int i = 0; i < 2; ++i) Communicator<Version>(plugin, 2, 1);
    std::ifstream file(log_);
    int count = 0;
    for (std::string line; std::getline(file, line);)
      count += line.find(
                   "NCCL 2.32.6 lets a tuner only lower its channels, so most of the gain is lost: "
                   "add NCCL_ENV_PLUGIN=lanewise, or start with `lanewise run -- COMMAND`") !=
                       std::string::npos
                   ? 1
                   : 0;
    return count;
  }

 private:
  const std::filesystem::path log_ = std::filesystem::path(::testing::TempDir()) /
                                     ("lanewise-lost-" + std::to_string(getpid()) + ".log");
};

TEST_F(LostChannels, AreToldOnceWithWhatToAdd) { EXPECT_EQ(count_warnings<V7>(), 1); }

TEST_F(LostChannels, AreNotToldOfAReleaseThatRaisesThem) { EXPECT_EQ(count_warnings<V6>(), 0); }

TEST_F(LostChannels, AreNotToldInTheBaseEnvironment) {
  ::setenv(thresholds, "-1 -1 -1 8", 1);

  EXPECT_EQ(count_warnings<V7>(), 0);
}

TEST_F(LostChannels, AreNotToldWhereNothingIsChanged) {
  ::setenv("LANEWISE_MODE", "observe", 1);

  EXPECT_EQ(count_warnings<V7>(), 0);
}

}  // namespace
}  // namespace lanewise::testing
