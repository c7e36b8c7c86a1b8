// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "choice_survey.hpp"

#include <algorithm>

#include "candidate.hpp"
#include "host/nccl/nccl_environment.hpp"
#include "host/process/settings.hpp"

namespace lanewise::bench {
namespace {

// Twice the 16 that NCCL's search finds at most on PCIe: too many are only measured twice over.
constexpr int channels_where_unknown = 32;

std::vector<Verification> probe(RankGroup& rank_group, std::size_t bytes,
                                const std::vector<Choice>& choices) {
  Batch batch{bytes, 1, CallMode::graph, 1, 0, {}, {}};
  for (const Choice& choice : choices) {
    batch.candidates.push_back({static_cast<int>(batch.candidates.size()), to_string(choice),
                                ControlMode::settings, choice, false});
  }
  return rank_group.call("probe", batch).get<std::vector<Verification>>();
}

std::vector<Choice> all_entries() {
  std::vector<Choice> entries;
  for (std::size_t algorithm = 0; algorithm < algorithm_count; ++algorithm) {
    for (std::size_t protocol = 0; protocol < protocol_count; ++protocol) {
      entries.push_back({static_cast<Algorithm>(algorithm), static_cast<Protocol>(protocol), 0});
    }
  }
  return entries;
}

int count_channels(RankGroup& rank_group, const Machine& machine) {
  const Choice most{Algorithm::ring, Protocol::simple, machine.nccl.max_channels()};
  const auto shape = probe(rank_group, survey_bytes, {most}).front().shape;
  return shape ? std::clamp(shape->channels, 1, machine.nccl.max_channels())
               : channels_where_unknown;
}

// As in link_evidence(): NCCL prices LL128 over PCIe only where the user asks for it.
LinkKind find_link(const std::vector<Choice>& priced) {
  const auto own = host::read_process_environment();
  const bool is_by_user = own.contains("NCCL_PROTO") || own.contains("NCCL_ALGO");
  const bool has_ll128 = std::any_of(priced.begin(), priced.end(), [](const Choice& entry) {
    return entry.protocol == Protocol::ll128;
  });
  return has_ll128 && !is_by_user ? LinkKind::nvlink : LinkKind::pcie;
}

// As its ranks see it: this process's variables under the group's.
NcclLimits limits_of(const RankGroup& rank_group) {
  Environment all = host::read_process_environment();
  for (const auto& [name, value] : rank_group.plan().variables) all[name] = value;
  return host::parse_nccl_limits(all);
}

}  // namespace

ChoiceSurvey survey_choices(RankGroup& rank_group, const Machine& machine, std::size_t max_bytes) {
  ChoiceSurvey survey;
  const auto entries = all_entries();
  const auto answers = probe(rank_group, max_bytes, entries);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!answers.at(i).is_unavailable) survey.entries.push_back(entries[i]);
  }
  survey.link = find_link(survey.entries);
  survey.communicator = {machine.ranks, count_channels(rank_group, machine), machine.nccl,
                         limits_of(rank_group), sharing_of(machine.ranks, machine.gpus)};
  return survey;
}

std::vector<Choice> candidates_at(std::size_t bytes, const ChoiceSurvey& survey, Ll128Use ll128) {
  std::vector<Choice> entries;
  std::copy_if(survey.entries.begin(), survey.entries.end(), std::back_inserter(entries),
               [ll128](const Choice& entry) {
                 return ll128 == Ll128Use::where_priced || entry.protocol != Protocol::ll128;
               });
  return enumerate_candidates(entries, bytes, survey.communicator);
}

}  // namespace lanewise::bench
