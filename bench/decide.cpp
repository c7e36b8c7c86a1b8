// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "commands.hpp"
#include "lanewise/error.hpp"
#include "lanewise/statistics.hpp"
#include "plugin_control.hpp"

namespace lanewise::bench {
namespace {

constexpr int algorithms = 7;
constexpr int protocols = 3;
constexpr int all_reduce = 4;
constexpr int ranks = 8;
constexpr std::uint64_t communicator_id = 0x1a2e;  // any
using Prices = std::array<float, static_cast<std::size_t>(algorithms) * protocols>;

// Tuner v5 as NCCL 2.28 to 2.30 calls it (NCCL_ABI.md 1.2).
struct Tuner {
  const char* name;
  int (*init)(void** context, std::uint64_t communicator, std::size_t ranks, std::size_t nodes,
              void* logger, void* domains, void* constants);
  int (*get)(void* context, int collective, std::size_t bytes, int pipe_ops, float** prices,
             int algorithm_rows, int protocol_columns, int is_registered, int* channels);
  int (*finalize)(void* context);
};

struct Options {
  std::string plugin;
  int samples = 200'000;
};

// What NCCL 2.30 prices 14 KiB at, 8 ranks over PCIe: tree and ring, LL and Simple.
Prices typical_prices() {
  Prices prices;
  prices.fill(-1);
  prices[0] = 38.2F;
  prices[2] = 131.8F;
  prices[3] = 21.3F;
  prices[5] = 96.4F;
  return prices;
}

double now_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// A call alone is nearer to the clock's own cost than to the truth, so the clock's is taken off.
std::vector<double> time_calls(const Options& options, const Tuner& tuner, void* context) {
  static constexpr std::array<std::size_t, 5> sizes = {14336, 28672, 57344, 114688, 229376};
  const Prices fresh = typical_prices();
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(options.samples));
  double clock_ns = 1e9;
  for (int i = 0; i < 1000; ++i) clock_ns = std::min(clock_ns, -now_ns() + now_ns());
  for (int i = 0; i < options.samples; ++i) {
    Prices prices = fresh;
    int channels = 0;
    const double start = now_ns();
    tuner.get(context, all_reduce, sizes[static_cast<std::size_t>(i) % sizes.size()], 1,
              reinterpret_cast<float**>(prices.data()), algorithms, protocols, 1, &channels);
    times.push_back(std::max(0.0, now_ns() - start - clock_ns));
  }
  return times;
}

// All ranks at once, as the agreement between them wants it.
void init_all(const Tuner& tuner, std::array<void*, ranks>& contexts) {
  std::vector<std::thread> threads;
  for (void*& context : contexts) {
    threads.emplace_back([&tuner, &context] {
      std::array<double, 144> constants{};
      std::array<int, 3> domains = {1, ranks, ranks};
      tuner.init(&context, communicator_id, ranks, 1, nullptr, domains.data(), constants.data());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void decide(const Options& options) {
  const std::string file = find_plugin(options.plugin);
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw Error("the plugin cannot be opened: " + std::string(dlerror()));
  const auto* tuner = static_cast<const Tuner*>(dlsym(library, "ncclTunerPlugin_v5"));
  if (tuner == nullptr) throw Error(file, 0, "this plugin has no tuner v5");
  std::array<void*, ranks> contexts{};
  const double start = now_ns();
  init_all(*tuner, contexts);
  const double init_ms = (now_ns() - start) / 1e6;
  const auto times = time_calls(options, *tuner, contexts.front());
  for (void* context : contexts) tuner->finalize(context);
  std::printf("one decision: %.0f ns median, %.0f ns 99.9th percentile, %d calls\n", median(times),
              percentile(times, 99.9), options.samples);
  std::printf("init of %zu ranks at once: %.1f ms\n", contexts.size(), init_ms);
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
