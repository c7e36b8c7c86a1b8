// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The files of an examined machine under its root folder, by the names that they have there. Made
// for /sys and /proc: never blocks, takes no more than a limit, and tells "missing" from "denied".
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise::host {

enum class ReadState : std::uint8_t { read, missing, denied, failed };

struct FileText {
  ReadState state = ReadState::missing;
  std::string text;
  [[nodiscard]] bool is_read() const noexcept { return state == ReadState::read; }
};

class MachineFiles {
 public:
  explicit MachineFiles(std::filesystem::path root) : root_(std::move(root)) {}

  // Where "/sys/..." of that machine lies here.
  [[nodiscard]] std::filesystem::path at(std::string_view path) const;
  // The first `limit` bytes.
  [[nodiscard]] FileText read(std::string_view path, std::size_t limit = 1U << 20U) const;
  // The first line without blanks around it; none where the file cannot be read.
  [[nodiscard]] std::optional<std::string> line(std::string_view path) const;
  [[nodiscard]] std::optional<long long> number(std::string_view path) const;
  [[nodiscard]] bool exists(std::string_view path) const;
  // Of a folder, in order of name; empty where it cannot be read.
  [[nodiscard]] std::vector<std::string> names(std::string_view folder) const;
  // The last part of what a link points to; empty where it is none.
  [[nodiscard]] std::string link_name(std::string_view path) const;

 private:
  std::filesystem::path root_;
};

[[nodiscard]] std::string trim(std::string_view text);
// "denied" and the like for people.
[[nodiscard]] std::string_view name_of(ReadState state) noexcept;
[[nodiscard]] std::optional<long long> parse_whole(std::string_view text, int base = 10) noexcept;

}  // namespace lanewise::host
