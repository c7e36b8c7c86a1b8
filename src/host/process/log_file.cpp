// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "process/log_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <filesystem>
#include <system_error>

namespace lanewise::host {
namespace {

// Without O_NONBLOCK a FIFO that nobody reads would hold the process here for ever.
constexpr int append_flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
constexpr mode_t new_file_mode = 0644;

std::string with_process_id(std::string path) {
  const auto place = path.find("%p");
  if (place != std::string::npos) path.replace(place, 2, std::to_string(::getpid()));
  return path;
}

// A terminal and /dev/null are fine. Writing to a pipe or a socket whose reader is gone would end
// the process.
bool is_file_or_device(const struct stat& status) noexcept {
  return S_ISREG(status.st_mode) || S_ISCHR(status.st_mode);
}

std::string find_fault_of(int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return std::generic_category().message(errno);
  if (!is_file_or_device(status)) return "expected a file, or a device such as /dev/null";
  if (static_cast<std::size_t>(status.st_size) >= largest_log_bytes)
    return "it has " + std::to_string(largest_log_bytes) + " bytes already and gets no more";
  return {};
}

}  // namespace

std::string LogFile::find_fault() const {
  const std::string path = with_process_id(path_);
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  // NOLINTNEXTLINE(*-vararg): open has no other form.
  const int file = ::open(path.c_str(), append_flags, new_file_mode);
  if (file < 0) return path + ": " + std::generic_category().message(errno);
  const auto fault = find_fault_of(file);
  ::close(file);
  return fault.empty() ? fault : path + ": " + fault;
}

void LogFile::append(std::string_view line) const noexcept {
  try {
    // NOLINTNEXTLINE(*-vararg): open has no other form.
    const int file = ::open(with_process_id(path_).c_str(), append_flags, new_file_mode);
    if (file < 0) return;
    // One call, so that lines of several processes do not mix.
    if (find_fault_of(file).empty()) (void)!::write(file, line.data(), line.size());
    ::close(file);
  } catch (const std::exception&) {
    // Without memory the line is lost.
  }
}

}  // namespace lanewise::host
