// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "choice_survey.hpp"

#include <algorithm>

#include "candidate.hpp"
#include "host/nccl/nccl_environment.hpp"
#include "ranks/start_ranks.hpp"

namespace lanewise::bench {
namespace {

// Twice the 16 that NCCL's search finds at most on PCIe: too many are only measured twice over.
constexpr int channels_where_unknown = 32;

std::vector<Verification> probe(RankGroup& rank_group, std::size_t bytes,
                                const std::vector<Choice>& choices) {
  Batch batch{bytes, 1, CallMode::graph, 1, 0, {}, {}};
  for (const Choice& choice : choices) {
    batch.candidates.push_back({.id = static_cast<int>(batch.candidates.size()),
                                .name = to_string(choice),
                                .forced = choice});
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

std::optional<int> count_channels(RankGroup& rank_group, const Machine& machine) {
  const Choice most{Algorithm::ring, Protocol::simple, machine.nccl.max_channels()};
  const auto shape = probe(rank_group, survey_bytes, {most}).front().shape;
  if (!shape) return std::nullopt;
  return std::clamp(shape->channels, 1, machine.nccl.max_channels());
}

}  // namespace

ChoiceSurvey survey_choices(RankGroup& rank_group, const Machine& machine, std::size_t max_bytes) {
  ChoiceSurvey survey;
  const auto entries = all_entries();
  const auto answers = probe(rank_group, max_bytes, entries);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& answer = answers.at(i).answer;
    if (answer && answer->is_applied) survey.entries.push_back(entries[i]);
  }
  // Not this process's: the ranks may have been given others.
  const auto environment = rank_group.environment();
  survey.link = link_of_entries(survey.entries, environment);
  survey.channels_that_fit = machine.channels_that_fit();
  const auto channels = count_channels(rank_group, machine);
  survey.has_counted_channels = channels.has_value();
  survey.communicator = {machine.ranks, channels.value_or(channels_where_unknown), machine.nccl,
                         host::parse_nccl_limits(environment),
                         sharing_of(machine.ranks, machine.gpus)};
  return survey;
}

std::vector<Choice> candidates_at(std::size_t bytes, const ChoiceSurvey& survey, Ll128Use ll128) {
  std::vector<Choice> entries;
  std::copy_if(survey.entries.begin(), survey.entries.end(), std::back_inserter(entries),
               [ll128](const Choice& entry) {
                 return ll128 == Ll128Use::where_priced || entry.protocol != Protocol::ll128;
               });
  auto candidates = enumerate_candidates(entries, bytes, survey.communicator);
  std::erase_if(candidates, [&](const Choice& choice) {
    return survey.channels_that_fit && choice.channels > *survey.channels_that_fit;
  });
  return candidates;
}

}  // namespace lanewise::bench
