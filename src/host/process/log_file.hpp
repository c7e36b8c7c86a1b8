// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The file that gets the log too. It is open only while a line is written: a process of many
// communicators keeps no descriptors for it, and its children inherit none. Private to the log.
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace lanewise::host {

// A process that traces every decision for days must not fill a disk.
inline constexpr std::size_t largest_log_bytes = std::size_t{64} << 20U;

class LogFile {
 public:
  // "%p" in `path` stands for the process that writes.
  explicit LogFile(std::string path) : path_(std::move(path)) {}

  // Why it cannot be appended to; empty where it can. Makes the file, and folders that are missing.
  [[nodiscard]] std::string find_fault() const;
  // Loses the line where the file cannot take it now. Never blocks.
  void append(std::string_view line) const noexcept;

 private:
  std::string path_;
};

}  // namespace lanewise::host
