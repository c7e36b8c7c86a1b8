// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "core/error.hpp"
#include "explain_output.hpp"
#include "explain_scene.hpp"
#include "host/nccl/nccl_environment.hpp"

namespace lanewise::cli {
namespace {

constexpr int most_ranks = 1024;

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

std::vector<std::string> remarks_with_best(const ExplainScene& scene) {
  std::vector<std::string> remarks;
  const auto& refusal = scene.with_best->refusal;
  if (!refusal.empty() && refusal != scene.here.refusal)
    remarks.push_back("The profile's rules are not used: " + refusal);
  // More than channels and threads hang on a variable that sets no limit.
  for (const auto& variable : scene.standing->best->variables)
    if (host::parse_nccl_limits({variable}) == NcclLimits{})
      remarks.push_back(variable.first +
                        " may change NCCL's costs and all times, which are reckoned without it.");
  return remarks;
}

std::optional<ExplainedEnvironments> report_environments(const ExplainOptions& options,
                                                         const ExplainScene& scene) {
  if (!scene.standing) return std::nullopt;
  ExplainedEnvironments environments;
  environments.profile = scene.found->path.string();
  environments.measured_with = scene.found->profile.nccl;
  environments.standing = *scene.standing;
  environments.carrier = scene.carrier;
  environments.command = "lanewise run " +
                         (options.profile.empty() ? "" : "--profile " + options.profile + " ") +
                         "-- COMMAND";
  if (scene.with_best) environments.remarks_with_best = remarks_with_best(scene);
  return environments;
}

std::vector<std::string> remarks_of(const ExplainScene& scene) {
  std::vector<std::string> remarks;
  if (scene.is_bundled) remarks.emplace_back("No GPU here: the machine that ships with the tool.");
  if (scene.settings.mode != host::Mode::apply)
    remarks.push_back("LANEWISE_MODE=" + std::string(name_of(scene.settings.mode)) +
                      ": NCCL keeps its own choices and its own environment.");
  if (!scene.here.refusal.empty())
    remarks.push_back(scene.found->path.string() + " is not used: " + scene.here.refusal);
  if (!scene.table)
    remarks.emplace_back(
        "NCCL's costs are estimated from the machine; --table FILE takes its own.");
  return remarks;
}

ExplainReport start_report(const ExplainOptions& options, const ExplainScene& scene) {
  const bool is_machine_of_table = scene.topology.gpus.empty() && scene.table;
  ExplainReport report;
  report.machine = is_machine_of_table ? scene.table->machine : scene.topology.source;
  report.nccl = scene.here.inputs.release;
  report.ranks = scene.here.inputs.ranks;
  report.channels = scene.here.communicator.channels;
  if (scene.with_best) report.channels_with_best = scene.with_best->communicator.channels;
  report.costs = scene.table ? "of the table" : "estimated";
  report.remarks = remarks_of(scene);
  report.environments = report_environments(options, scene);
  return report;
}

ExplainedSize explain_size(const ExplainScene& scene, std::size_t bytes) {
  CostArray costs =
      scene.table ? host::costs_at(*scene.table, bytes) : cost_array(bytes, scene.estimated);
  const Query query{Collective::all_reduce, bytes, scene.here.inputs.ranks, 1, 1};
  const CostTable table(costs.data(), algorithm_count, protocol_count);
  const auto in = [&](const ExplainLayer& layer) {
    return explain(layer.inputs, query, table, layer.communicator);
  };
  ExplainedSize row{bytes, in(scene.here), std::nullopt};
  if (scene.with_best) row.with_best = in(*scene.with_best);
  return row;
}

void run_explain(const ExplainOptions& options) {
  ExplainScene scene;
  set_up(scene, options);
  ExplainReport report = start_report(options, scene);
  for (const auto bytes : sizes_of(options)) report.sizes.push_back(explain_size(scene, bytes));
  options.is_json ? print_json(report) : print_text(report);
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
  command->add_option("--table", options->table, "NCCL's costs on that machine, JSON")
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
