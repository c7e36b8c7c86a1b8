// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A measured profile of one machine: its identity and, for each environment, rules per GPU group.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/latency.hpp"
#include "core/nccl/link_evidence.hpp"
#include "core/nccl/nccl_release.hpp"
#include "core/profile/direct_range.hpp"
#include "core/profile/rules.hpp"

namespace lanewise {

// NCCL variables a process starts with; an empty map is stock's environment.
// Looking a name up allocates nothing: that is done where nothing may fail.
using Environment = std::map<std::string, std::string, std::less<>>;

// Ranks of one communicator. `gpus` are positions in the topology's order (PCI order), sorted;
// a GPU stands as often as it carries ranks. Empty: any GPUs of this machine.
struct GpuGroup {
  int ranks = 0;
  std::vector<int> gpus;
  bool is_ll128_verified = false;  // a soak on these GPUs found no wrong sum
  RuleSet rules;
  // What the ranks' GPUs talked over when the rules were measured: the tree of PCI bridges, and so
  // the fingerprint, does not show an NVLink bridge. In the file: "link", "pcie" where absent.
  LinkKind link = LinkKind::pcie;
  std::vector<DirectRange> direct;  // in order of size, never overlapping
  std::vector<UnsafeChoice> unsafe;
  std::optional<MachineFit> fit;  // in the file: "model"
  friend bool operator==(const GpuGroup&, const GpuGroup&) = default;
};

// A setting that hung, failed or gave a wrong sum: recorded with its evidence, never applied.
struct UnsafeSetting {
  Environment variables;
  std::string evidence;
  friend bool operator==(const UnsafeSetting&, const UnsafeSetting&) = default;
};

// `speedup`: geometric mean over stock with stock's environment; `memory_bytes`: device memory a
// rank needs beyond stock's.
struct TunedEnvironment {
  Environment variables;
  double speedup = 1.0;
  long long memory_bytes = 0;
  std::vector<GpuGroup> groups;
  friend bool operator==(const TunedEnvironment&, const TunedEnvironment&) = default;
};

struct Profile {
  static constexpr int schema_version = 1;

  std::string fingerprint;  // of the topology, see topology.hpp
  std::string machine;      // for people: "8x NVIDIA RTX PRO 6000 on 2 sockets"
  std::string driver;       // empty: not recorded
  NcclRelease nccl;
  std::string created;  // ISO 8601, UTC
  std::vector<TunedEnvironment> environments;
  std::optional<std::size_t> best_environment;  // index into environments
  std::vector<UnsafeSetting> unsafe;
  friend bool operator==(const Profile&, const Profile&) = default;
};

// What a communicator knows of itself when it looks for rules.
struct ProfileKey {
  std::string fingerprint;
  NcclRelease nccl;
  Environment environment;
  int ranks = 0;
  std::vector<int> gpus;  // sorted positions; empty where the ranks' GPUs are not known
};

// `profile`: nothing of it fits; `group`: only its ranks or GPUs are others.
enum class Refusal : std::uint8_t { none, profile, group };

struct ProfileMatch {
  const GpuGroup* group = nullptr;  // nullptr: refused
  std::string refusal;              // one line that says what differs
  Refusal kind = Refusal::none;
  // Rules hold that ask for no more channels than these, see compare_environments.
  std::optional<int> most_channels;
};

// `difference`: between `nearest`, the environment with the fewest keyed variables set otherwise
// (environment_key.hpp), and `here`; empty: `nearest` is in force. Nullptr: the profile has none.
struct EnvironmentMatch {
  const TunedEnvironment* nearest = nullptr;
  std::string difference;
  std::optional<int> most_channels;
};
[[nodiscard]] EnvironmentMatch match_environment(const Profile& profile, const Environment& here);

// The group measured for exactly this key, or the one reason why there is none.
[[nodiscard]] ProfileMatch match(const Profile& profile, const ProfileKey& key);

// The rules of a match's group that hold; none where it was refused.
[[nodiscard]] RuleSet usable_rules(const ProfileMatch& match);

}  // namespace lanewise
