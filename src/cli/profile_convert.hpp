// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// `lanewise profile convert`: between a profile and the CSV of NVIDIA's example tuner.
#include "program/app.hpp"

namespace lanewise::cli {

void add_profile_convert(CLI::App& parent);

}  // namespace lanewise::cli
