// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "core/byte_size.hpp"
#include "core/error.hpp"
#include "core/nccl/known_releases.hpp"
#include "core/nccl/launch_rule.hpp"
#include "explain_gpus.hpp"
#include "explain_output.hpp"
#include "explain_scene.hpp"
#include "host/nccl/nccl_environment.hpp"

namespace lanewise::cli {
namespace {

constexpr int most_ranks = 1024;
constexpr int most_gpu_number = 65535;
constexpr std::size_t largest_size = std::size_t{1} << 40U;

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

std::size_t size_of(const std::string& text) {
  const auto bytes = parse_byte_size(text);
  if (!bytes || *bytes == 0 || *bytes > largest_size)
    throw Error("--bytes " + text + ": expected 1 to " + std::to_string(largest_size) +
                " bytes, as 14336, 14K or 4M");
  return *bytes;
}

std::vector<std::size_t> sizes_of(const ExplainOptions& options) {
  std::vector<std::size_t> sizes;
  for (const auto& text : options.bytes) sizes.push_back(size_of(text));
  if (!sizes.empty()) return sizes;
  const std::size_t type = size_of_type(options.dtype);
  for (const auto tokens : options.tokens) {
    // Each factor is at most largest_size, the product of two need not fit a number.
    if (tokens > largest_size / type / options.hidden)
      throw Error("--hidden " + std::to_string(options.hidden) + " times --tokens " +
                  std::to_string(tokens) + ": expected at most " + std::to_string(largest_size) +
                  " bytes");
    sizes.push_back(options.hidden * type * tokens);
  }
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

void add_gpu_remarks(const ExplainScene& scene, std::vector<std::string>& remarks) {
  remarks.insert(remarks.end(), scene.gpu_remarks.begin(), scene.gpu_remarks.end());
  if (!scene.is_first_group) return;
  const auto remark = std::to_string(scene.used.gpus.size()) + " ranks on GPUs " +
                      scene.used_numbers + ", the first ones; --gpus names others";
  const auto others = describe_other_groups(scene);
  remarks.push_back(remark + (others.empty() ? "." : ": " + others + "."));
}

std::string describe_estimate(const ExplainScene& scene) {
  std::string text = "NCCL's costs are estimated from the machine";
  if (scene.here.inputs.nodes == 1)
    text += ": its search would find " + to_string(scene.estimated.ring);
  if (!scene.topology.stated_paths.empty())
    text +=
        ", if these are Gen5 x16 GPUs of compute capability 12.0 and the sockets' link is a slow "
        "one, which the table of nvidia-smi does not say";
  return text + "; --table FILE takes its own.";
}

// What the release takes away, and how to get it back.
void add_release_remarks(const ExplainScene& scene, std::vector<std::string>& remarks) {
  const PolicyInputs& inputs = scene.here.inputs;
  const std::string release = "NCCL " + to_string(inputs.release);
  if (is_newer_than_known(inputs.release))
    remarks.push_back(release + " is newer than any that is known: the rules of " +
                      std::to_string(newest_known_rule.major) + "." +
                      std::to_string(newest_known_rule.minor) + " are assumed.");
  if (channel_request(inputs.release) == ChannelRequest::replaces ||
      has_own_thresholds(inputs.limits))
    return;
  remarks.push_back(release +
                    " lets a tuner only lower its channels: more is gained with "
                    "NCCL_ENV_PLUGIN=lanewise, or by `lanewise run -- COMMAND`.");
}

std::vector<std::string> remarks_of(const ExplainScene& scene) {
  std::vector<std::string> remarks;
  if (scene.is_bundled) remarks.emplace_back("No GPU here: the machine that ships with the tool.");
  if (scene.settings.mode != host::Mode::apply)
    remarks.push_back("LANEWISE_MODE=" + std::string(name_of(scene.settings.mode)) +
                      ": NCCL keeps its own choices and its own environment.");
  add_release_remarks(scene, remarks);
  if (!scene.here.refusal.empty())
    remarks.push_back(scene.found->path.string() + " is not used: " + scene.here.refusal);
  if (!scene.table) remarks.push_back(describe_estimate(scene));
  add_gpu_remarks(scene, remarks);
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

// As NCCL hands them to a tuner: without what NCCL_ALGO and NCCL_PROTO forbid.
CostArray costs_of(const ExplainScene& scene, const ExplainLayer& layer, std::size_t bytes) {
  if (scene.table) return filter_costs(layer.filter, host::costs_at(*scene.table, bytes));
  CostModelInputs estimated = scene.estimated;
  estimated.ll128 = layer.filter.ll128;
  return filter_costs(layer.filter, cost_array(bytes, estimated));
}

ExplainedSize explain_size(const ExplainScene& scene, std::size_t bytes) {
  const auto& inputs = scene.here.inputs;
  const Query query{Collective::all_reduce, bytes, inputs.ranks, inputs.nodes, 1};
  const auto in = [&](const ExplainLayer& layer) {
    CostArray costs = costs_of(scene, layer, bytes);
    const CostTable table(costs.data(), algorithm_count, protocol_count);
    auto explanation = explain(layer.inputs, query, table, layer.communicator);
    if (explanation.has_absurd_costs)
      explanation.reason += scene.table
                                ? "; NCCL's search found no ring, its costs are not real"
                                : "; by our estimate NCCL's search finds no ring, so that its "
                                  "costs are not real";
    return explanation;
  };
  ExplainedSize row{bytes, in(scene.here), std::nullopt};
  if (scene.with_best) row.with_best = in(*scene.with_best);
  return row;
}

void run_explain(ExplainOptions options) {
  std::optional<ExplainedModel> model;
  if (!options.model.empty()) {
    model = ExplainedModel{host::find_model(options.model), options.tokens};
    options.hidden = model->shape.hidden;
  }
  ExplainScene scene;
  set_up(scene, options);
  ExplainReport report = start_report(options, scene);
  report.model = std::move(model);
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
  command
      ->add_option("--gpus", options->gpus,
                   "The ranks' GPUs, by the numbers of `lanewise topology`")
      ->delimiter(',')
      ->check(CLI::Range(0, most_gpu_number));
  command
      ->add_option("--machine", options->machine,
                   "A topology: hwloc's or NCCL's XML, or the table of nvidia-smi topo -m")
      ->type_name("FILE");
  command->add_option("--table", options->table, "NCCL's costs on that machine, JSON")
      ->type_name("FILE");
  command->add_option("--profile", options->profile, "A profile; else the machine's own")
      ->type_name("FILE");
  command->add_option("--nccl", options->nccl, "NCCL's version, as 2.30.7")->type_name("VERSION");
  command->add_option("--channels", options->channels, "Channels of the communicator, from its log")
      ->check(CLI::Range(1, newest_known_rule.max_channels()));
  const auto size = CLI::Range(std::size_t{1}, largest_size);
  auto* bytes =
      command->add_option("--bytes", options->bytes, "Sizes, as 14336,56K")->delimiter(',');
  auto* hidden = command->add_option("--hidden", options->hidden, "Width of a row")
                     ->capture_default_str()
                     ->excludes(bytes)
                     ->check(size);
  command
      ->add_option("--model", options->model,
                   "A model's width, and the time of its steps, as deepseek-v3")
      ->type_name("NAME")
      ->excludes(bytes)
      ->excludes(hidden);
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
