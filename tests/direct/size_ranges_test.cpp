// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "direct/size_ranges.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "group/layout.hpp"

namespace lanewise::direct {
namespace {

TEST(SizeRanges, ReadsWhatItWrites) {
  const std::string text = "1024:65536,8=65537:262144:two-shot,4=1:9:one-shot-ll";

  EXPECT_EQ(format_size_ranges(parse_size_ranges(text)), text);
}

TEST(SizeRanges, RejectsWhatIsNoRangeAndNamesIt) {
  for (const std::string text : {"", "1", "9:1", "0:0", "x=1:2", "1=1:2", "17=1:2", "1:2:ring",
                                 "1:2:", "1:8388609", "1:2,", "1:-2", "1 :2"}) {
    try {
      static_cast<void>(parse_size_ranges(text));
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("expected [RANKS=]LO:HI[:FORM]"), std::string::npos);
    }
  }
}

TEST(SizeRanges, FindsTheFirstThatServesSizeAndRanks) {
  const auto ranges = parse_size_ranges("8=1:100:two-shot,1:1000");

  EXPECT_EQ(find_range(ranges, 100, 8)->form, Form::two_shot);
  EXPECT_EQ(find_range(ranges, 100, 4)->form, std::nullopt);
  EXPECT_EQ(find_range(ranges, 1001, 8), nullptr);
  EXPECT_EQ(largest_size(parse_size_ranges("8=1:100"), 4), 0U);
}

TEST(Forms, TakesTwoShotsWhereOneWouldCrowdTheLink) {
  EXPECT_EQ(usual_form(4096, 8, Place::host), Form::one_shot_ll);
  EXPECT_EQ(usual_form(14336, 8, Place::host), Form::one_shot_simple);
  EXPECT_EQ(usual_form(57344, 8, Place::host), Form::two_shot);
  EXPECT_EQ(usual_form(std::size_t{1} << 22, 2, Place::host), Form::one_shot_simple);
}

TEST(Forms, GivesEveryBlockWorkAndNoMoreThanFit) {
  for (const Form form : {Form::one_shot_ll, Form::one_shot_simple, Form::two_shot}) {
    EXPECT_EQ(blocks_for(1, form, 8, 16), 1);
    EXPECT_EQ(blocks_for(std::size_t{4} << 20, form, 8, 16), 16);
  }
  EXPECT_EQ(blocks_for(57344, Form::two_shot, 8, 32), 2);
}

TEST(Layout, HoldsLinesDataSumsAndFlagsWithoutOverlap) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{14336}, std::size_t{1} << 20}) {
    const Layout layout(3, 5, bytes, bytes / 2);

    EXPECT_GE(layout.ll_lines * 8, bytes / 2);
    EXPECT_GE(layout.data_offset, layout.ll_lines * 16);
    EXPECT_GE(layout.sums_offset, layout.data_offset + bytes);
    // A chunk is a third of the vectors, rounded up.
    EXPECT_GE(layout.flags_offset, layout.sums_offset + ((bytes + 15) / 16 + 2) / 3 * 16);
    EXPECT_GE(layout.half_bytes, layout.flags_offset + 2 * 32 * 128);
    EXPECT_EQ(layout.offset_of(1, 0), layout.area_bytes);
    EXPECT_EQ(layout.offset_of(0, 4) + 2 * layout.half_bytes, layout.area_bytes);
  }
}

}  // namespace
}  // namespace lanewise::direct
