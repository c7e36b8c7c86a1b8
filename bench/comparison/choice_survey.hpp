// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Which choices a rank_group's communicator has at all, asked of NCCL itself through the plugin.
#include <cstddef>
#include <optional>
#include <vector>

#include "core/model/waves.hpp"
#include "core/nccl/link_evidence.hpp"
#include "ranks/machine.hpp"
#include "ranks/rank_group.hpp"
#include "search/candidates.hpp"

namespace lanewise::bench {

struct ChoiceSurvey {
  std::vector<Choice> entries;  // algorithm and protocol that NCCL prices; channels are NCCL's
  Communicator communicator;
  bool has_counted_channels = false;
  LinkKind link = LinkKind::pcie;
  std::optional<int> channels_that_fit;  // of Machine
};

// Captures each entry once, and one call with as many channels as there can be. The channels are
// counted where the driver tells of the launch, else taken as the most a search finds by itself.
[[nodiscard]] ChoiceSurvey survey_choices(RankGroup& rank_group, const Machine& machine,
                                          std::size_t max_bytes);

// What is worth measuring at a size. LL128 only where `ll128` allows it.
[[nodiscard]] std::vector<Choice> candidates_at(std::size_t bytes, const ChoiceSurvey& survey,
                                                Ll128Use ll128);

}  // namespace lanewise::bench
