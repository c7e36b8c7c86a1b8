// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/profile/profile_variable.hpp"

#include <gtest/gtest.h>

namespace lanewise {
namespace {

std::string fault_of(std::string_view name, std::string_view value) {
  const auto* variable = find_profile_variable(name);
  return variable == nullptr ? "no variable of a profile" : find_value_fault(*variable, value);
}

TEST(ProfileVariable, IsNamedOnce) {
  const auto variables = profile_variables();
  for (std::size_t i = 0; i < variables.size(); ++i) {
    EXPECT_TRUE(variables[i].name.starts_with("NCCL_")) << variables[i].name;
    for (std::size_t j = i + 1; j < variables.size(); ++j)
      EXPECT_NE(variables[i].name, variables[j].name);
  }
}

TEST(ProfileVariable, IsNeverOneThatLoadsCodeOrOtherSettings) {
  for (const auto* name :
       {"NCCL_NET_PLUGIN", "NCCL_TUNER_PLUGIN", "NCCL_PROFILER_PLUGIN", "NCCL_ENV_PLUGIN",
        "NCCL_GIN_PLUGIN", "NCCL_CONF_FILE", "NCCL_DEBUG_FILE", "LD_PRELOAD", "NCCL_"})
    EXPECT_EQ(find_profile_variable(name), nullptr) << name;
  for (const auto& variable : profile_variables())
    EXPECT_EQ(variable.name.find("PLUGIN"), std::string_view::npos) << variable.name;
}

TEST(ProfileVariable, TakesWhatTheSearchTries) {
  for (const auto& [name, value] : {std::pair{"NCCL_MIN_NCHANNELS", "32"},
                                    {"NCCL_BUFFSIZE", "8388608"},
                                    {"NCCL_LL128_BUFFSIZE", "307200"},
                                    {"NCCL_P2P_LEVEL", "SYS"},
                                    {"NCCL_P2P_DISABLE", "1"},
                                    {"NCCL_NTHREADS", "256"},
                                    {"NCCL_THREAD_THRESHOLDS", "1 8 64 1 8 64"},
                                    {"NCCL_THREAD_THRESHOLDS", "-1 -1 -1 16"},
                                    {"NCCL_GRAPH_FILE", "/etc/lanewise/graph.xml"},
                                    {"NCCL_ALGO", "Ring,Tree"},
                                    {"NCCL_ALGO", "allreduce:ring"},
                                    {"NCCL_PROTO", "^LL128"},
                                    {"NCCL_CTA_POLICY", "EFFICIENCY"},
                                    {"NCCL_GRAPH_REGISTER", "0"}})
    EXPECT_EQ(fault_of(name, value), "") << name << '=' << value;
}

TEST(ProfileVariable, RefusesAValueThatIsNone) {
  EXPECT_EQ(fault_of("NCCL_MIN_NCHANNELS", "0"), "a whole number from 1 to 1024");
  for (const auto* value : {"", "-1", "4M", "0x10", "1e3", " 4", "99999999999999999999"})
    EXPECT_NE(fault_of("NCCL_BUFFSIZE", value), "") << value;
  for (const auto* value : {"", "FAR", "SYS,", "12"})
    EXPECT_NE(fault_of("NCCL_P2P_LEVEL", value), "") << value;
  for (const auto* value : {"", "graph.xml", "/", "../graph.xml"})
    EXPECT_NE(fault_of("NCCL_GRAPH_FILE", value), "") << value;
  for (const auto* value : {"", "rings", "file:/tmp/x", "^", "ring tree"})
    EXPECT_NE(fault_of("NCCL_ALGO", value), "") << value;
  for (const auto* value : {"", "1 2 3 4 5 6 7", "a", "1,2"})
    EXPECT_NE(fault_of("NCCL_THREAD_THRESHOLDS", value), "") << value;
}

TEST(ProfileVariable, ReadsNumbersAsNcclDoes) {
  EXPECT_EQ(read_whole("16"), 16);
  EXPECT_EQ(read_whole(" +0x10 bytes"), 16);
  EXPECT_EQ(read_whole("020"), 16);
  EXPECT_EQ(read_whole("0"), 0);
  for (const auto* value : {"", "-2", "many", "0xg", "99999999999999999999"})
    EXPECT_EQ(read_whole(value), std::nullopt) << value;
}

}  // namespace
}  // namespace lanewise
