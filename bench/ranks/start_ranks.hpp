// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A group of ranks with their communicators and buffers, ready to be asked.
#include <memory>

#include "gpu/data_type.hpp"
#include "machine.hpp"

namespace lanewise::bench {

inline constexpr const char* plugin_variable = "NCCL_TUNER_PLUGIN";

// A payload for which NCCL uses every channel it has: 64 channels of 512 threads, each with the 64
// bytes that NCCL wants for it, eight times over. The buffers of every group hold it.
inline constexpr std::size_t survey_bytes = std::size_t{16} << 20U;

struct RankGroupNeeds {
  std::string label;
  Environment variables;
  DataType type = DataType::bf16;
  std::size_t max_bytes = 0;  // of a payload
};
[[nodiscard]] std::unique_ptr<RankGroup> open_rank_group(const Machine& machine,
                                                         const RankOptions& options,
                                                         const RankGroupNeeds& needs);

}  // namespace lanewise::bench
