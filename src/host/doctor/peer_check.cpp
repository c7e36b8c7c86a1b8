// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>
#include <map>

#include "core/machine/topology_facts.hpp"
#include "doctor/checks.hpp"

namespace lanewise::host {
namespace {

constexpr std::string_view without_peer_access =
    "SGLang: --disable-custom-all-reduce; vLLM does so by itself; NCCL needs nothing";

constexpr FindingKind geforce = {
    .name = "peer-access-geforce",
    .severity = Severity::note,
    .title = "GeForce cards: NVIDIA's driver gives them no peer access",
    .why =
        "NCCL goes through host memory (SHM). That is slower than peer access and works; a "
        "profile measured with a patched driver does not fit, and engines' own all-reduce "
        "kernels cannot be used.",
    .fix = without_peer_access,
    .undo = "leave the option out"};

constexpr FindingKind refused = {
    .name = "peer-access-refused",
    .severity = Severity::slow,
    .title = "The driver gives no peer access between {pairs} pairs of GPUs: {code}, {meaning}",
    .why = "NCCL goes through host memory (SHM) between them.",
    .fix =
        "nvidia-smi topo -p2p r    # CNS: update the BIOS and the driver, or another kernel; "
        "meanwhile SGLang: --disable-custom-all-reduce",
    .undo = "leave the option out"};

constexpr FindingKind disabled_by_level = {
    .name = "peer-access-by-rank-count",
    .severity = Severity::note,
    .title =
        "On AMD processors NCCL uses peer access across root ports for 2 ranks and host "
        "memory for more",
    .why =
        "{pairs} pairs of GPUs meet only at the processor. Up to 2 GPUs NCCL lets them access "
        "each other, from 3 on it does not: TP=2 and TP=4 take different ways, and one may hang "
        "or be slow where the other is not.",
    .fix =
        "lanewise-bench environments --environment NCCL_P2P_LEVEL=SYS    # what it is worth "
        "here; then export NCCL_P2P_LEVEL=SYS",
    .undo = "unset NCCL_P2P_LEVEL"};

constexpr std::array kinds = {geforce, refused, disabled_by_level};

struct Meaning {
  std::string_view code;
  std::string_view words;
};
constexpr std::array meanings = {
    Meaning{"CNS", "the chipset is not supported"},  Meaning{"GNS", "the GPU is not supported"},
    Meaning{"TNS", "the topology is not supported"}, Meaning{"NS", "not supported"},
    Meaning{"DR", "disabled by a registry key"},     Meaning{"U", "unknown"}};

bool is_geforce(const Gpu& gpu) {
  // GeForce cards before the 40 series could have peer access over an NVLink bridge.
  return gpu.model.find("GeForce") != std::string::npos && gpu.compute_capability >= 89;
}

void judge_codes(const Inspection& inspection, Report& report) {
  const bool are_geforce = std::ranges::all_of(inspection.topology.gpus, is_geforce);
  std::map<std::string, int> pairs;
  const auto& peers = inspection.smi.peers;
  for (std::size_t row = 0; row < peers.size(); ++row) {
    for (std::size_t column = row + 1; column < peers[row].size(); ++column)
      ++pairs[peers[row][column]];
  }
  if (are_geforce && !pairs.contains("OK")) {
    report.findings.push_back(make_finding(
        geforce, {},
        {{"nvidia-smi topo -p2p r", peers.empty() ? "not asked; by the model" : peers[0].back()},
         {"/sys/bus/pci/devices", inspection.topology.gpus.front().model}}));
    return;
  }
  for (const auto& meaning : meanings) {
    const auto found = pairs.find(std::string(meaning.code));
    if (found == pairs.end()) continue;
    report.findings.push_back(make_finding(refused,
                                           {{"pairs", std::to_string(found->second)},
                                            {"code", found->first},
                                            {"meaning", std::string(meaning.words)}},
                                           {{"nvidia-smi topo -p2p r", found->first}}));
  }
}

// NCCL's default level: SYS for up to two GPUs on an AMD processor, else PXB.
void judge_level(const Inspection& inspection, Report& report) {
  const Topology& topology = inspection.topology;
  const auto processors = inspection.files.read("/proc/cpuinfo", 4096).text;
  if (processors.find("AuthenticAMD") == std::string::npos || topology.gpus.size() < 3 ||
      topology.is_guest || can_have_nvlink(topology) == NvlinkAbility::yes ||
      std::ranges::any_of(topology.gpus, is_geforce))
    return;
  for (const char* name : {"NCCL_P2P_LEVEL", "NCCL_P2P_DISABLE"}) {
    if (inspection.find_variable(name) != nullptr) return;
  }
  int pairs = 0;
  for (std::size_t one = 0; one < topology.gpus.size(); ++one) {
    for (std::size_t other = 0; other < one; ++other)
      pairs += topology.path(one, other) > PathType::pxb ? 1 : 0;
  }
  if (pairs == 0) return;
  report.findings.push_back(
      make_finding(disabled_by_level, {{"pairs", std::to_string(pairs)}},
                   {{"NCCL_P2P_LEVEL", "not set"}, {"/proc/cpuinfo", "AuthenticAMD"}}));
}

void run(const Inspection& inspection, Report& report) {
  if (!inspection.has_several_gpus()) return;
  judge_codes(inspection, report);
  judge_level(inspection, report);
}

}  // namespace

const Check peer_check = {"peer access", kinds, run};

}  // namespace lanewise::host
