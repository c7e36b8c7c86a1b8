// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "doctor/machine_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>

namespace lanewise::host {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> state_names = {"read", "missing", "not permitted",
                                                         "cannot be read"};
constexpr std::string_view blanks = " \t\r\n";

ReadState state_of(int code) noexcept {
  if (code == ENOENT || code == ENOTDIR || code == ESRCH) return ReadState::missing;
  return code == EACCES || code == EPERM ? ReadState::denied : ReadState::failed;
}

}  // namespace

fs::path MachineFiles::at(std::string_view path) const {
  while (path.starts_with('/')) path.remove_prefix(1);
  return root_ / path;
}

FileText MachineFiles::read(std::string_view path, std::size_t limit) const {
  const int file = ::open(at(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return {.state = state_of(errno)};
  FileText result{.state = ReadState::read};
  std::array<char, 16384> buffer{};
  while (result.text.size() < limit) {
    const auto count =
        ::read(file, buffer.data(), std::min(buffer.size(), limit - result.text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && result.text.empty()) result.state = state_of(errno);
    if (count <= 0) break;
    result.text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  ::close(file);
  return result;
}

std::optional<std::string> MachineFiles::line(std::string_view path) const {
  const auto file = read(path, 4096);
  if (!file.is_read()) return std::nullopt;
  return trim(std::string_view(file.text).substr(0, file.text.find('\n')));
}

std::optional<long long> MachineFiles::number(std::string_view path) const {
  const auto text = line(path);
  return text ? parse_whole(*text) : std::nullopt;
}

bool MachineFiles::exists(std::string_view path) const {
  std::error_code error;
  return fs::exists(at(path), error);
}

std::vector<std::string> MachineFiles::names(std::string_view folder) const {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entries(at(folder), error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error))
    names.push_back(entries->path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::string MachineFiles::link_name(std::string_view path) const {
  std::error_code error;
  return fs::read_symlink(at(path), error).filename().string();
}

std::string trim(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(blanks) - first + 1));
}

std::string_view name_of(ReadState state) noexcept {
  return state_names[static_cast<std::size_t>(state)];
}

std::optional<long long> parse_whole(std::string_view text, int base) noexcept {
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  long long number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size())
    return std::nullopt;
  return number;
}

}  // namespace lanewise::host
