// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/counters/counters_report.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

#include "counters_files.hpp"
#include "machine/pci_word.hpp"

namespace lanewise::host {
namespace {

NcclRelease release_of(std::uint64_t word) noexcept {
  constexpr std::uint64_t part = 0xffff;
  return {static_cast<int>(word >> 32 & part), static_cast<int>(word >> 16 & part),
          static_cast<int>(word & part)};
}

CountedCommunicator read_record(const CommunicatorRecord& record) {
  CountedCommunicator communicator;
  if (record.is_identified) communicator.communicator = record.communicator.load();
  communicator.ranks = static_cast<int>(record.ranks);
  communicator.gpu = to_address(record.gpu.load());
  communicator.mode = record.mode;
  communicator.state = is_open_record(record) ? RecordState::open : record.state.load();
  return communicator;
}

std::vector<CountedCommunicator> read_communicators(const CountersFile& file) {
  std::vector<CountedCommunicator> all;
  for (const auto& record : file.records) all.push_back(read_record(record));
  for (const auto& entry : file.entries) {
    const std::uint64_t key = entry.key;
    if (key == 0) continue;
    const auto meaning = read_counter_key(key);
    all[meaning.record].sizes.push_back({meaning.call, meaning.exactness, entry.calls});
  }
  std::erase_if(all, [](const CountedCommunicator& communicator) {
    return communicator.state != RecordState::open && communicator.sizes.empty();
  });
  for (auto& communicator : all)
    std::sort(
        communicator.sizes.begin(), communicator.sizes.end(),
        [](const CountedSize& a, const CountedSize& b) { return a.call.bytes < b.call.bytes; });
  return all;
}

// A process may call itself anything; what goes to a terminal has no control characters.
std::string read_words(std::span<const char> from) {
  std::string words(from.data(), strnlen(from.data(), from.size()));
  for (char& character : words)
    if (character < ' ' || character > '~') character = '?';
  return words;
}

std::vector<std::string> read_refusals(const CounterHeader& header) {
  std::vector<std::string> refusals;
  for (std::size_t i = 0; i < std::size(header.refusals); ++i)
    if ((header.refusals_said >> i & 1U) != 0) refusals.push_back(read_words(header.refusals[i]));
  return refusals;
}

}  // namespace

std::vector<CountedProcess> read_live_counters(const std::string& folder) {
  std::vector<CountedProcess> processes;
  for (const auto& found : find_counters(folder, ReadDepth::content)) {
    const auto& header = found.content->header;
    CountedProcess process;
    process.process = found.process;
    process.user = found.user;
    process.liveness = liveness_of(found.process);
    process.program = read_words(header.program);
    process.release = release_of(header.release);
    process.started_seconds = static_cast<std::int64_t>(header.started_seconds.load());
    process.lost_calls = header.lost;
    process.refusals = read_refusals(header);
    process.communicators = read_communicators(*found.content);
    process.path = found.path;
    processes.push_back(std::move(process));
  }
  std::sort(processes.begin(), processes.end(),
            [](const CountedProcess& a, const CountedProcess& b) {
              return a.process.pid < b.process.pid;
            });
  return processes;
}

void remove_dead_counters(const std::string& folder, const CountedProcess& process) {
  for (const auto& found : find_counters(folder, ReadDepth::header))
    if (found.user == geteuid() && found.path == process.path && found.process == process.process &&
        liveness_of(found.process) == Liveness::dead)
      remove_shared_file(found.path, found.identity);
}

}  // namespace lanewise::host
