// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/nccl/plugin_library.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace lanewise::host {
namespace {

bool looks_into(const std::filesystem::path& program, const std::filesystem::path& folder) {
  const auto folders = plugin_folders(program);
  return std::find(folders.begin(), folders.end(), folder) != folders.end();
}

TEST(PluginLibrary, IsLookedForBesideTheInstalledPrograms) {
  EXPECT_TRUE(looks_into("/usr/local/bin/lanewise", "/usr/local/lib"));
  EXPECT_TRUE(looks_into("/opt/x/bin/lanewise", "/opt/x/lib64"));
}

TEST(PluginLibrary, IsLookedForInTheProgramsOwnFolder) {
  EXPECT_TRUE(looks_into("/data/tools/lanewise", "/data/tools"));
}

TEST(PluginLibrary, IsLookedForInABuildTree) {
  EXPECT_TRUE(looks_into("/src/build/dev/src/cli/lanewise", "/src/build/dev/plugin"));
}

}  // namespace
}  // namespace lanewise::host
