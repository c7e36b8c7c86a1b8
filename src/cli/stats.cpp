// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "commands.hpp"
#include "core/error.hpp"
#include "host/counters/counters_report.hpp"
#include "host/process/standard_output.hpp"

namespace lanewise::cli {
namespace {

using host::CountedProcess;

struct StatsOptions {
  std::uint32_t pid = 0;  // 0: every process
  bool is_watching = false;
  bool is_json = false;
  bool is_prometheus = false;
  std::string folder = "/dev/shm";
};

constexpr std::chrono::seconds watch_interval{1};

std::string format_time(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  std::array<char, 32> text{};
  if (gmtime_r(&time, &parts) == nullptr) return "?";
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text.data();
}

std::string_view describe(host::Liveness liveness) {
  constexpr std::array<std::string_view, 3> words = {"running", "ended", "in another container"};
  return words[static_cast<std::size_t>(liveness)];
}

// Whether a call that direct left was captured is not asked.
std::string_view buffers_of(const host::CountedCall& call, host::CountedMode mode) {
  if (mode == host::CountedMode::direct && call.direct == host::DirectForm::none) return "-";
  return call.buffers == host::CallBuffers::captured ? "captured" : "eager";
}

void print_size(const host::CountedSize& size, host::CountedMode mode) {
  const auto& call = size.call;
  const auto choice = host::choice_of(call);
  const bool is_applied = call.effect == host::CallEffect::applied;
  std::printf("  %12zu%s %12llu  %-8s  %-22s %s\n", call.bytes,
              size.exactness == host::SizeExactness::exact ? " " : "~",
              static_cast<unsigned long long>(size.calls), buffers_of(call, mode).data(),
              choice.empty() ? "NCCL's" : choice.c_str(),
              choice.empty() ? ""
              : is_applied   ? host::source_of(call).data()
                             : "observed only");
}

void print_communicator(const host::CountedCommunicator& communicator) {
  std::printf(" communicator ");
  if (communicator.communicator)
    std::printf("%016llx", static_cast<unsigned long long>(*communicator.communicator));
  else
    std::printf("of unknown id");
  const std::string ranks =
      communicator.ranks == 0 ? "different numbers of" : std::to_string(communicator.ranks);
  std::printf(", %s ranks, GPU %s, %s%s\n", ranks.c_str(),
              communicator.gpu ? to_string(*communicator.gpu).c_str() : "unknown",
              name_of(communicator.mode).data(),
              communicator.state == host::RecordState::open ? "" : ", closed");
  if (communicator.sizes.empty()) return;
  std::printf("  %12s  %12s  %-8s  %-22s %s\n", "bytes", "calls", "buffers", "choice", "from");
  for (const auto& size : communicator.sizes) print_size(size, communicator.mode);
}

void print_process(const CountedProcess& process) {
  const auto state = describe(process.liveness);
  const auto user = process.user == ::geteuid() ? "" : ", user " + std::to_string(process.user);
  std::printf("process %u (%s)%s, NCCL %s, since %s, %.*s\n", process.process.pid,
              process.program.c_str(), user.c_str(), to_string(process.release).c_str(),
              format_time(process.started_seconds).c_str(), static_cast<int>(state.size()),
              state.data());
  for (const auto& refusal : process.refusals)
    std::printf(" profile not used: %s\n", refusal.c_str());
  for (const auto& communicator : process.communicators) print_communicator(communicator);
  if (process.lost_calls > 0)
    std::printf(" %llu calls of further sizes are not listed\n",
                static_cast<unsigned long long>(process.lost_calls));
}

void print(const std::vector<CountedProcess>& processes, const StatsOptions& options) {
  if (options.is_json) {
    std::fputs(host::format_counters_json(processes).c_str(), stdout);
  } else if (options.is_prometheus) {
    std::fputs(host::format_counters_prometheus(processes).c_str(), stdout);
  } else if (processes.empty()) {
    std::puts(::geteuid() == 0 ? "No process has counted a call."
                               : "No process of this user has counted a call; root sees all.");
  } else {
    for (const auto& process : processes) print_process(process);
  }
  host::flush_standard_output();
}

// A folder that is not there would look like one in which nobody counts.
void require_folder(const std::string& folder) {
  std::error_code error;
  const std::filesystem::directory_iterator entries(folder, error);
  if (error) throw Error(folder, 0, "cannot be read: " + error.message());
}

std::vector<CountedProcess> read(const StatsOptions& options) {
  auto processes = host::read_live_counters(options.folder);
  if (options.pid == 0) return processes;
  std::erase_if(processes,
                [&](const CountedProcess& process) { return process.process.pid != options.pid; });
  if (processes.empty())
    throw Error("process " + std::to_string(options.pid) +
                ": expected one of this user that counts its calls, see `lanewise stats`");
  return processes;
}

// The counts of a process that ended are shown this once.
void remove_shown(const std::vector<CountedProcess>& processes, const std::string& folder) {
  for (const auto& process : processes)
    if (process.liveness == host::Liveness::dead) host::remove_dead_counters(folder, process);
}

// CLI11's own word for a number below one has 600 digits.
std::string require_process(const std::string& word) {
  const bool is_number = word.find_first_not_of("0123456789") == std::string::npos;
  return is_number && word.find_first_not_of('0') != std::string::npos
             ? ""
             : word + ": expected the number of a process";
}

void show(const StatsOptions& options) {
  require_folder(options.folder);
  for (;;) {
    const auto processes = read(options);
    if (options.is_watching && ::isatty(STDOUT_FILENO) == 1) std::fputs("\033[H\033[2J", stdout);
    print(processes, options);
    remove_shown(processes, options.folder);
    const bool is_over = std::none_of(processes.begin(), processes.end(), [](const auto& process) {
      return process.liveness != host::Liveness::dead;
    });
    if (!options.is_watching || is_over) return;
    std::this_thread::sleep_for(watch_interval);
  }
}

}  // namespace

void add_stats(CLI::App& app) {
  auto options = std::make_shared<StatsOptions>();
  auto* command = app.add_subcommand(
      "stats", "Show the all-reduces of running processes: sizes, choices and their source");
  command->add_option("pid", options->pid, "One process (default: all of this user)")
      ->check(require_process);
  command->add_flag("--watch", options->is_watching, "Show them every second while they run");
  auto* json = command->add_flag("--json", options->is_json, "As JSON, for lanewise-bench tune");
  command->add_flag("--prometheus", options->is_prometheus, "As Prometheus' text format")
      ->excludes(json);
  command->add_option("--folder", options->folder,
                      "Shared memory to read, as of a container: /proc/PID/root/dev/shm");
  command->callback([options] { show(*options); });
}

}  // namespace lanewise::cli
