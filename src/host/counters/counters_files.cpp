// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "counters_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace lanewise::host {
namespace {

// 2 MiB: a container's /dev/shm has 64 MiB unless its user asks for more.
constexpr std::size_t most_dead_files = 32;
constexpr int counters_flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;

std::string name_prefix() { return "lanewise-" + std::to_string(geteuid()) + "-stats-"; }

bool sees_all_users() noexcept { return geteuid() == 0; }

bool is_own_name(std::string_view name) { return name.starts_with(name_prefix()); }

// "lanewise-1000-stats-..".
bool is_anyones_name(std::string_view name) {
  constexpr std::string_view start = "lanewise-";
  if (!name.starts_with(start)) return false;
  name.remove_prefix(start.size());
  const auto digits = name.find_first_not_of("0123456789");
  return digits != 0 && digits != std::string_view::npos &&
         name.substr(digits).starts_with("-stats-");
}

std::optional<CountersOnDisk> read_file(std::string path, int file, ReadDepth depth) {
  struct stat status {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
      (status.st_uid != geteuid() && !sees_all_users()) ||
      status.st_size != static_cast<off_t>(sizeof(CountersFile)))
    return std::nullopt;
  CounterHeader header{};
  if (pread(file, static_cast<void*>(&header), sizeof header, 0) != sizeof header ||
      header.magic != counters_magic)
    return std::nullopt;
  CountersOnDisk found{std::move(path),
                       {status.st_dev, status.st_ino},
                       ProcessIdentity::from_word(header.process, header.pid_namespace),
                       status.st_uid,
                       nullptr};
  if (depth == ReadDepth::header) return found;
  found.content = std::make_unique<CountersFile>();
  if (pread(file, static_cast<void*>(found.content.get()), sizeof(CountersFile), 0) !=
      sizeof(CountersFile))
    return std::nullopt;
  return found;
}

// The names of files of counters, whatever is in them.
std::vector<std::string> list_names(const std::string& folder,
                                    bool (*is_wanted)(std::string_view)) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  if (entries == nullptr) return names;
  while (const dirent* entry = readdir(entries.get()))
    if (is_wanted(entry->d_name)) names.emplace_back(entry->d_name);
  return names;
}

std::optional<CountersOnDisk> open_and_read(std::string path, ReadDepth depth) {
  const int file = open(path.c_str(), counters_flags);
  if (file < 0) return std::nullopt;
  auto found = read_file(std::move(path), file, depth);
  close(file);
  return found;
}

// By its name, less the prefix: where many processes start at once, each sees the files of all.
bool is_of_a_running_process(std::string_view name, std::uint64_t own_namespace) noexcept {
  std::uint64_t space = 0;
  pid_t pid = 0;
  const auto* const end = name.data() + name.size();
  const auto [dash, bad_space] = std::from_chars(name.data(), end, space, 16);
  if (bad_space != std::errc{} || dash == end || *dash != '-' || space != own_namespace)
    return false;
  const auto [rest, bad_pid] = std::from_chars(dash + 1, end, pid);
  return bad_pid == std::errc{} && rest == end && pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
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
  for (const auto& name : list_names(folder, sees_all_users() ? is_anyones_name : is_own_name))
    if (auto counters = open_and_read(folder + '/' + name, depth))
      found.push_back(std::move(*counters));
  return found;
}

void limit_dead_counters(const std::string& folder) {
  const auto names = list_names(folder, is_own_name);
  if (names.size() <= most_dead_files) return;
  const auto own_namespace = this_process().pid_namespace;
  std::vector<CountersOnDisk> dead;
  for (const auto& name : names) {
    const auto of = std::string_view(name).substr(name_prefix().size());
    if (is_of_a_running_process(of, own_namespace)) continue;
    auto counters = open_and_read(folder + '/' + name, ReadDepth::header);
    if (counters && liveness_of(counters->process) == Liveness::dead)
      dead.push_back(std::move(*counters));
  }
  if (dead.size() <= most_dead_files) return;
  for (const auto& counters : dead) remove_shared_file(counters.path, counters.identity);
}

}  // namespace lanewise::host
