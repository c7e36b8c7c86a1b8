// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/engines/backends.hpp"

#include <gtest/gtest.h>

namespace lanewise {
namespace {

// "fast" serves bf16 up to the captured width where FAST=1; "other" up to 8 ranks unless fast
// could.
EngineRelease small_engine() {
  EngineRelease engine{.engine = "engine", .release = "1"};
  engine.settings = {{"FAST", "0"}};
  Backend fast{.name = "fast"};
  fast.needs = {{.fact = "FAST", .one_of = {"1"}, .otherwise = "FAST is not 1"},
                {.fact = "tokens", .at_most_fact = "width", .otherwise = "too wide"}};
  Backend other{.name = "other"};
  other.needs = {{.any = {{.fact = "ranks", .one_of = {"2"}}, {.fact = "nvlink", .one_of = {"1"}}},
                  .otherwise = "not for more than two"},
                 {.unless = {"fast"}, .otherwise = "fast goes first"},
                 {.all = {{.fact = "bytes", .at_least = 16}, {.fact = "bytes", .at_most = 1024}},
                  .otherwise = "16 to 1024 bytes"}};
  engine.backends = {fast, other, {.name = "nccl", .is_nccl = true}};
  engine.figures = {{"fast", 120, 8, 100, 5.0, 50.0, "somewhere"}};
  return engine;
}

CallFacts facts_of(const std::string& ranks, const std::string& bytes) {
  return {{"ranks", ranks}, {"bytes", bytes}, {"tokens", "4"},
          {"width", "8"},   {"nvlink", "0"},  {"capability", "120"}};
}

std::string taker(const EngineRelease& engine, const CallFacts& facts) {
  return find_taker(engine, with_defaults(engine, facts))->name;
}

TEST(Backends, TakesTheFirstWhoseConditionsAllHold) {
  const auto engine = small_engine();

  EXPECT_EQ(taker(engine, facts_of("2", "64")), "other");
  EXPECT_EQ(taker(engine, facts_of("8", "64")), "nccl");
  EXPECT_EQ(taker(engine, facts_of("2", "8")), "nccl");
  EXPECT_EQ(taker(engine, facts_of("2", "1025")), "nccl");
  auto facts = facts_of("2", "64");
  facts["FAST"] = "1";
  EXPECT_EQ(taker(engine, facts), "fast");
  facts["tokens"] = "9";
  EXPECT_EQ(taker(engine, facts), "other");
}

TEST(Backends, DoesNotMeetABoundOnWhatIsUnknown) {
  const auto engine = small_engine();
  auto facts = facts_of("2", "64");
  facts["FAST"] = "1";
  facts.erase("width");

  EXPECT_EQ(taker(engine, facts), "other");
}

TEST(Backends, SaysWhyOneDoesNotTakeTheCall) {
  const auto engine = small_engine();
  const auto facts = with_defaults(engine, facts_of("8", "8"));

  EXPECT_EQ(refusals(engine, engine.backends[1], facts),
            (std::vector<std::string>{"not for more than two", "16 to 1024 bytes"}));
}

TEST(Backends, FindsTheOneSettingThatChangesTheTaker) {
  const auto engine = small_engine();
  const auto facts = with_defaults(engine, facts_of("8", "64"));

  const auto changes = find_changes(engine, facts);

  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].setting.name, "FAST");
  EXPECT_EQ(changes[0].setting.value, "1");
  EXPECT_EQ(changes[0].taker->name, "fast");
}

TEST(Backends, GivesAFigureOnlyForTheSameMachineAndNearlyTheSameSize) {
  const auto engine = small_engine();

  EXPECT_NE(find_figure(engine, "fast", facts_of("8", "64")), nullptr);
  EXPECT_EQ(find_figure(engine, "fast", facts_of("8", "10")), nullptr);
  EXPECT_EQ(find_figure(engine, "fast", facts_of("4", "64")), nullptr);
  EXPECT_EQ(find_figure(engine, "nccl", facts_of("8", "64")), nullptr);
}

}  // namespace
}  // namespace lanewise
