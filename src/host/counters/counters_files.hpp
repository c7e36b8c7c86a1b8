// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Where processes keep their counters, and which of those files are still of use. Private to the
// writer and the reader.
#include <string>
#include <vector>

#include "files/shared_file.hpp"
#include "host/counters/live_counters.hpp"
#include "host/process/process_identity.hpp"

namespace lanewise::host {

// "lanewisc" and the layout's number.
inline constexpr std::uint64_t counters_magic = 0x6c616e6577697300 + 0x6300 + 1;

// The namespace is in the name: containers that share the folder share numbers.
[[nodiscard]] std::string counters_path(const std::string& folder, const ProcessIdentity& process);

// This user's files of counters, whole and of this layout, opened for reading; for root those of
// all users, whose file's owner need not be the one in its name: a container may map its users.
struct CountersOnDisk {
  std::string path;
  FileIdentity identity;
  ProcessIdentity process;
  std::uint32_t user = 0;                 // the file's owner
  std::unique_ptr<CountersFile> content;  // null where only the header was wanted
};
enum class ReadDepth : std::uint8_t { header, content };
[[nodiscard]] std::vector<CountersOnDisk> find_counters(const std::string& folder, ReadDepth depth);

// Keeps what dead processes left from filling the folder where nobody looks at it.
void limit_dead_counters(const std::string& folder);

}  // namespace lanewise::host
