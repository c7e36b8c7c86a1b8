// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>
#include <span>

#include "core/machine/topology_facts.hpp"
#include "core/nccl/cost_model.hpp"

namespace lanewise {
namespace {

// GB/s that NCCL's search tries for a channel, fastest first, by compute capability (2.30.7).
constexpr std::array speeds_before_90 = {40.0, 30.0, 20.0, 18.0, 15.0, 12.0, 10.0,
                                         9.0,  7.0,  6.0,  5.0,  4.0,  3.0};
constexpr std::array speeds_90 = {60.0, 50.0, 40.0, 30.0, 24.0, 20.0, 15.0, 12.0, 11.0, 6.0, 3.0};
constexpr std::array speeds_100 = {90.0, 80.0, 70.0, 60.0, 50.0, 45.0,
                                   40.0, 30.0, 24.0, 20.0, 19.0, 18.0};

// What changed from release to release, as real libraries planned on four machines
// (tests/data/nccl_choices.csv): before 2.25.1 a Blackwell GPU is searched as a Hopper one;
// from 2.26 on the newer Intel sockets count for more, from 2.31 on AMD's (2 channels of 15 GB/s
// are found there and not one of 40).
constexpr NcclRelease first_with_blackwell = {2, 25, 0};
constexpr NcclRelease first_with_newer_intel = {2, 26, 0};
constexpr NcclRelease first_with_faster_amd = {2, 31, 0};
constexpr NcclRelease last_without_faster_amd = {2, 30, 7};

std::span<const double> speeds_of(int compute_capability, const NcclRelease& release) noexcept {
  if (compute_capability >= 100 && release >= first_with_blackwell) return speeds_100;
  if (compute_capability >= 90) return speeds_90;
  return speeds_before_90;
}

constexpr SearchedGraph nothing_found = {1, 0.1};
// Channels this fast are cut in two, and a lower speed than this share of one found is not tried.
constexpr double least_to_cut = 25.0;
constexpr double least_share = 0.49;
// What Intel's root ports cost a GPU that reaches another one through them.
constexpr double intel_overhead = 6.0 / 5.0;

// NCCL's bandwidth of a PCI link: units of 100 Mbit/s a lane by generation.
double link_bandwidth(const PciLink& link) noexcept {
  constexpr std::array units = {15, 30, 60, 120, 240, 480};
  constexpr PciLink assumed = {5, 16};
  const PciLink& known = link.is_known() ? link : assumed;
  const auto generation = static_cast<std::size_t>(known.generation - 1);
  return known.width * units[std::min(generation, units.size() - 1)] / 80.0;
}

// Between sockets, GB/s.
double socket_bandwidth(const Topology& topology, const NcclRelease& release) noexcept {
  if (topology.cpu_vendor == "AuthenticAMD") return release >= first_with_faster_amd ? 32.0 : 16.0;
  constexpr int emerald_rapids = 207;
  constexpr int sapphire_rapids = 143;
  constexpr int skylake = 85;
  const bool is_known = release >= first_with_newer_intel;
  if (is_known && topology.cpu_model >= emerald_rapids) return 40.0;
  if (is_known && topology.cpu_model >= sapphire_rapids) return 22.0;
  return topology.cpu_model >= skylake ? 10.0 : 6.0;
}

bool crosses_sockets(const Topology& topology) {
  std::set<int> nodes;
  for (const auto& gpu : topology.gpus)
    if (gpu.numa) nodes.insert(*gpu.numa);
  const auto& stated = topology.stated_paths;
  return nodes.size() > 1 || std::find(stated.begin(), stated.end(), PathType::sys) != stated.end();
}

// The part of the most crowded uplink that a GPU gets where all of them use it.
double uplink_share(const Topology& topology) {
  double share = INFINITY;
  for (const auto& uplink : shared_uplinks(topology))
    share = std::min(share, link_bandwidth(topology.bridges[uplink.bridge].link) /
                                static_cast<double>(uplink.gpus.size()));
  return share;
}

double narrowest_link(const Topology& topology, PeerAccess access) {
  double narrowest = topology.gpus.empty() ? link_bandwidth({}) : INFINITY;
  for (const auto& gpu : topology.gpus)
    narrowest =
        std::min(narrowest, link_bandwidth(gpu.narrowest.is_known() ? gpu.narrowest : gpu.link));
  if (access == PeerAccess::none) narrowest = std::min(narrowest, uplink_share(topology));
  return topology.cpu_vendor == "GenuineIntel" ? narrowest / intel_overhead : narrowest;
}

SearchedGraph found_at(double available, std::span<const double> speeds) {
  SearchedGraph found = {0, 0};
  for (const double speed : speeds) {
    if (found.channels > 0 && speed < least_share * found.channel_bandwidth) break;
    const int channels = static_cast<int>(available / speed);
    if (channels * speed > found.channels * found.channel_bandwidth) found = {channels, speed};
  }
  if (found.channels == 0) return nothing_found;
  if (found.channel_bandwidth >= least_to_cut)
    found = {2 * found.channels, found.channel_bandwidth / 2};
  for (const double speed : speeds)
    if (speed > found.channel_bandwidth && speed * found.channels <= available)
      return {found.channels, speed};
  return found;
}

}  // namespace

std::string to_string(const SearchedGraph& graph) {
  if (graph == nothing_found) return "no ring";
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%d channel%s of %.4g GB/s", graph.channels,
                graph.channels == 1 ? "" : "s", graph.channel_bandwidth);
  return text.data();
}

SearchedGraph estimate_search(const Topology& topology, int compute_capability) {
  return estimate_search(topology, compute_capability,
                         has_peer_access(topology) ? PeerAccess::given : PeerAccess::none,
                         last_without_faster_amd);
}

SearchedGraph estimate_search(const Topology& topology, int compute_capability, PeerAccess access,
                              const NcclRelease& release) {
  double available = narrowest_link(topology, access);
  const bool crosses = crosses_sockets(topology);
  if (crosses) available = std::min(available, socket_bandwidth(topology, release));
  auto found = found_at(available, speeds_of(compute_capability, release));
  // The tree across these sockets is not found, and NCCL goes on with the fewer channels of the
  // two.
  if (crosses && topology.cpu_vendor == "AuthenticAMD" && compute_capability >= 100 &&
      release >= first_with_faster_amd)
    found.channels = 1;
  return found;
}

}  // namespace lanewise
