// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A profile's fit of the wave model as JSON: the object "model" of a group.
#include <string>

#include "core/model/latency.hpp"
#include "core/nccl/nccl_release.hpp"
#include "host/files/json.hpp"

namespace lanewise::host {

[[nodiscard]] MachineFit read_fit(const JsonField& field, const NcclRelease& nccl);
[[nodiscard]] std::string format_fit(const MachineFit& fit);

}  // namespace lanewise::host
