// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "support/stock_tables.hpp"
#include "tuner_host.hpp"

namespace lanewise::testing {
namespace {

template <typename Version>
class TunerContract : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"LANEWISE_MODE", "LANEWISE_MACHINE", "NCCL_ALGO", "NCCL_PROTO"}) {
      ::unsetenv(name);
    }
  }
  PluginFile plugin_;
};
using Versions = ::testing::Types<V2, V3, V4, V5, V6, V7>;
TYPED_TEST_SUITE(TunerContract, Versions);

TYPED_TEST(TunerContract, HasANameAndEveryFunction) {
  const auto& tuner = this->plugin_.template symbol<typename TypeParam::Struct>(
      "ncclTunerPlugin_v" + std::to_string(TypeParam::version));

  EXPECT_STREQ(tuner.name, "lanewise");
  EXPECT_NE(tuner.init, nullptr);
  EXPECT_NE(tuner.get_coll_info, nullptr);
}

// NCCL's own chunks are multiples of the grain.
TEST(TunerV6, LeavesTheChunkSizeAlone) {
  const PluginFile plugin;

  EXPECT_EQ(plugin.symbol<abi::TunerV6>("ncclTunerPlugin_v6").get_chunk_size, nullptr);
  EXPECT_EQ(plugin.symbol<abi::TunerV7>("ncclTunerPlugin_v7").get_chunk_size, nullptr);
}

TYPED_TEST(TunerContract, SucceedsForEveryShapeOfCommunicator) {
  for (const auto& [ranks, nodes] : {std::pair<std::size_t, std::size_t>{1, 1},
                                     {2, 1},
                                     {8, 1},
                                     {8, 8},
                                     {16, 2},
                                     {0, 0},
                                     {std::size_t{1} << 14, 1},
                                     {SIZE_MAX, 1},
                                     {SIZE_MAX, SIZE_MAX}}) {
    Communicator<TypeParam> communicator(this->plugin_, ranks, nodes);
    static_cast<void>(communicator.ask({}, pcie_costs()));

    EXPECT_EQ(communicator.result, abi::success) << ranks << " ranks, " << nodes << " nodes";
  }
}

TYPED_TEST(TunerContract, LeavesOneRankAndSeveralNodesAlone) {
  for (const auto& [ranks, nodes] :
       {std::pair<std::size_t, std::size_t>{1, 1}, {8, 8}, {16, 2}, {8, 2}}) {
    Communicator<TypeParam> communicator(this->plugin_, ranks, nodes);

    EXPECT_TRUE(is_untouched(communicator.ask({}, pcie_costs()), pcie_costs()))
        << ranks << " ranks, " << nodes << " nodes";
  }
}

TYPED_TEST(TunerContract, LeavesOtherCollectivesAlone) {
  Communicator<TypeParam> communicator(this->plugin_, 8, 1);
  for (const int function : {-1, 0, 1, 2, 3, 5, 99}) {
    const auto reply = communicator.ask({.function = function}, pcie_costs());

    EXPECT_TRUE(is_untouched(reply, pcie_costs())) << function;
  }
}

TYPED_TEST(TunerContract, TakesEverySize) {
  Communicator<TypeParam> communicator(this->plugin_, 8, 1);
  for (int shift = 0; shift < 64; ++shift) {
    for (const std::size_t step : {std::size_t{0}, std::size_t{1}, SIZE_MAX}) {
      const auto reply =
          communicator.ask({.bytes = (std::size_t{1} << shift) + step}, pcie_costs());

      EXPECT_TRUE(reply.channels >= 0 && reply.channels <= 64) << shift;
    }
  }
  EXPECT_TRUE(is_untouched(communicator.ask({.bytes = 0}, pcie_costs()), pcie_costs()));
  EXPECT_EQ(communicator.result, abi::success);
}

TYPED_TEST(TunerContract, AnswersTheSameForRegisteredBuffersAndOnEveryRank) {
  Communicator<TypeParam> first(this->plugin_, 8, 1);
  Communicator<TypeParam> second(this->plugin_, 8, 1);
  for (std::size_t bytes = 1024; bytes < 4 << 20; bytes += 14336) {
    const auto one = first.ask({.bytes = bytes, .is_registered = 0}, pcie_costs());
    const auto other = second.ask({.bytes = bytes, .is_registered = 1}, pcie_costs());

    EXPECT_EQ(pick(one), pick(other)) << bytes;
    EXPECT_EQ(one.channels, other.channels) << bytes;
  }
}

