// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/error.hpp"
#include "core/machine/topology_facts.hpp"
#include "host/machine/topology_source.hpp"
#include "support/test_files.hpp"

namespace lanewise {
namespace {

using host::parse_topology;

const std::string machines = testing::test_file("cli/machines/").string();

std::string read(const std::string& name) {
  std::ifstream stream(machines + name);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::string repeat(const std::string& text, int times) {
  std::string all;
  for (int count = 0; count < times; ++count) all += text;
  return all;
}

std::string in_cpu(const std::string& lines) {
  return "<system version=\"1\">\n<cpu numaid=\"0\">\n" + lines + "\n</cpu>\n</system>\n";
}

std::string in_host_bridge(const std::string& lines) {
  return "<topology version=\"2.0\">\n<object type=\"Bridge\" bridge_type=\"0-1\" "
         "bridge_pci=\"0000:[00-1b]\">\n" +
         lines + "\n</object>\n</topology>\n";
}

struct Malformed {
  std::string text;
  int line = 0;
  std::string expectation;
};

const std::string gpu_pci =
    "<pci busid=\"0000:01:00.0\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x2bb5\">";

std::vector<Malformed> malformed_files() {
  return {
      {"", 1, "well-formed XML"},
      {"\n\n", 3, "well-formed XML"},
      {"hello", 1, "well-formed XML"},
      {"<system", 1, "well-formed XML"},
      {"<system version=\"1\">\n<cpu numaid=\"0\">\n", 2, "well-formed XML"},
      {"<system>\n</cpu>\n</system>", 2, "well-formed XML"},
      {"<!-- nothing -->\n", 2, "well-formed XML"},
      {"<html>\n</html>", 1, "<system> (NCCL's topology) or <topology> (hwloc's), found <html>"},
      {"\n<graphs version=\"1\"/>", 2, "graph file"},
      {"<system version=\"3\"/>", 1, "expected version"},
      {"<system version=\"0\"/>", 1, "expected version 1"},
      {"<system version=\"one\"/>", 1, "expected version"},
      {"<system>\n<gpu dev=\"0\"/>\n</system>", 2, "inside a <pci>"},
      {in_cpu("<gpu dev=\"0\"/>"), 3, "inside a <pci>"},
      {in_cpu("<pci/>"), 3, "attribute busid"},
      {in_cpu("<pci busid=\"\"/>"), 3, "PCI address"},
      {in_cpu("<pci busid=\"0000:01:00\"/>"), 3, "PCI address"},
      {in_cpu("<pci busid=\"0000:01:20.0\"/>"), 3, "PCI address"},
      {in_cpu("<pci busid=\"0000:01:00.0\" class=\"display\"/>"), 3, "class"},
      {in_cpu("<pci busid=\"0000:01:00.0\" vendor=\"0x110de\"/>"), 3, "vendor"},
      {in_cpu("<pci busid=\"0000:01:00.0\" device=\"-1\"/>"), 3,
       "device to be a number from 0 to 65535, found \"-1\""},
      {in_cpu("<pci busid=\"0000:01:00.0\" link_width=\"wide\"/>"), 3, "link_width"},
      {in_cpu("<pci busid=\"0000:01:00.0\" link_width=\"16x\"/>"), 3, "link_width"},
      {"<system>\n<cpu numaid=\"zero\"/>\n</system>", 2, "numaid"},
      {"<system>\n<cpu numaid=\"99999999999\"/>\n</system>", 2, "numaid"},
      {in_cpu(gpu_pci + "\n<gpu sm=\"120\"/></pci>"), 4, "attribute dev"},
      {in_cpu(gpu_pci + "\n<gpu dev=\"0\" sm=\"big\"/></pci>"), 4, "sm"},
      {in_cpu(gpu_pci + "\n<gpu dev=\"0\"/>\n<gpu dev=\"1\"/></pci>"), 5, "one <gpu>"},
      {in_cpu(gpu_pci + "</pci>\n" + gpu_pci + "</pci>"), 4, "each GPU once"},
      {in_cpu(gpu_pci + "<gpu dev=\"0\">\n<nvlink count=\"many\"/></gpu></pci>"), 4, "count"},
      {in_cpu("<pci busid=\"0000:01:00.0\" class=\"0x060400\">\n<gpu dev=\"0\"/></pci>"), 4,
       "in a bridge"},
      {repeat("<pci>", 5000) + repeat("</pci>", 5000), 1, "nested elements"},
      {std::string("<system>\n\0</system>", 19), 2, "NUL"},
      {"<topology version=\"1.0\"/>", 1, "version 2 or 3"},
      {"<topology/>", 1, "version 2 or 3"},
      {"<topology version=\"2.0\">\n<object/>\n</topology>", 2, "attribute type"},
      {"<topology version=\"2.0\">\n<object type=\"PCIDev\"/>\n</topology>", 2, "host bridge"},
      {"<topology version=\"2.0\">\n<object type=\"NUMANode\"/>\n</topology>", 2, "os_index"},
      {"<topology version=\"2.0\">\n<object type=\"Bridge\" bridge_type=\"0-1\"/>\n</topology>", 2,
       "bridge_pci"},
      {in_host_bridge("<object type=\"PCIDev\"/>"), 3, "attribute pci_busid"},
      {in_host_bridge("<object type=\"PCIDev\" pci_busid=\"0000:01:00.0\"/>"), 3, "pci_type"},
      {in_host_bridge("<object type=\"PCIDev\" pci_busid=\"0000:01:00.0\" pci_type=\"0302\"/>"), 3,
       "pci_type"},
      {"<topology version=\"2.0\">\n<distances2hetero name=\"NVLinkBandwidth\"><indexes>OSDev:1 "
       "OSDev:2</indexes><u64values>0 1 1</u64values></distances2hetero>\n</topology>",
       2, "square matrix"},
  };
}

TEST(MachineFile, IsRefusedWithItsLineAndWhatWasExpected) {
  for (const auto& malformed : malformed_files()) {
    try {
      (void)parse_topology("box.xml", malformed.text);
      ADD_FAILURE() << "accepted: " << malformed.text.substr(0, 200);
    } catch (const Error& error) {
      EXPECT_EQ(error.file(), "box.xml") << malformed.text.substr(0, 200);
      EXPECT_EQ(error.line(), malformed.line) << error.what();
      EXPECT_NE(std::string(error.what()).find(malformed.expectation), std::string::npos)
          << error.what() << "\nexpected: " << malformed.expectation;
    }
  }
}

TEST(MachineFile, OfTwoHostsHasTheNetworkBetweenThem) {
  const auto cpu = [](const std::string& host) {
    return "<cpu host_hash=\"" + host + "\" numaid=\"0\">" + gpu_pci +
           "<gpu dev=\"0\"/></pci></cpu>";
  };

  const auto two = parse_topology("two.xml", "<system>" + cpu("0x1") + cpu("0x2") + "</system>");

  ASSERT_EQ(two.gpus.size(), 2U);
  EXPECT_EQ(two.path(0, 1), PathType::net);
  EXPECT_EQ(count_hosts(two), 2);
}

TEST(MachineFile, WithMoreGpusThanAnyMachineHasIsRefusedAtOnce) {
  std::string gpus;
  for (int i = 0; i < 60000; ++i) {
    char line[96];
    std::snprintf(line, sizeof line, "<pci busid=\"%x:%02x:%02x.0\"><gpu dev=\"%d\"/></pci>\n",
                  static_cast<unsigned>(i / 8192), static_cast<unsigned>(i / 32 % 256),
                  static_cast<unsigned>(i % 32), i);
    gpus += line;
  }
  try {
    (void)parse_topology("many.xml", in_cpu(gpus));
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.line(), 3 + 1024);
    EXPECT_NE(std::string(error.what()).find("at most 1024 GPUs"), std::string::npos);
  }
}

TEST(MachineFile, SaysWhereItsFormatHidesHostBridges) {
  const auto one = in_cpu(gpu_pci + "</pci>");
  const auto two = in_cpu(gpu_pci + "</pci><pci busid=\"0000:21:00.0\"><gpu dev=\"1\"/></pci>");

  EXPECT_TRUE(parse_topology("one.xml", one).notes.empty());
  ASSERT_EQ(parse_topology("two.xml", two).notes.size(), 1U);
  EXPECT_NE(parse_topology("two.xml", two).notes[0].find("may be NODE"), std::string::npos);
}

TEST(MachineFile, NeverCrashesWhereverItIsCut) {
  for (const char* name : {"two_sockets_mixed.xml", "switch_hwloc.xml"}) {
    const auto text = read(name);
    ASSERT_GT(text.size(), 1000U);
    for (std::size_t length = 0; length + 12 < text.size(); ++length)
      EXPECT_THROW((void)parse_topology("cut.xml", text.substr(0, length)), Error) << length;
  }
}

TEST(MachineFile, SurvivesAnyChangedByte) {
  for (const char* name : {"two_sockets_mixed.xml", "switch_hwloc.xml"}) {
    const auto text = read(name);
    for (std::size_t place = 0; place < text.size(); ++place) {
      for (const char letter : {'\0', '<', '"', '9', '\xff'}) {
        auto changed = text;
        changed[place] = letter;
        try {
          const auto topology = parse_topology("changed.xml", changed);
          EXPECT_EQ(fingerprint(topology).size(), 16U);
        } catch (const Error&) {
          // Most changes are refused; that is the other right answer.
        }
      }
    }
  }
}

TEST(MachineFile, TakesMissingAttributesAsUnknown) {
  const auto topology = parse_topology(
      "box.xml", "<system><cpu><pci busid=\"0000:01:00.0\"><gpu dev=\"0\"/></pci></cpu></system>");

  ASSERT_EQ(topology.gpus.size(), 1U);
  EXPECT_FALSE(topology.gpus[0].link.is_known());
  EXPECT_EQ(topology.gpus[0].compute_capability, 0);
  EXPECT_EQ(topology.gpus[0].model, "");
  EXPECT_EQ(topology.cpu_vendor, "");
}

TEST(MachineFile, TakesCommentsByteOrderMarksAndCarriageReturns) {
  auto text = read("flat_guest.xml");
  const auto expected = parse_topology("box.xml", text);
  std::string with_returns = "\xEF\xBB\xBF";
  for (const char letter : text) with_returns += letter == '\n' ? "\r\n" : std::string(1, letter);

  EXPECT_EQ(parse_topology("box.xml", with_returns), expected);
}

TEST(MachineFile, DoesNotBelieveANegativeNodeWhereThereAreTwo) {
  const auto topology =
      parse_topology("box.xml", "<system><cpu numaid=\"-1\">" + gpu_pci +
                                    "<gpu dev=\"0\"/></pci></cpu><cpu numaid=\"1\"/></system>");

  EXPECT_FALSE(topology.roots.at(0).numa.has_value());
}

TEST(MachineFile, KeysNodesByTheSystemsNumber) {
  std::string text = "<system>";
  int bus = 1;
  for (const char* numa : {"3", "2", "0", "7"})
    text += std::string("<cpu numaid=\"") + numa + "\"><pci busid=\"0000:0" +
            std::to_string(bus++) + ":00.0\" class=\"0x030200\" vendor=\"0x10de\"/></cpu>";
  const auto topology = parse_topology("box.xml", text + "</system>");

  ASSERT_EQ(topology.gpus.size(), 4U);
  EXPECT_EQ(topology.gpus[0].numa, 3);
  EXPECT_EQ(topology.gpus[3].numa, 7);
  ASSERT_EQ(topology.numa_nodes.size(), 4U);
  EXPECT_EQ(topology.numa_nodes.front().number, 0);
  EXPECT_EQ(topology.numa_nodes.back().number, 7);
}

TEST(MachineFile, ReadsEveryLinkSpeedThatSysfsWrites) {
  struct Speed {
    std::string text;
    int generation;
  };
  for (const auto& speed :
       {Speed{"2.5 GT/s PCIe", 1}, Speed{"5.0 GT/s PCIe", 2}, Speed{"8.0 GT/s PCIe", 3},
        Speed{"8 GT/s", 3}, Speed{"16 GT/s", 4}, Speed{"32.0 GT/s PCIe", 5},
        Speed{"64.0 GT/s PCIe", 6}, Speed{"", 0}, Speed{"Unknown speed", 0}, Speed{"12 GT/s", 0}}) {
    const auto topology = parse_topology(
        "box.xml", in_cpu("<pci busid=\"0000:01:00.0\" class=\"0x030200\" link_width=\"16\" "
                          "link_speed=\"" +
                          speed.text + "\"/>"));
    EXPECT_EQ(topology.gpus.at(0).link.generation, speed.generation) << speed.text;
  }
}

TEST(MachineFile, HasNoLinksInHwlocsXmlBecauseTheyAreOfTheMoment) {
  const auto topology = host::read_topology(machines + "switch_hwloc.xml");

  EXPECT_FALSE(topology.gpus.at(0).link.is_known());
  EXPECT_EQ(topology.gpus[0].numa, 0);
  EXPECT_EQ(topology.gpus[2].numa, 1);
  EXPECT_EQ(topology.roots.at(1).socket, 1);
}

TEST(MachineFile, ReadsNvlinkFromHwlocsDistances) {
  auto text = read("switch_hwloc.xml");
  const std::string end = "</topology>";
  text.insert(text.rfind(end),
              "<distances2hetero nbobjs=\"3\" kind=\"25\" name=\"NVLinkBandwidth\">"
              "<indexes length=\"1\">OSDev:20 </indexes><indexes length=\"1\">OSDev:21 PCIDev:32 "
              "</indexes><u64values length=\"1\">1000000 25000 0 25000 </u64values>"
              "<u64values length=\"1\">1000000 0 0 0 1000000 </u64values></distances2hetero>");

  const auto topology = parse_topology("box.xml", text);

  EXPECT_EQ(topology.gpus.at(0).nvlinks, 1);
  EXPECT_EQ(topology.gpus[1].nvlinks, 1);
  EXPECT_EQ(topology.gpus[2].nvlinks, 0);
}

TEST(MachineFile, SaysThatAnAmdMachineHasNoNvidiaGpu) {
  const auto topology = host::read_topology(machines + "no_nvidia.xml");

  EXPECT_TRUE(topology.gpus.empty());
  EXPECT_EQ(topology.notes, (std::vector<std::string>{"no NVIDIA GPU"}));
}

TEST(MachineFile, RefusesWhatIsNoFile) {
  for (const char* path : {"/dev/null", "/nowhere/at/all.xml", "/"})
    EXPECT_THROW((void)host::read_topology(std::filesystem::path(path)), Error) << path;
}

TEST(BundledMachine, HasEightGpusOnTwoSockets) {
  const auto topology = host::bundled_topology();

  ASSERT_EQ(topology.gpus.size(), 8U);
  EXPECT_EQ(topology.path(0, 3), PathType::phb);
  EXPECT_EQ(topology.path(0, 4), PathType::sys);
  EXPECT_EQ(can_have_nvlink(topology), NvlinkAbility::no);
  EXPECT_EQ(topology.gpus[0].compute_capability, 120);
}

}  // namespace
}  // namespace lanewise
