// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/profile/sweep_csv.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace lanewise::host {
namespace {

const std::string header =
    "bytes,arm,algorithm,protocol,channels,median_us,low_us,high_us,ratio,ratio_low,ratio_high,"
    "samples,wrong\n";

TEST(SweepCsv, HoldsTheTimesOfChoices) {
  const auto times =
      parse_sweep_csv(header +
                          "14336,stock,ring,ll,1,48.9,48.8,49,1,1,1,10,0\n"
                          "14336,tree/ll/4,tree,ll,4,22.3,22.2,22.4,2.19,2.1,2.2,10,0\r\n"
                          "14336,ring/ll128/2,,,,,,,,,,0,0\n",
                      "s.csv");

  const SweptTime wanted{{Algorithm::tree, Protocol::ll, 4}, 14336, 22.3};
  EXPECT_EQ(times, std::vector<SweptTime>{wanted});
}

TEST(SweepCsv, RefusesAnythingElseWithItsLine) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      (void)parse_sweep_csv(text, "s.csv");
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };

  EXPECT_TRUE(refusal("").starts_with("s.csv:1: expected the columns"));
  EXPECT_TRUE(refusal("a,b\n1,2\n").starts_with("s.csv:1: "));
  EXPECT_EQ(refusal(header + "1,2\n"), "s.csv:2: expected 13 fields separated by commas");
  EXPECT_EQ(refusal(header + "9,ring/lx/1,,,,1,,,,,,,\n"),
            "s.csv:2: arm: expected ALGORITHM/PROTOCOL/CHANNELS");
  for (const auto* us : {"nan", "-1", "0", "1e99", "1 ", "x"})
    EXPECT_EQ(refusal(header + "\n9,ring/ll/1,,,," + us + ",,,,,,,\n"),
              "s.csv:3: median_us: expected a number above 0")
        << us;
  EXPECT_EQ(refusal(header + "-9,ring/ll/1,,,,1,,,,,,,\n"),
            "s.csv:2: bytes: expected a number above 0");
}

}  // namespace
}  // namespace lanewise::host