TYPED_TEST(TunerContract, NeitherRevivesNorForbidsAnEntryOfAnyTable) {
  Communicator<TypeParam> communicator(this->plugin_, 8, 1);
  std::mt19937 random(7);
  std::uniform_real_distribution<float> cost(0.0F, 5000.0F);
  std::uniform_int_distribution<int> one_of_four(0, 3);
  std::uniform_int_distribution<int> size_shift(8, 24);
  for (int round = 0; round < 2000; ++round) {
    Costs costs;
    for (float& entry : costs) {
      const int kind = one_of_four(random);
      entry = kind == 0 ? -1.0F : kind == 1 ? -1024.0F : cost(random);
    }
    const auto reply = communicator.ask(
        {.bytes = std::size_t{7} << size_shift(random), .pipe_ops = 1 + round % 3}, costs);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      EXPECT_EQ(reply.costs[i] < 0, costs[i] < 0) << "entry " << i;
    }
    EXPECT_TRUE(reply.channels >= 0 && reply.channels <= 64);
  }
}

TYPED_TEST(TunerContract, LeavesATableWithoutPricesAlone) {
  Communicator<TypeParam> communicator(this->plugin_, 8, 1);
  Costs none;
  none.fill(-1.0F);

  EXPECT_TRUE(is_untouched(communicator.ask({}, none), none));
}

TYPED_TEST(TunerContract, WritesNothingWhileObservingOrOff) {
  for (const char* mode : {"observe", "off"}) {
    ::setenv("LANEWISE_MODE", mode, 1);
    Communicator<TypeParam> communicator(this->plugin_, 8, 1);

    EXPECT_TRUE(is_untouched(communicator.ask({}, pcie_costs()), pcie_costs())) << mode;
  }
}

TYPED_TEST(TunerContract, WritesNothingWithAnUnknownSetting) {
  ::setenv("LANEWISE_MODE", "always", 1);
  Communicator<TypeParam> communicator(this->plugin_, 8, 1);

  EXPECT_TRUE(is_untouched(communicator.ask({}, pcie_costs()), pcie_costs()));
  EXPECT_EQ(communicator.result, abi::success);
}

TYPED_TEST(TunerContract, IsInertWhereAgreementIsRequiredAndImpossible) {
  ::setenv("LANEWISE_AGREE", "require", 1);
  Communicator<TypeParam> communicator(this->plugin_, 8, 1);

  const auto reply = communicator.ask({}, pcie_costs());
  ::unsetenv("LANEWISE_AGREE");

  EXPECT_TRUE(TypeParam::version >= 5 || is_untouched(reply, pcie_costs()));
}

std::string last_info;
void take_info(int, unsigned long, const char*, int, const char* format, ...) {
  std::array<char, 1024> line{};
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line.data(), line.size(), format, arguments);
  va_end(arguments);
  last_info = line.data();
}

// The release is that of the NCCL that calls, or the first that takes this version of the
// interface; any other that is loaded beside it is none of either.
TYPED_TEST(TunerContract, BelievesNoNcclThatDidNotCall) {
  void* beside = ::dlopen(LANEWISE_FAKE_NCCL, RTLD_NOW | RTLD_GLOBAL);
  ASSERT_NE(beside, nullptr) << ::dlerror();
  const Communicator<TypeParam> communicator(this->plugin_, 1, 1, take_info);
  ::dlclose(beside);

  constexpr std::array firsts = {"2.21.5", "2.22.3", "2.24.3", "2.28.3", "2.30.3", "2.32.6"};
  EXPECT_NE(last_info.find("NCCL " + std::string(firsts.at(TypeParam::version - 2)) + ","),
            std::string::npos)
      << last_info;
}

TYPED_TEST(TunerContract, ObeysTheUsersFilter) {
  ::setenv("NCCL_PROTO", "Simple", 1);
  Communicator<TypeParam> communicator(this->plugin_, 8, 1);
  Costs simple_only = pcie_costs();
  simple_only[0] = simple_only[3] = -1.0F;

  const auto reply = communicator.ask({}, simple_only);

  ASSERT_TRUE(pick(reply));
  EXPECT_EQ(*pick(reply) % 3, 2);
}

}  // namespace
}  // namespace lanewise::testing
