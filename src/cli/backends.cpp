// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "backends_report.hpp"
#include "commands.hpp"
#include "core/error.hpp"
#include "core/machine/topology_facts.hpp"
#include "host/doctor/engine_process.hpp"
#include "host/engines/backends_file.hpp"
#include "host/machine/topology_source.hpp"

namespace lanewise::cli {
namespace {

struct BackendsOptions {
  std::string engine;
  std::string release;
  int ranks = 0;
  int capability = 0;
  std::string nvlink;
  std::string peer_access;
  int hidden = 7168;
  std::string dtype = "bf16";
  std::vector<int> tokens = {1, 4, 16};
  int prefill_tokens = 8192;
  int max_decode_tokens = 64;
  std::vector<std::string> settings;
  int pid = 0;
  bool wants_json = false;
};

constexpr long long bytes_of_half = 2;
constexpr long long bytes_of_float = 4;

const EngineRelease& find_release(const std::vector<EngineRelease>& engines,
                                  const BackendsOptions& options) {
  std::string known;
  for (const auto& engine : engines) {
    if (engine.engine == options.engine && engine.release == options.release) return engine;
    known += (known.empty() ? "" : ", ") + engine.engine + " " + engine.release;
  }
  throw Error(options.engine + " " + options.release +
              ": its conditions are unknown; known: " + known);
}

bool is_known(const EngineRelease& engine, const std::string& name) {
  return std::ranges::find(engine.settings, name, &EngineSetting::name) != engine.settings.end();
}

// NAME=VALUE, or a flag alone.
void add_setting(const EngineRelease& engine, const std::string& text, CallFacts& facts) {
  const auto equals = text.find('=');
  const auto name = text.substr(0, equals);
  if (!is_known(engine, name)) {
    std::string known;
    for (const auto& setting : engine.settings) known += (known.empty() ? "" : ", ") + setting.name;
    throw Error("--set " + text + ": expected one of " + known);
  }
  facts[name] = equals == std::string::npos ? "1" : text.substr(equals + 1);
}

// A running server's flags and variables, as far as the engine's conditions ask for them.
void add_process(const EngineRelease& engine, int pid, CallFacts& facts) {
  const auto process = host::read_engine_process(pid);
  for (std::size_t index = 0; index < process.words.size(); ++index) {
    const auto& word = process.words[index];
    const auto name = word.substr(0, word.find('='));
    if (!is_known(engine, name)) continue;
    const bool has_value =
        index + 1 < process.words.size() && !process.words[index + 1].starts_with("--");
    facts[name] = word.size() > name.size() ? word.substr(name.size() + 1)
                  : has_value               ? process.words[index + 1]
                                            : "1";
  }
  for (const auto& [name, value] : process.variables) {
    if (is_known(engine, name)) facts[name] = value;
  }
}

std::string truth(const std::string& option, bool otherwise) {
  if (option.empty()) return otherwise ? "1" : "0";
  return option == "yes" ? "1" : "0";
}

// What of the machine is not given by options is taken from this one.
CallFacts machine_facts(const BackendsOptions& options) {
  const bool is_given = options.ranks > 0 && options.capability > 0;
  const Topology topology = is_given ? Topology{} : host::read_topology();
  if (!is_given && topology.gpus.empty())
    throw Error("there is no GPU here: expected --ranks and --capability");
  CallFacts facts;
  const int capability =
      options.capability > 0 ? options.capability : topology.gpus.front().compute_capability;
  const int ranks = options.ranks > 0 ? options.ranks : static_cast<int>(topology.gpus.size());
  const bool is_geforce = !topology.gpus.empty() && capability >= 89 &&
                          topology.gpus.front().model.find("GeForce") != std::string::npos;
  facts["ranks"] = std::to_string(ranks);
  facts["capability"] = std::to_string(capability);
  facts["nvlink"] = truth(options.nvlink, topology.has_nvlink());
  // NVLink between all GPUs of a machine of more than four is an NVSwitch's.
  const bool has_switch = facts["nvlink"] == "1" && capability >= 90 && ranks > 1;
  facts["multicast"] = has_switch ? "1" : "0";
  facts["peer_access"] = facts["nvlink"] == "1" ? "1" : truth(options.peer_access, !is_geforce);
  facts["dtype"] = options.dtype;
  facts["max_decode_tokens"] = std::to_string(options.max_decode_tokens);
  return facts;
}

EngineStep make_step(const BackendsOptions& options, const CallFacts& facts,
                     const std::string& name, int tokens, bool is_captured) {
  const auto element = options.dtype == "fp32" ? bytes_of_float : bytes_of_half;
  EngineStep step{.name = name, .tokens = tokens, .facts = facts};
  step.bytes = static_cast<std::size_t>(static_cast<long long>(tokens) * options.hidden * element);
  step.facts["tokens"] = std::to_string(tokens);
  step.facts["bytes"] = std::to_string(step.bytes);
  step.facts["captured"] = is_captured ? "1" : "0";
  return step;
}

std::string describe_machine(const CallFacts& facts) {
  const auto& capability = facts.at("capability");
  return facts.at("ranks") + " ranks of compute capability " +
         capability.substr(0, capability.size() - 1) + "." + capability.back() +
         (facts.at("nvlink") == "1" ? ", NVLink between all" : ", no NVLink") +
         (facts.at("peer_access") == "1" ? ", peer access" : ", no peer access");
}

BackendsReport make_report(const EngineRelease& engine, const BackendsOptions& options) {
  auto facts = machine_facts(options);
  BackendsReport report{.engine = &engine};
  report.machine = describe_machine(facts);
  report.model = "hidden " + std::to_string(options.hidden) + ", " + options.dtype +
                 ", widest captured step " + std::to_string(options.max_decode_tokens) + " tokens";
  if (options.pid > 0) add_process(engine, options.pid, facts);
  for (const auto& setting : options.settings) add_setting(engine, setting, facts);
  facts = with_defaults(engine, std::move(facts));
  for (const int tokens : options.tokens)
    report.steps.push_back(make_step(options, facts, "decode, verify: graph", tokens, true));
  for (const int tokens : options.tokens)
    report.steps.push_back(make_step(options, facts, "decode, verify: eager", tokens, false));
  report.steps.push_back(
      make_step(options, facts, "prefill: eager", options.prefill_tokens, false));
  return report;
}

void show(const BackendsOptions& options) {
  const auto engines = host::bundled_backends();
  const auto report = make_report(find_release(engines, options), options);
  const auto text = options.wants_json ? backends_to_json(report) : backends_to_text(report);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void add_backends(CLI::App& app) {
  const auto options = std::make_shared<BackendsOptions>();
  auto* command = app.add_subcommand(
      "backends", "Show which all-reduce of a serving engine takes each call, and what changes it");
  const auto sizes = CLI::Range(1, 1 << 24);
  const auto words = CLI::IsMember({"yes", "no"});
  command->add_option("--engine", options->engine, "sglang or vllm")->required();
  command->add_option("--engine-version", options->release, "Its release, such as 0.5.23")
      ->required();
  command->add_option("--ranks", options->ranks, "Tensor-parallel ranks; this machine's GPUs")
      ->check(CLI::Range(2, 1024));
  command->add_option("--capability", options->capability, "Compute capability: 120 for 12.0")
      ->check(CLI::Range(50, 999));
  command->add_option("--nvlink", options->nvlink, "Between all GPUs: yes or no")->check(words);
  command->add_option("--peer-access", options->peer_access, "Between all GPUs: yes or no")
      ->check(words);
  command->add_option("--hidden", options->hidden, "Hidden size of the model")->check(sizes);
  command->add_option("--dtype", options->dtype, "bf16, fp16 or fp32")
      ->check(CLI::IsMember({"bf16", "fp16", "fp32"}));
  command->add_option("--tokens", options->tokens, "Tokens of a decode or verify step")
      ->delimiter(',')
      ->check(sizes);
  command->add_option("--prefill-tokens", options->prefill_tokens, "Tokens of a prefill chunk")
      ->check(sizes);
  command
      ->add_option("--max-decode-tokens", options->max_decode_tokens,
                   "Tokens of the widest step that is captured")
      ->check(sizes);
  command->add_option("--set", options->settings, "NAME=VALUE or a flag of the engine");
  command->add_option("--pid", options->pid, "Take flags and variables of this server")
      ->check(CLI::PositiveNumber);
  command->add_flag("--json", options->wants_json, "Write JSON");
  command->callback([options] { show(*options); });
}

}  // namespace lanewise::cli
