// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/byte_size.hpp"

#include <gtest/gtest.h>

namespace lanewise {
namespace {

TEST(ByteSize, ReadsPlainNumbersAndPowersOf1024) {
  EXPECT_EQ(parse_byte_size("14336"), 14336U);
  EXPECT_EQ(parse_byte_size("14K"), 14336U);
  EXPECT_EQ(parse_byte_size("14KiB"), 14336U);
  EXPECT_EQ(parse_byte_size("4M"), std::size_t{4} << 20U);
  EXPECT_EQ(parse_byte_size("1GiB"), std::size_t{1} << 30U);
  EXPECT_EQ(parse_byte_size("0"), 0U);
}

TEST(ByteSize, RefusesWhatIsNoSize) {
  for (const char* text : {"", "K", "-1", "+1", "14k", "14 K", "14KB", "1.5M", "14K4"})
    EXPECT_EQ(parse_byte_size(text), std::nullopt) << text;
}

TEST(ByteSize, RefusesWhatDoesNotFit) {
  EXPECT_EQ(parse_byte_size("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_byte_size("18014398509481984K"), std::nullopt);
  EXPECT_EQ(parse_byte_size("17179869184G"), std::nullopt);
}

}  // namespace
}  // namespace lanewise
