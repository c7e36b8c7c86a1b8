// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// CUDA_VISIBLE_DEVICES, as far as it can be read without asking the driver.
#include <optional>
#include <string_view>
#include <vector>

namespace lanewise::host {

// The numbers up to the first word that is none, as CUDA takes them. Nullopt where GPUs are named
// by their UUIDs ("GPU-..", "MIG-.."), which only the driver knows.
[[nodiscard]] std::optional<std::vector<int>> parse_visible_devices(std::string_view text);

}  // namespace lanewise::host
