// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/counters/counter_key.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace lanewise::host {
namespace {

const CountedCall by_profile{14336, Decision{{Algorithm::tree, Protocol::ll, 4}, Source::profile},
                             CallBuffers::captured, CallEffect::applied};

TEST(CounterKey, KeepsWhatItStandsFor) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{14336}, (std::size_t{1} << 24) - 1,
                                  std::size_t{1} << 24, std::size_t{3} << 40}) {
    auto call = by_profile;
    call.bytes = bytes;

    const auto meaning = read_counter_key(counter_key(call, 200));

    EXPECT_EQ(meaning.call, call);
    EXPECT_EQ(meaning.record, 200U);
    EXPECT_EQ(meaning.exactness, SizeExactness::exact);
  }
  EXPECT_EQ(read_counter_key(counter_key({.bytes = 8}, 0)).call, CountedCall{.bytes = 8});
}

TEST(CounterKey, RoundsUpByAtMostSixPercentWhereItMust) {
  for (std::size_t bytes = 33; bytes < std::size_t{1} << 40; bytes = bytes * 7 / 5 + 1) {
    auto call = by_profile;
    call.bytes = bytes;

    const auto meaning = read_counter_key(coarse_counter_key(counter_key(call, 3)));

    EXPECT_GE(meaning.call.bytes, bytes);
    EXPECT_LE(static_cast<double>(meaning.call.bytes), static_cast<double>(bytes) * 1.0626);
    EXPECT_EQ(meaning.exactness == SizeExactness::exact, meaning.call.bytes == bytes);
  }
  EXPECT_EQ(read_counter_key(counter_key({.bytes = SIZE_MAX}, 0)).exactness,
            SizeExactness::rounded_up);
}

}  // namespace
}  // namespace lanewise::host
