// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "agreement/agreement_shm.hpp"

namespace lanewise::host {
namespace {

constexpr int segment_flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
// A segment this long past its creator's limit has nobody waiting in it.
constexpr std::uint64_t abandoned_ns = 60'000'000'000;
constexpr time_t unfinished_seconds = 3600;
// Other programs' files may crowd the folder; a sweep is not worth reading them all.
constexpr int most_entries = 1024;

std::string name_prefix() { return "lanewise-" + std::to_string(geteuid()) + "-agree-"; }

bool is_left_behind(int file, const struct stat& status, std::uint64_t now_ns) noexcept {
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid()) return false;
  SegmentHeader header{};
  if (pread(file, static_cast<void*>(&header), sizeof header, 0) == sizeof header &&
      header.deadline_ns != 0)
    return now_ns > header.deadline_ns + abandoned_ns;
  return time(nullptr) - status.st_mtime > unfinished_seconds;
}

void sweep_one(const std::string& path, std::uint64_t now_ns) {
  const int file = open(path.c_str(), segment_flags);
  if (file < 0) return;
  struct stat status {};
  const bool is_old = fstat(file, &status) == 0 && is_left_behind(file, status, now_ns);
  close(file);
  if (is_old) remove_shared_file(path, {status.st_dev, status.st_ino});
}

}  // namespace

std::string agreement_path(const AgreementRequest& request) {
  char communicator[17];
  std::snprintf(communicator, sizeof communicator, "%016llx",
                static_cast<unsigned long long>(request.communicator));
  return request.folder + '/' + name_prefix() + communicator + '-' + std::to_string(request.ranks);
}

void sweep_segments(const std::string& folder, std::uint64_t now_ns) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  if (entries == nullptr) return;
  const std::string prefix = name_prefix();
  for (int i = 0; i < most_entries; ++i) {
    const dirent* const entry = readdir(entries.get());
    if (entry == nullptr) break;
    if (std::string_view(entry->d_name).starts_with(prefix))
      sweep_one(folder + '/' + entry->d_name, now_ns);
  }
}

}  // namespace lanewise::host
