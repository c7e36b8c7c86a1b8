// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Which files an NCCL release tries for a value of NCCL_TUNER_PLUGIN, and which symbols it takes
// from the first that opens; pure. Read in NCCL's sources, 2.21 to 2.30.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/nccl/nccl_release.hpp"

namespace lanewise {

enum class TunerSource : std::uint8_t {
  files,         // the names below, in order
  main_program,  // a beginning of STATIC_PLUGIN: the program itself
  none,          // switched off
};

struct TunerLookup {
  TunerSource source = TunerSource::files;
  std::vector<std::string> names;  // as they are given to dlopen
  bool is_cut = false;             // longer than the release's buffer
};

// `value` empty: the variable is not set.
[[nodiscard]] TunerLookup look_up_tuner(std::string_view value, const NcclRelease& release);

// "ncclTunerPlugin_v6" and so on, the preferred first.
[[nodiscard]] std::vector<std::string> tuner_symbols(const NcclRelease& release);

}  // namespace lanewise
