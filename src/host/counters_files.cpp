// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "counters_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

namespace lanewise::host {
namespace {

// 2 MiB: a container's /dev/shm has 64 MiB unless its user asks for more.
constexpr std::size_t most_dead_files = 32;
constexpr int open_flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;

std::string name_prefix() { return "lanewise-" + std::to_string(geteuid()) + "-stats-"; }

std::optional<CountersOnDisk> read_file(std::string path, int file, ReadDepth depth) {
  struct stat status {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
      status.st_size != static_cast<off_t>(sizeof(CountersFile)))
    return std::nullopt;
  auto content = std::make_unique<CountersFile>();
  const auto bytes = depth == ReadDepth::header ? sizeof(CounterHeader) : sizeof(CountersFile);
  if (pread(file, static_cast<void*>(content.get()), bytes, 0) != static_cast<ssize_t>(bytes))
    return std::nullopt;
  const auto& header = content->header;
  if (header.magic != counters_magic) return std::nullopt;
  CountersOnDisk found{std::move(path),
                       {status.st_dev, status.st_ino},
                       ProcessIdentity::from_word(header.process, header.pid_namespace),
                       nullptr};
  if (depth == ReadDepth::content) found.content = std::move(content);
  return found;
}

}  // namespace

std::string counters_path(const std::string& folder, const ProcessIdentity& process) {
  std::array<char, 48> end{};
  std::snprintf(end.data(), end.size(), "%llx-%u",
                static_cast<unsigned long long>(process.pid_namespace), process.pid);
  return folder + '/' + name_prefix() + end.data();
}

std::vector<CountersOnDisk> find_counters(const std::string& folder, ReadDepth depth) {
  std::vector<CountersOnDisk> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  if (entries == nullptr) return found;
  const std::string prefix = name_prefix();
  while (const dirent* entry = readdir(entries.get())) {
    if (!std::string_view(entry->d_name).starts_with(prefix)) continue;
    std::string path = folder + '/' + entry->d_name;
    const int file = open(path.c_str(), open_flags);
    if (file < 0) continue;
    if (auto counters = read_file(std::move(path), file, depth))
      found.push_back(std::move(*counters));
    close(file);
  }
  return found;
}

void limit_dead_counters(const std::string& folder) {
  std::vector<CountersOnDisk> dead;
  for (auto& counters : find_counters(folder, ReadDepth::header))
    if (liveness_of(counters.process) == Liveness::dead) dead.push_back(std::move(counters));
  if (dead.size() <= most_dead_files) return;
  for (const auto& counters : dead) remove_shared_file(counters.path, counters.identity);
}

}  // namespace lanewise::host
