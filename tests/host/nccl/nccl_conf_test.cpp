// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/nccl/nccl_conf.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

namespace lanewise::host {
namespace {

class NcclConfFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) / "lanewise_nccl_conf" / test->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  std::filesystem::path folder_;
};

TEST(NcclConf, TakesLinesAsNcclDoes) {
  EXPECT_EQ(parse_nccl_conf("# NCCL_A=1\nNCCL_B=2\r\nNCCL_C\nNCCL_D=x=y\nNCCL_B=3\nNCCL_E= 5"),
            (Environment{{"NCCL_B", "2"}, {"NCCL_D", "x=y"}, {"NCCL_E", " 5"}}));
}

TEST_F(NcclConfFiles, AddWhatTheProcessLacks) {
  const auto system = write("system", "NCCL_A=1\nNCCL_B=2\n");

  EXPECT_EQ(read_nccl_conf({{"NCCL_A", "9"}}, "", system), (Environment{{"NCCL_B", "2"}}));
}

TEST_F(NcclConfFiles, PreferTheUsersToTheSystems) {
  write(".nccl.conf", "NCCL_A=1\n");
  const auto system = write("system", "NCCL_A=2\nNCCL_B=3\n");

  EXPECT_EQ(read_nccl_conf({}, folder_, system), (Environment{{"NCCL_A", "1"}, {"NCCL_B", "3"}}));
}

TEST_F(NcclConfFiles, TakeANamedFileForTheUsers) {
  write(".nccl.conf", "NCCL_A=1\n");
  const auto named = write("named", "NCCL_A=5\n");

  EXPECT_EQ(read_nccl_conf({{"NCCL_CONF_FILE", named}}, folder_, folder_ / "none"),
            (Environment{{"NCCL_A", "5"}}));
}

TEST_F(NcclConfFiles, MayBeFifosOrWithoutEnd) {
  const auto fifo = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const auto endless = write("endless", "NCCL_A=1\n");
  std::filesystem::resize_file(endless, std::uintmax_t{1} << 33U);

  EXPECT_TRUE(read_nccl_conf({{"NCCL_CONF_FILE", fifo}}, "", endless).empty());
}

TEST_F(NcclConfFiles, MayBeMissingOrFolders) {
  EXPECT_TRUE(read_nccl_conf({{"NCCL_CONF_FILE", folder_}}, "", folder_ / "none").empty());
}

}  // namespace
}  // namespace lanewise::host
