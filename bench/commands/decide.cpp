// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <dlfcn.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "commands.hpp"
#include "core/error.hpp"
#include "core/statistics.hpp"
#include "gpu/plugin_control.hpp"

namespace lanewise::bench {
namespace {

constexpr int algorithms = 7;
constexpr int protocols = 3;
constexpr int all_reduce = 4;
constexpr int ranks = 8;
using Costs = std::array<float, static_cast<std::size_t>(algorithms) * protocols>;

// Tuner v5 as NCCL 2.28 to 2.30 calls it (NCCL_ABI.md 1.2).
struct Tuner {
  const char* name;
  int (*init)(void** context, std::uint64_t communicator, std::size_t ranks, std::size_t nodes,
              void* logger, void* domains, void* constants);
  int (*get)(void* context, int collective, std::size_t bytes, int pipe_ops, float** costs,
             int algorithm_rows, int protocol_columns, int is_registered, int* channels);
  int (*finalize)(void* context);
};

constexpr int communicators = 100;

struct Options {
  std::string plugin;
  int samples = 200'000;
};

// What NCCL 2.30 costs 14 KiB at, 8 ranks over PCIe: tree and ring, LL and Simple.
Costs typical_costs() {
  Costs costs;
  costs.fill(-1);
  costs[0] = 38.2F;
  costs[2] = 131.8F;
  costs[3] = 21.3F;
  costs[5] = 96.4F;
  return costs;
}

double now_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// A guest's steady_clock can cost 100 ns, five decisions; the processor's counter costs 10.
std::uint64_t read_counter() {
#if defined(__x86_64__)
  unsigned int core = 0;
  return __rdtscp(&core);
#else
  return static_cast<std::uint64_t>(now_ns());
#endif
}

double nanoseconds_a_count() {
  const double start_ns = now_ns();
  const std::uint64_t start = read_counter();
  while (now_ns() - start_ns < 2e7) {
  }
  const std::uint64_t counts = read_counter() - start;
  return (now_ns() - start_ns) / static_cast<double>(counts);
}

// What an empty measurement reads at the median is taken off: the counter's own cost.
std::vector<double> time_calls(const Options& options, const Tuner& tuner, void* context) {
  static constexpr std::array<std::size_t, 5> sizes = {14336, 28672, 57344, 114688, 229376};
  const double scale = nanoseconds_a_count();
  const Costs fresh = typical_costs();
  std::vector<double> empty(1000);
  for (double& counts : empty) {
    const std::uint64_t start = read_counter();
    counts = static_cast<double>(read_counter() - start);
  }
  const double own = median(empty);
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(options.samples));
  for (int i = 0; i < options.samples; ++i) {
    Costs costs = fresh;
    int channels = 0;
    const std::uint64_t start = read_counter();
    tuner.get(context, all_reduce, sizes[static_cast<std::size_t>(i) % sizes.size()], 1,
              reinterpret_cast<float**>(costs.data()), algorithms, protocols, 1, &channels);
    const auto counts = static_cast<double>(read_counter() - start);
    times.push_back(std::max(0.0, counts - own) * scale);
  }
  return times;
}

// All ranks at once, as the agreement between them wants it.
void init_all(const Tuner& tuner, std::uint64_t communicator, std::array<void*, ranks>& contexts) {
  std::vector<std::thread> threads;
  for (void*& context : contexts) {
    threads.emplace_back([&tuner, &context, communicator] {
      std::array<double, 144> constants{};
      std::array<int, 3> domains = {1, ranks, ranks};
      tuner.init(&context, communicator, ranks, 1, nullptr, domains.data(), constants.data());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// The first communicator also reads the machine; its contexts stay open for the decisions.
std::vector<double> time_inits(const Tuner& tuner, std::array<void*, ranks>& contexts) {
  // Of this process alone: ranks of two runs at a time must not meet.
  const auto first_id = static_cast<std::uint64_t>(getpid()) << 32U;
  std::vector<double> times_ms;
  for (int i = 0; i < communicators; ++i) {
    std::array<void*, ranks> others{};
    auto& mine = i == 0 ? contexts : others;
    const double start = now_ns();
    init_all(tuner, first_id + static_cast<std::uint64_t>(i), mine);
    times_ms.push_back((now_ns() - start) / 1e6);
    if (i == 0) continue;
    for (void* context : others) tuner.finalize(context);
  }
  return times_ms;
}

void decide(const Options& options) {
  const std::string file = find_plugin(options.plugin);
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw Error("the plugin cannot be opened: " + std::string(dlerror()));
  const auto* tuner = static_cast<const Tuner*>(dlsym(library, "ncclTunerPlugin_v5"));
  if (tuner == nullptr) throw Error(file, 0, "this plugin has no tuner v5");
  std::array<void*, ranks> contexts{};
  const auto init_ms = time_inits(*tuner, contexts);
  const auto times = time_calls(options, *tuner, contexts.front());
  for (void* context : contexts) tuner->finalize(context);
  std::printf("one decision: %.0f ns median, %.0f ns 99.9th percentile, %d calls\n", median(times),
              percentile(times, 99.9), options.samples);
  std::printf(
      "init of %zu ranks at once: %.1f ms for the first communicator, %.1f ms median of %d\n",
      contexts.size(), init_ms.front(), median(init_ms), communicators);
}

}  // namespace

void add_decide(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("decide", "Time one decision of the plugin; needs no GPU and no NCCL");
  command->add_option("--plugin", options->plugin,
                      "The plugin's file; without it the one beside us");
  command->add_option("--samples", options->samples, "Decisions")
      ->check(CLI::Range(1000, 100'000'000))
      ->capture_default_str();
  command->callback([options] { decide(*options); });
}

}  // namespace lanewise::bench
