// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/engines/engine_variables.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace lanewise::host {
namespace {

TEST(EngineVariables, SglangHasItsDefaults) {
  EXPECT_EQ(find_engine("sglang").defaults(), (Environment{{"NCCL_CUMEM_ENABLE", "0"},
                                                           {"NCCL_GRAPH_REGISTER", "0"},
                                                           {"NCCL_NVLS_ENABLE", "0"}}));
}

TEST(EngineVariables, WhatVllmSetsInSpecialModesIsNoDefault) {
  EXPECT_TRUE(find_engine("vllm").defaults().empty());
  EXPECT_FALSE(find_engine("vllm").variables.empty());
}

TEST(EngineVariables, AnUnknownEngineIsRefusedWithThoseKnown) {
  try {
    (void)find_engine("triton");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("sglang, vllm"), std::string::npos);
  }
}

TEST(EngineVariables, AnotherFormatIsRefusedWithItsLine) {
  EXPECT_THROW(
      (void)parse_engines("{\"engines\": [{\"engine\": \"x\",\n\"flags\": []}]}", "e.json"), Error);
}

}  // namespace
}  // namespace lanewise::host
