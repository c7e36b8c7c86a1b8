// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "search/variables.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace lanewise {
namespace {

TEST(Variables, ACommaInAValueDoesNotEndIt) {
  EXPECT_EQ(
      parse_variables("NCCL_ALGO=Ring,Tree,NCCL_MIN_NCHANNELS=8,NCCL_PROTO=^LL,Simple"),
      (Environment{
          {"NCCL_ALGO", "Ring,Tree"}, {"NCCL_MIN_NCHANNELS", "8"}, {"NCCL_PROTO", "^LL,Simple"}}));
}

TEST(Variables, WhatIsNoAssignmentIsRefused) {
  for (const char* text : {"", "SYS", "=1", "NCCL_ALGO=Ring,", ",NCCL_ALGO=Ring", "A B=1"})
    EXPECT_THROW((void)parse_variables(text), Error) << text;
}

TEST(Variables, RanksHaveTheirOwnValues) {
  EXPECT_EQ(with_changes({{"A", "1"}, {"B", "2"}, {"C", "3"}}, {{"A", "9"}, {"B", ""}}),
            (Environment{{"A", "9"}, {"C", "3"}}));
}

}  // namespace
}  // namespace lanewise
