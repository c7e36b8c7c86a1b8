// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/machine/graph_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>

#include "core/error.hpp"
#include "core/machine/ring_order.hpp"
#include "host/machine/topology_source.hpp"
#include "nccl_graph_reader.hpp"
#include "support/test_files.hpp"

namespace lanewise {
namespace {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (auto place = text.find(from); place != std::string::npos; place = text.find(from, place))
    text.replace(place, from.size(), to);
  return text;
}

std::string refusal_of(const Topology& topology) {
  try {
    static_cast<void>(plan_ring_graph(topology));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Times the ring enters the GPUs below this bridge.
int count_entries(const Topology& topology, const std::vector<std::size_t>& order,
                  std::size_t bridge) {
  const auto is_below = [&](std::size_t position) {
    auto above = topology.gpus[position].bridge;
    while (above && *above != bridge) above = topology.bridges[*above].parent;
    return above.has_value();
  };
  int entries = 0;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (!is_below(order[i]) && is_below(order[(i + 1) % order.size()])) ++entries;
  return entries;
}

void expect_good_file(const Topology& topology, double speed) {
  const auto graphs = test::read_nccl_graphs(format_graph_file(plan_ring_graph(topology)));

  ASSERT_EQ(graphs.size(), 2U);
  EXPECT_EQ(graphs[0].id, 0);
  EXPECT_EQ(graphs[0].pattern, 4);
  EXPECT_EQ(graphs[1].id, 1);
  EXPECT_EQ(graphs[1].pattern, 1);
  std::vector<int> all(topology.gpus.size());
  std::iota(all.begin(), all.end(), 0);
  for (const auto& graph : graphs) {
    EXPECT_EQ(graph.channels, 2);
    EXPECT_EQ(graph.same_channels, 1);
    EXPECT_EQ(graph.type_intra, "SYS");
    EXPECT_NEAR(graph.speed_intra, speed, 0.1);
    for (auto order : graph.orders) {
      EXPECT_EQ(order, graph.orders.front());
      std::sort(order.begin(), order.end());
      EXPECT_EQ(order, all);
    }
  }
}

void expect_one_entry_a_switch(const Topology& topology, std::size_t switches) {
  ASSERT_EQ(topology.bridges.size(), switches);
  const auto order = ring_order(topology);
  for (std::size_t bridge = 0; bridge < switches; ++bridge)
    EXPECT_EQ(count_entries(topology, order, bridge), 1) << bridge;
}

// Cards of one model on both sockets, numbered so that the PCI order alternates between the two.
Topology make_interleaved() {
  Topology topology;
  topology.cpu_vendor = "AuthenticAMD";
  topology.roots = {{0, 0x10, 0, 0}, {0, 0x20, 1, 1}};
  for (std::uint8_t i = 0; i < 4; ++i) {
    Gpu gpu;
    gpu.address = {0, static_cast<std::uint8_t>(0x11 + i), 0, 0};
    gpu.device = 0x2bb5;
    gpu.compute_capability = 120;
    gpu.link = gpu.narrowest = {5, 16};
    gpu.root = i % 2;
    gpu.numa = i % 2;
    topology.gpus.push_back(gpu);
  }
  return topology;
}

std::filesystem::path machine(const std::string& name) {
  return testing::test_file("data/machines/" + name + ".xml");
}

TEST(RingOrder, CrossesTheSocketsOnceEachWay) {
  EXPECT_EQ(ring_order(make_interleaved()), (std::vector<std::size_t>{0, 2, 1, 3}));
}

TEST(RingOrder, IsEmptyWithoutGpus) { EXPECT_TRUE(ring_order({}).empty()); }

TEST(GraphFile, NumbersDevicesByPciAddress) {
  EXPECT_EQ(plan_ring_graph(make_interleaved()).devices, (std::vector<int>{0, 2, 1, 3}));
}

TEST(GraphFile, TakesTheNumbersOfTheSource) {
  auto topology = make_interleaved();
  for (std::size_t i = 0; i < 4; ++i) topology.gpus[i].number = static_cast<int>(4 + i);

  EXPECT_EQ(plan_ring_graph(topology).devices, (std::vector<int>{4, 6, 5, 7}));
}

TEST(GraphFile, RefusesGpusOfOneNumber) {
  auto topology = make_interleaved();
  for (auto& gpu : topology.gpus) gpu.number = 0;

  EXPECT_NE(refusal_of(topology).find("same number"), std::string::npos);
}

TEST(GraphFile, WritesDevicesAsHexadecimal) {
  const RingGraph graph{{9, 10, 16}, 1, 20.0, PathType::phb};

  const auto graphs = test::read_nccl_graphs(format_graph_file(graph));

  EXPECT_EQ(graphs.at(0).orders.at(0), (std::vector<int>{9, 10, 16}));
  EXPECT_EQ(graphs.at(0).type_intra, "PHB");
}

TEST(GraphFile, RefusesOneGpu) {
  auto topology = make_interleaved();
  topology.gpus.resize(1);

  EXPECT_NE(refusal_of(topology).find("fewer than two"), std::string::npos);
}

TEST(GraphFile, RefusesNvlink) {
  auto topology = make_interleaved();
  topology.gpus[0].nvlinks = 4;

  EXPECT_NE(refusal_of(topology).find("NVLink"), std::string::npos);
}

TEST(GraphFile, RefusesAGuest) {
  auto topology = make_interleaved();
  topology.is_guest = true;

  EXPECT_NE(refusal_of(topology).find("guest"), std::string::npos);
}

TEST(GraphFile, RefusesGpusOfSeveralModels) {
  auto topology = make_interleaved();
  topology.gpus[0].device = 0x2684;

  EXPECT_NE(refusal_of(topology).find("several models"), std::string::npos);
}

TEST(GraphFile, RefusesWhereTheSearchWorksAndSaysWhatItFinds) {
  auto topology = make_interleaved();
  for (auto& gpu : topology.gpus) gpu.compute_capability = 89;

  EXPECT_EQ(refusal_of(topology),
            "NCCL's own search finds 1 channel of 15 GB/s here, by our estimate: a graph file "
            "would not help");
}

TEST(GraphFileOfAMachine, TwoTurinSocketsGetARing) {
  expect_good_file(host::read_topology(machine("turin2s_8gpu_direct")), 19.5);
}

TEST(GraphFileOfAMachine, TwoSocketsWithASwitchEachGetARing) {
  const auto topology = host::read_topology(machine("turin2s_8gpu_2switch"));

  expect_good_file(topology, 19.5);
  expect_one_entry_a_switch(topology, 2);
}

// The four switches of an Intel machine under AMD processors, as ASUS builds it.
TEST(GraphFileOfAMachine, TwoSocketsWithTwoSwitchesEachGetARing) {
  const auto text =
      replace_all(read_text(machine("spr2s_8gpu_4switch")), "GenuineIntel", "AuthenticAMD");
  const auto topology = host::parse_topology("four switches", text);

  expect_good_file(topology, 19.5);
  expect_one_entry_a_switch(topology, 4);
}

TEST(GraphFileOfAMachine, OtherMachinesAreRefusedWithTheReason) {
  for (const char* name :
       {"amd1s_2gpu_direct", "amd1s_4gpu_direct", "amd1s_8gpu_1switch", "amd1s_8gpu_2switch",
        "intel1s_2gpu_x8", "rome2s_8x4090_direct", "spr2s_8gpu_4switch", "spr2s_8gpu_direct"}) {
    EXPECT_NE(refusal_of(host::read_topology(machine(name))).find("would not help"),
              std::string::npos)
        << name;
  }
  EXPECT_NE(refusal_of(host::read_topology(machine("vm_flat_8gpu"))).find("guest"),
            std::string::npos);
}

// As files that others use are written: several graphs, spaces and attributes of NCCL's own dump.
TEST(NcclGraphReader, TakesAGraphAsNcclDumpsIt) {
  const std::string channels =
      "<channel><gpu dev=\"0\"/><gpu dev=\"1\"/><gpu dev=\"3\"/><gpu dev=\"2\"/></channel>";
  const std::string graph =
      R"(pattern="4" crossnic="0" nchannels="1" speedintra="12" speedinter="12" latencyinter="0" )"
      R"(typeintra="SYS" typeinter="PIX" samechannels="1">)";

  const auto graphs = test::read_nccl_graphs("<graphs version=\"1\">\n  <graph id=\"0\" " + graph +
                                             "\n    " + channels + "\n  </graph>\n</graphs>\n");

  EXPECT_EQ(graphs.at(0).orders.at(0), (std::vector<int>{0, 1, 3, 2}));
}

TEST(NcclGraphReader, RefusesWhatNcclWouldStumbleOver) {
  const auto good = format_graph_file({{0, 1}, 2, 20.0, PathType::phb});
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"version=\"1\"", "version=\"2\""},
        {"nchannels=\"2\"", "nchannels=\"3\""},
        {"PHB", "NODE"},
        {" pattern", "\tpattern"},
        {" speedintra=\"20.0\"", ""},
        {"dev=\"0x1\"", "dev=\"one\""},
        {"</graphs>", ""}})
    EXPECT_THROW(static_cast<void>(test::read_nccl_graphs(replace_all(good, from, to))),
                 std::runtime_error)
        << from;
}

}  // namespace
}  // namespace lanewise
