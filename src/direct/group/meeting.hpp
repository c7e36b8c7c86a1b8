// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// How the ranks of a group come to one memory: who is where, who makes it, how each reaches it.
// Private to the group.
#include <memory>
#include <optional>

#include "direct/group.hpp"
#include "group/driver.hpp"
#include "group/layout.hpp"
#include "group/shared_memory.hpp"

namespace lanewise::direct {

struct MeetingPlace {
  Layout layout;
  Place place = Place::host;
  int most_blocks = 1;  // of one rank: all ranks of a GPU are resident at once
  std::shared_ptr<SharedMemory> memory;
};

// All ranks at the same time, each with its GPU's context current. Throws Error.
[[nodiscard]] MeetingPlace meet(const Driver& driver, DriverContext context, int rank, int ranks,
                                const Group::Gather& gather, const GroupOptions& options);

}  // namespace lanewise::direct
