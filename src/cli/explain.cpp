// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "explain_output.hpp"
#include "host/nccl_environment.hpp"
#include "host/price_table_file.hpp"
#include "host/profile_file.hpp"
#include "host/profile_search.hpp"
#include "host/settings.hpp"
#include "host/topology_source.hpp"
#include "lanewise/error.hpp"
#include "lanewise/machine_facts.hpp"

namespace lanewise::cli {
namespace {

// The newest NCCL whose rules are known, for where none is named.
constexpr NcclRelease newest_release = {2, 30, 7};
// Before it a tuner is not shown prices.
constexpr NcclRelease first_release_with_prices = {2, 22, 0};
constexpr int assumed_compute_capability = 120;
constexpr int most_ranks = 1024;

struct ExplainOptions {
  std::string machine;
  std::string table;
  std::string profile;
  std::string nccl;
  std::optional<int> ranks;
  std::optional<int> channels;
  std::vector<std::size_t> bytes;
  std::size_t hidden = 7168;
  std::string dtype = "bf16";
  std::vector<std::size_t> tokens = {1, 2, 4, 8, 16, 32, 64};
  bool is_json = false;
};

// All that is known before a size is looked at.
struct Scene {
  PolicyInputs inputs;
  std::optional<host::PriceTableFile> table;
  PriceInputs estimated;  // where there is no table
  Communicator communicator;
  ExplainReport report;
};

std::size_t size_of_type(const std::string& dtype) {
  struct Type {
    const char* name;
    std::size_t bytes;
  };
  constexpr std::array types = {Type{"bf16", 2}, Type{"fp16", 2}, Type{"fp32", 4}, Type{"fp8", 1}};
  for (const auto& type : types)
    if (dtype == type.name) return type.bytes;
  throw Error("--dtype " + dtype + ": expected bf16, fp16, fp32 or fp8");
}

std::vector<std::size_t> sizes_of(const ExplainOptions& options) {
  if (!options.bytes.empty()) return options.bytes;
  std::vector<std::size_t> sizes;
  for (const auto tokens : options.tokens)
    sizes.push_back(options.hidden * size_of_type(options.dtype) * tokens);
  return sizes;
}

NcclRelease release_of(const ExplainOptions& options, const Scene& scene) {
  if (options.nccl.empty()) return scene.table ? scene.table->nccl : newest_release;
  const auto release = parse_nccl_release(options.nccl);
  if (!release) throw Error("--nccl " + options.nccl + ": expected a version, as 2.30.7");
  return *release;
}

// A table of another machine says nothing of this one.
Topology choose_machine(const ExplainOptions& options, const host::Settings& settings) {
  const std::string& named = options.machine.empty() ? settings.machine : options.machine;
  if (!named.empty()) return host::read_topology(std::filesystem::path(named));
  if (!options.table.empty()) return {};
  Topology here = host::read_topology();
  return here.gpus.empty() ? host::bundled_topology() : here;
}

int ranks_of(const ExplainOptions& options, const Scene& scene, const Topology& topology) {
  if (scene.table && options.ranks && *options.ranks != scene.table->ranks)
    throw Error(options.table + ": prices of " + std::to_string(scene.table->ranks) +
                " ranks: expected --ranks " + std::to_string(*options.ranks));
  if (options.ranks) return *options.ranks;
  if (scene.table) return scene.table->ranks;
  if (topology.gpus.empty()) throw Error(topology.source + ": no GPU: expected --ranks");
  return static_cast<int>(topology.gpus.size());
}

int lowest_compute_capability(const Topology& topology) {
  int lowest = 0;
  for (const auto& gpu : topology.gpus)
    if (gpu.compute_capability > 0 && (lowest == 0 || gpu.compute_capability < lowest))
      lowest = gpu.compute_capability;
  return lowest == 0 ? assumed_compute_capability : lowest;
}

void add_profile(Scene& scene, const std::string& named, const Topology& topology,
                 const Environment& environment) {
  if (topology.gpus.empty()) return;
  const std::string print = fingerprint(topology);
  const auto found = host::find_profile(named, print, host::profile_folders());
  if (!found) return;
  const auto matched = match(found->profile, {.fingerprint = print,
                                              .nccl = scene.inputs.release,
                                              .environment = environment,
                                              .ranks = scene.inputs.ranks,
                                              .gpus = {}});
  if (matched.group == nullptr) {
    scene.report.remarks.push_back(found->path.string() + " is not used: " + matched.refusal);
    return;
  }
  const bool is_soaked = matched.group->is_ll128_verified;
  scene.inputs.profile = {matched.group->rules,
                          is_soaked ? Ll128Evidence::soaked : Ll128Evidence::none, LinkKind::pcie};
}

// What NCCL has: as told, else twice what its search found under the user's limits.
void add_communicator(Scene& scene, const ExplainOptions& options) {
  const PolicyInputs& inputs = scene.inputs;
  const int searched = scene.table && scene.table->search_channels ? *scene.table->search_channels
                                                                   : scene.estimated.ring.channels;
  const int channels =
      options.channels.value_or(channels_of_communicator(searched, inputs.limits, inputs.release));
  scene.communicator = {inputs.ranks, channels, inputs.release, inputs.limits, inputs.sharing};
  scene.report.channels = channels;
}

void estimate_prices(Scene& scene, const Topology& topology) {
  PriceInputs& estimated = scene.estimated;
  estimated.ranks = scene.inputs.ranks;
  estimated.release = scene.inputs.release;
  estimated.compute_capability = lowest_compute_capability(topology);
  estimated.link = topology.has_nvlink() ? LinkKind::nvlink : LinkKind::pcie;
  estimated.ring = estimated.tree = estimate_search(topology, estimated.compute_capability);
  scene.report.prices = scene.table ? "of the table" : "estimated";
  if (scene.table) return;
  scene.report.remarks.emplace_back(
      "NCCL's prices are estimated from the machine; --table FILE takes its own.");
}

Scene set_up(const ExplainOptions& options) {
  const auto environment = host::read_process_environment();
  const auto settings = host::parse_settings(environment);
  Scene scene;
  if (!options.table.empty()) scene.table = host::read_price_table(options.table);
  const Topology topology = choose_machine(options, settings);
  PolicyInputs& inputs = scene.inputs;
  inputs.release = release_of(options, scene);
  inputs.ranks = ranks_of(options, scene, topology);
  inputs.limits = host::parse_nccl_limits(environment);
  inputs.user_filter = host::find_user_filter(environment);
  if (inputs.release < first_release_with_prices) inputs.prices = PriceAccess::without_table;
  inputs.sharing = topology.gpus.empty()
                       ? host::find_gpu_sharing(environment)
                       : sharing_of(inputs.ranks, static_cast<int>(topology.gpus.size()));
  add_machine_facts(inputs, topology);
  add_profile(scene, options.profile.empty() ? settings.profile : options.profile, topology,
              environment);
  estimate_prices(scene, topology);
  add_communicator(scene, options);
  scene.report.machine =
      topology.gpus.empty() && scene.table ? scene.table->machine : topology.source;
  scene.report.nccl = inputs.release;
  scene.report.ranks = inputs.ranks;
  return scene;
}

void run_explain(const ExplainOptions& options) {
  Scene scene = set_up(options);
  for (const auto bytes : sizes_of(options)) {
    PriceTable prices =
        scene.table ? host::prices_at(*scene.table, bytes) : price_table(bytes, scene.estimated);
    const Query query{Collective::all_reduce, bytes, scene.inputs.ranks, 1, 1};
    const CostTable table(prices.data(), algorithm_count, protocol_count);
    scene.report.sizes.push_back({bytes, explain(scene.inputs, query, table, scene.communicator)});
  }
  options.is_json ? print_json(scene.report) : print_text(scene.report);
}

}  // namespace

void add_explain(CLI::App& app) {
  auto options = std::make_shared<ExplainOptions>();
  auto* command = app.add_subcommand(
      "explain", "What NCCL does with an all-reduce, what Lanewise does, and why");
  command->add_option("--ranks", options->ranks, "Ranks; all GPUs where not given")
      ->check(CLI::Range(2, most_ranks));
  command->add_option("--machine", options->machine, "A topology: hwloc's or NCCL's XML")
      ->type_name("FILE");
  command->add_option("--table", options->table, "NCCL's prices on that machine, JSON")
      ->type_name("FILE");
  command->add_option("--profile", options->profile, "A profile; else the machine's own")
      ->type_name("FILE");
  command->add_option("--nccl", options->nccl, "NCCL's version, as 2.30.7")->type_name("VERSION");
  command->add_option("--channels", options->channels, "Channels of the communicator, from its log")
      ->check(CLI::Range(1, newest_release.max_channels()));
  const auto size = CLI::Range(std::size_t{1}, std::size_t{1} << 40U);
  auto* bytes =
      command->add_option("--bytes", options->bytes, "Sizes")->delimiter(',')->check(size);
  command->add_option("--hidden", options->hidden, "Width of a row")
      ->capture_default_str()
      ->excludes(bytes)
      ->check(size);
  command->add_option("--dtype", options->dtype, "bf16, fp16, fp32 or fp8")
      ->capture_default_str()
      ->excludes(bytes);
  command->add_option("--tokens", options->tokens, "Rows in a call")
      ->delimiter(',')
      ->capture_default_str()
      ->excludes(bytes)
      ->check(size);
  command->add_flag("--json", options->is_json, "Print JSON, schema_version 1");
  command->callback([options] { run_explain(*options); });
}

}  // namespace lanewise::cli
