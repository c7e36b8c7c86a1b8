// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/machine/gpu_selection.hpp"
#include "core/machine/topology_facts.hpp"
#include "core/nccl/cost_model.hpp"
#include "host/machine/topology_source.hpp"

namespace lanewise {
namespace {

using host::parse_topology;

// As a terminal shows it: a prompt, an underlined header, a NIC among the columns.
const std::string four_gpus =
    "$ nvidia-smi topo -m\n"
    "\033[4m\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\033[0m\n"
    "GPU0\t X \tPIX\tSYS\tSYS\tPHB\t0-15,32-47\t0\t\tN/A\n"
    "GPU1\tPIX\t X \tSYS\tSYS\tPHB\t0-15,32-47\t0\t\tN/A\n"
    "GPU2\tSYS\tSYS\t X \tNODE\tSYS\t16-31,48-63\t1\t\tN/A\n"
    "GPU3\tSYS\tSYS\tNODE\t X \tSYS\t16-31,48-63\t1\t\tN/A\n"
    "NIC0\tPHB\tPHB\tSYS\tSYS\t X \t\t\t\t\n"
    "\nLegend:\n\n  X    = Self\n";

std::string refusal_of(const std::string& text) {
  try {
    (void)parse_topology("table.txt", text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TopoMatrix, IsAMachineWithItsClassesAndNumaNodes) {
  const auto topology = parse_topology("table.txt", four_gpus);

  ASSERT_EQ(topology.gpus.size(), 4U);
  EXPECT_EQ(topology.path(0, 0), PathType::self);
  EXPECT_EQ(topology.path(0, 1), PathType::pix);
  EXPECT_EQ(topology.path(2, 3), PathType::node);
  EXPECT_EQ(topology.path(3, 0), PathType::sys);
  EXPECT_EQ(topology.gpus[1].numa, 0);
  EXPECT_EQ(topology.gpus[3].numa, 1);
  EXPECT_EQ(topology.numa_nodes.size(), 2U);
}

TEST(TopoMatrix, LeavesOpenWhatTheTableDoesNotShow) {
  const auto topology = parse_topology("table.txt", four_gpus);

  EXPECT_FALSE(topology.gpus[0].link.is_known());
  EXPECT_TRUE(topology.gpus[0].model.empty());
  EXPECT_EQ(can_have_nvlink(topology), NvlinkAbility::unknown);
  EXPECT_FALSE(topology.find_gpu({.bus = 1}));
  ASSERT_FALSE(topology.notes.empty());
  EXPECT_NE(topology.notes[0].find("widths"), std::string::npos);
}

TEST(TopoMatrix, KeepsTheNumbersOfItsGpus) {
  const auto topology = parse_topology("table.txt", " GPU2 GPU5\nGPU2 X PHB\nGPU5 PHB X\n");

  EXPECT_EQ(gpu_numbers(topology), (std::vector<int>{2, 5}));
}

TEST(TopoMatrix, CountsNvlinks) {
  const auto topology = parse_topology(
      "table.txt",
      "     GPU0 GPU1 CPU Affinity NUMA Affinity\nGPU0 X NV4 0-7 0\nGPU1 NV4 X 8-15 1\n");

  EXPECT_EQ(topology.gpus[0].nvlinks, 4);
  EXPECT_TRUE(topology.has_nvlink());
  EXPECT_EQ(topology.path(0, 1), PathType::sys);
}

TEST(TopoMatrix, TakesOldAndLooseTables) {
  // Spaces for tabs, SOC for SYS, no NUMA column, a last line that was cut.
  const auto topology = parse_topology("table.txt",
                                       "   GPU0 GPU1 GPU2 CPU Affinity\r\nGPU0 X PIX SOC 0-7\r\n"
                                       "GPU1 PIX X SOC 0-7\r\nGPU2 SOC SOC X 8-\r\n");

  EXPECT_EQ(topology.path(0, 2), PathType::sys);
  EXPECT_FALSE(topology.gpus[0].numa);
}

TEST(TopoMatrix, SelectedGpusKeepTheirClasses) {
  const auto selected = select_gpus(parse_topology("table.txt", four_gpus), {0, 2, 3});

  ASSERT_EQ(selected.gpus.size(), 3U);
  EXPECT_EQ(selected.path(0, 1), PathType::sys);
  EXPECT_EQ(selected.path(1, 2), PathType::node);
}

TEST(TopoMatrix, HasAFingerprintOfItsClasses) {
  auto other = four_gpus;
  other.replace(other.find("NODE\tSYS"), 4, "PHB ");
  other.replace(other.rfind("NODE\t X"), 4, "PHB ");

  EXPECT_NE(fingerprint(parse_topology("table.txt", four_gpus)),
            fingerprint(parse_topology("table.txt", other)));
}

TEST(TopoMatrix, IsRefusedWithItsLineAndWhatWasExpected) {
  struct MalformedMatrix {
    std::string text;
    std::string expectation;
  };
  for (const auto& malformed : {
           MalformedMatrix{" GPU0 GPU1\nGPU0 X PIX\n", "table.txt:3: expected the row of GPU1"},
           MalformedMatrix{" GPU0 GPU1\nGPU0 X PIX\nGPU7 PIX X\n",
                           "table.txt:3: expected the row of GPU1"},
           MalformedMatrix{" GPU0 GPU1\nGPU0 X\n",
                           "table.txt:2: expected a cell for each of 2 GPUs"},
           MalformedMatrix{" GPU0 GPU1\nGPU0 X FAR\n", "table.txt:2: expected PIX, PXB"},
           MalformedMatrix{" GPU0 GPU1\nGPU0 X NV0\n", "table.txt:2: expected PIX, PXB"},
           MalformedMatrix{" GPU0 GPU1\nGPU0 X X\n", "table.txt:2: expected PIX, PXB"},
           MalformedMatrix{" GPU0 GPU1\nGPU0 PIX X\n", "table.txt:2: expected X, found \"PIX\""},
           MalformedMatrix{" GPU0 GPU0\nGPU0 X PIX\n", "table.txt:1: expected each GPU once"},
           MalformedMatrix{" GPU0 GPU1\nGPU0 X PIX\nGPU1 SYS X\n", "to be as near both ways"},
       })
    EXPECT_NE(refusal_of(malformed.text).find(malformed.expectation), std::string::npos)
        << refusal_of(malformed.text);
}

TEST(TopoMatrix, NeverCrashesWhereverItIsCut) {
  for (std::size_t length = 0; length < four_gpus.rfind("NODE\t X") + 4; ++length)
    EXPECT_FALSE(refusal_of(four_gpus.substr(0, length)).empty()) << length;
}

TEST(TopoMatrix, SurvivesAnyChangedByte) {
  for (std::size_t place = 0; place < four_gpus.size(); ++place) {
    for (const char letter : {'\0', '\n', '\t', 'X', '9', '\033', '\xff'}) {
      auto changed = four_gpus;
      changed[place] = letter;
      try {
        const auto topology = parse_topology("changed.txt", changed);
        EXPECT_EQ(fingerprint(topology).size(), 16U);
        EXPECT_LE(topology.gpus.size(), 4U);
      } catch (const Error&) {
      }
    }
  }
}

}  // namespace
}  // namespace lanewise
