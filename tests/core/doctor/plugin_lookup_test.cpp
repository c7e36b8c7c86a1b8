// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/doctor/plugin_lookup.hpp"

#include <gtest/gtest.h>

namespace lanewise {
namespace {

using Names = std::vector<std::string>;

struct LookupCase {
  NcclRelease release;
  std::string value;
  Names names;
};

TEST(PluginLookup, TriesTheNamesOfEachRelease) {
  const std::vector<LookupCase> cases = {
      {{2, 21, 5}, "", {"libnccl-tuner.so"}},
      {{2, 30, 7}, "", {"libnccl-tuner.so"}},
      {{2, 21, 5}, "lanewise", {"lanewise", "libnccl-tuner-lanewise.so"}},
      {{2, 26, 5}, "/x/a.so", {"/x/a.so", "libnccl-tuner-/x/a.so.so"}},
      {{2, 27, 3}, "lanewise", {"libnccl-tuner-lanewise.so"}},
      {{2, 27, 3}, "libx.so", {"libx.so"}},
      {{2, 27, 3}, "lib.so", {"libnccl-tuner-lib.so.so"}},
      {{2, 27, 3}, "/x/liba.so", {"libnccl-tuner-/x/liba.so.so"}},
      {{2, 27, 5}, "/x/a.so", {"/x/a.so"}},
      {{2, 30, 7}, "libx.so", {"libx.so"}},
      {{2, 30, 7}, "lanewise", {"lanewise", "libnccl-tuner-lanewise.so"}},
      {{2, 27, 7}, "none", {"none", "libnccl-tuner-none.so"}},
      {{2, 21, 5}, "static", {"static", "libnccl-tuner-static.so"}},
  };
  for (const auto& lookup_case : cases) {
    const auto lookup = look_up_tuner(lookup_case.value, lookup_case.release);

    EXPECT_EQ(lookup.source, TunerSource::files) << lookup_case.value;
    EXPECT_EQ(lookup.names, lookup_case.names)
        << lookup_case.value << " in " << to_string(lookup_case.release);
  }
}

TEST(PluginLookup, KnowsTheWordsThatAreNoFiles) {
  EXPECT_EQ(look_up_tuner("NONE", {2, 28, 3}).source, TunerSource::none);
  for (const char* value : {"s", "STATIC", "static_plugin"})
    EXPECT_EQ(look_up_tuner(value, {2, 22, 3}).source, TunerSource::main_program) << value;
  EXPECT_EQ(look_up_tuner("static_plugins", {2, 22, 3}).source, TunerSource::files);
}

TEST(PluginLookup, CutsLongNamesSince226) {
  const std::string value = "/" + std::string(299, 'x');

  EXPECT_FALSE(look_up_tuner(value, {2, 25, 1}).is_cut);
  const auto lookup = look_up_tuner(value, {2, 28, 9});
  EXPECT_TRUE(lookup.is_cut);
  EXPECT_EQ(lookup.names.front().size(), 254U);
}

TEST(PluginLookup, PrefersTheNewestSymbolOfARelease) {
  EXPECT_EQ(tuner_symbols({2, 21, 5}), Names{"ncclTunerPlugin_v2"});
  EXPECT_EQ(tuner_symbols({2, 28, 9}).front(), "ncclTunerPlugin_v5");
  EXPECT_EQ(tuner_symbols({2, 30, 7}).size(), 5U);
  EXPECT_EQ(tuner_symbols({2, 32, 6}).front(), "ncclTunerPlugin_v7");
  EXPECT_TRUE(tuner_symbols({2, 20, 5}).empty());
}

}  // namespace
}  // namespace lanewise
