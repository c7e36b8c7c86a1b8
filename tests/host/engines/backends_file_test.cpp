// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/engines/backends_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.hpp"

namespace lanewise {
namespace {

using host::bundled_backends;
using host::parse_backends;

struct EngineCase {
  std::string engine;
  std::string ranks;
  std::string capability;
  bool has_nvlink;
  bool has_peer_access;
  std::string captured;
  std::string setting;  // NAME=VALUE; empty: none
  std::string taker;
};

std::string taker_of(const EngineCase& engine_case, const std::string& bytes = "14336",
                     const std::string& tokens = "1") {
  const auto engines = bundled_backends();
  const auto engine = std::ranges::find(engines, engine_case.engine, &EngineRelease::engine);
  CallFacts facts = {{"ranks", engine_case.ranks},
                     {"capability", engine_case.capability},
                     {"nvlink", engine_case.has_nvlink ? "1" : "0"},
                     {"multicast", engine_case.has_nvlink ? "1" : "0"},
                     {"peer_access", engine_case.has_peer_access ? "1" : "0"},
                     {"captured", engine_case.captured},
                     {"dtype", "bf16"},
                     {"bytes", bytes},
                     {"tokens", tokens},
                     {"max_decode_tokens", "64"}};
  const auto equals = engine_case.setting.find('=');
  if (equals != std::string::npos)
    facts[engine_case.setting.substr(0, equals)] = engine_case.setting.substr(equals + 1);
  return find_taker(*engine, with_defaults(*engine, facts))->name;
}

constexpr const char* sglang_ipc = "SGLANG_ENABLE_PCIE_IPC_ALLREDUCE=1";
constexpr const char* vllm_ipc = "VLLM_ALLREDUCE_USE_FLASHINFER_PCIE_IPC=1";

TEST(BackendsFile, SaysWhatTheEnginesDo) {
  const std::vector<EngineCase> cases = {
      {"sglang", "8", "120", false, true, "1", "", "NCCL by PyNccl"},
      {"sglang", "8", "120", false, true, "0", "", "NCCL by torch.distributed"},
      {"sglang", "2", "120", false, true, "1", "", "custom all-reduce"},
      {"sglang", "2", "120", false, false, "1", "", "NCCL by PyNccl"},
      {"sglang", "8", "120", false, true, "1", sglang_ipc, "FlashInfer PCIe IPC"},
      {"sglang", "8", "120", false, true, "0", sglang_ipc, "FlashInfer PCIe IPC"},
      {"sglang", "6", "120", false, true, "1", sglang_ipc, "NCCL by PyNccl"},
      {"sglang", "8", "89", false, false, "1", sglang_ipc, "NCCL by PyNccl"},
      {"sglang", "8", "120", false, true, "1", "--enable-mscclpp=1", "MSCCL++"},
      {"sglang", "8", "120", false, true, "0", "--enable-mscclpp=1", "NCCL by torch.distributed"},
      {"sglang", "8", "120", false, true, "1", "--enable-symm-mem=1",
       "NCCL by PyNccl, symmetric memory"},
      {"sglang", "8", "90", true, true, "1", "", "custom all-reduce v2"},
      {"sglang", "8", "90", true, true, "1", "SGLANG_OPT_USE_CUSTOM_ALL_REDUCE_V2=0",
       "custom all-reduce"},
      {"vllm", "8", "120", false, true, "1", "", "NCCL by PyNccl"},
      {"vllm", "8", "120", false, true, "0", "", "NCCL by PyNccl"},
      {"vllm", "4", "89", false, true, "1", "", "NCCL by PyNccl"},
      {"vllm", "2", "89", false, true, "1", "", "custom all-reduce"},
      {"vllm", "2", "89", false, false, "1", "", "NCCL by PyNccl"},
      {"vllm", "8", "120", false, true, "1", vllm_ipc, "FlashInfer PCIe IPC"},
      {"vllm", "3", "120", false, true, "1", vllm_ipc, "NCCL by PyNccl"},
      {"vllm", "8", "120", false, true, "1", "VLLM_USE_NCCL_SYMM_MEM=1",
       "NCCL by PyNccl, symmetric memory"},
      {"vllm", "2", "120", false, false, "1", "VLLM_USE_NCCL_SYMM_MEM=1", "NCCL by PyNccl"},
      {"vllm", "8", "90", true, true, "1", "", "custom all-reduce"},
  };
  for (const auto& engine_case : cases) {
    EXPECT_EQ(taker_of(engine_case), engine_case.taker)
        << engine_case.engine << ", " << engine_case.ranks << " ranks of " << engine_case.capability
        << ", nvlink " << engine_case.has_nvlink << ", captured " << engine_case.captured << ", "
        << engine_case.setting;
  }
}

TEST(BackendsFile, LeavesWideStepsAndLargeMessagesToNccl) {
  const EngineCase sglang = {"sglang", "8", "120", false, true, "1", sglang_ipc, ""};
  const EngineCase hopper = {"vllm", "8", "90", true, true, "1", "", ""};

  EXPECT_EQ(taker_of(sglang, "917504", "64"), "FlashInfer PCIe IPC");
  EXPECT_EQ(taker_of(sglang, "931840", "65"), "NCCL by PyNccl");
  EXPECT_EQ(taker_of(hopper, "262128"), "custom all-reduce");
  EXPECT_EQ(taker_of(hopper, "262144"), "torch symmetric memory");
  EXPECT_EQ(taker_of(hopper, "100000000"), "NCCL by PyNccl");
}

TEST(BackendsFile, NamesOnlyBackendsAndSettingsThatItHas) {
  for (const auto& engine : bundled_backends()) {
    for (const auto& figure : engine.figures)
      EXPECT_NE(std::ranges::find(engine.backends, figure.backend, &Backend::name),
                engine.backends.end());
    EXPECT_TRUE(engine.backends.back().needs.empty()) << "someone takes every call";
  }
}

TEST(BackendsFile, RefusesWithItsLine) {
  const auto line_of = [](const std::string& text) {
    try {
      (void)parse_backends(text, "b.json");
    } catch (const Error& error) {
      return error.line();
    }
    return 0;
  };

  EXPECT_EQ(line_of("{\"schema_version\": 2,\n\"engines\": []}"), 1);
  EXPECT_EQ(line_of("{\"schema_version\": 1,\n\"engines\": [{\"engine\": 3}]}"), 2);
  EXPECT_EQ(line_of("{\"schema_version\": 1, \"engines\": [{\"engine\": \"e\",\n"
                    "\"release\": \"1\", \"settings\": [], \"figures\": [],\n"
                    "\"backends\": [{\"name\": \"n\", \"source\": \"s\",\n"
                    "\"needs\": [{\"fact\": \"ranks\"}]}]}]}"),
            4);
}

}  // namespace
}  // namespace lanewise
