// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// Writes a profile with one environment, which is the best, for tests of programs:
// make_profile OUT.json MACHINE NCCL RANKS NAME=VALUE...; measured at 1.9x and 48 MiB. MACHINE is a
// file, or - for this machine.
#include <cstdio>
#include <exception>
#include <string>

#include "core/machine/topology.hpp"
#include "host/machine/topology_source.hpp"
#include "host/profile/profile_file.hpp"

namespace {

lanewise::Profile make_profile(int count, char** words) {
  lanewise::Profile profile;
  const std::string machine = words[2];
  const auto topology =
      machine == "-" ? lanewise::host::read_topology() : lanewise::host::read_topology(machine);
  profile.fingerprint = lanewise::fingerprint(topology);
  profile.machine = topology.source;
  profile.nccl = lanewise::parse_nccl_release(words[3]).value();
  profile.created = "2026-11-29T18:00:00Z";
  lanewise::TunedEnvironment best{.variables = {},
                                  .speedup = 1.9,
                                  .memory_bytes = 48 << 20,
                                  .groups = {{.ranks = std::stoi(words[4]), .gpus = {}}}};
  const lanewise::Choice choice{lanewise::Algorithm::ring, lanewise::Protocol::ll, 2};
  best.groups[0].rules =
      lanewise::RuleSet({{{14336, 14336}, choice, 48.0, 24.0, 2.0, 1.9, 2.1, 40}});
  for (int i = 5; i < count; ++i) {
    const std::string word = words[i];
    const auto equals = word.find('=');
    best.variables.emplace(word.substr(0, equals), word.substr(equals + 1));
  }
  profile.environments = {best};
  profile.best_environment = 0;
  return profile;
}

}  // namespace

int main(int count, char** words) {
  if (count < 5) return 2;
  try {
    lanewise::host::write_profile(words[1], make_profile(count, words));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
