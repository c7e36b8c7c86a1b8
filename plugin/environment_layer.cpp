// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "environment_layer.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>

#include "core/profile/base_environment.hpp"
#include "core/profile/launch_plan.hpp"
#include "guard.hpp"
#include "host/nccl/nccl_library.hpp"
#include "host/process/fork_lock.hpp"
#include "host/process/log.hpp"
#include "host/process/settings.hpp"
#include "host/profile/launch_files.hpp"
#include "host/profile/profile_search.hpp"
#include "machine.hpp"
#include "translate.hpp"
#include "variable_store.hpp"

namespace lanewise::plugin {
namespace {

// NCCL's env plugin has no context to hang this on. No std::call_once: an exception cannot leave it
// where libgcc is linked statically (the process is ended).
constinit VariableStore answers;
constinit host::ForkLock layer_lock;
constinit bool is_answering = false;
constinit bool is_set = false;

// NCCL_THREAD_THRESHOLDS by ranks, where each communicator has its own: written before the name is.
using Thresholds = std::array<char, 24>;
constinit std::array<Thresholds, most_ranks_with_base_of_their_own + 1> base_answers{};
constinit std::atomic<bool> has_base_answers = false;
constinit thread_local int ranks_of_this_thread = 0;

host::Log open_log(const host::Settings& settings, abi::DebugLogger logger) {
  host::Log log({settings.log_level, to_log_callback(logger), settings.log_file});
  log_unknown_names(log, settings);
  return log;
}

std::optional<host::FoundProfile> find_profile(const host::Settings& settings,
                                               const std::optional<NcclRelease>& release) {
  if (settings.mode != host::Mode::apply) return std::nullopt;
  const Machine& machine = machine_of_process(settings.machine);
  if (machine.topology.gpus.empty() && settings.profile.empty()) return std::nullopt;
  return host::find_profile(settings.profile, fingerprint(machine.topology),
                            host::profile_folders(), release);
}

void log_plan(const host::Log& log, const LaunchPlan& plan, const char* verb) {
  for (const auto& variable : plan.variables)
    log.write(host::LogLevel::info, "lanewise: " + std::string(verb) + " " + variable.name + "=" +
                                        variable.value + " (" + variable.reason + ")");
  for (const auto& remark : plan.remarks) log.write(host::LogLevel::info, "lanewise: " + remark);
}

// The loader path is NCCL's affair by now: it has found this library.
LaunchPlan plan(const Environment& own, const host::Settings& settings,
                const std::optional<NcclRelease>& release) {
  LaunchRequest request;
  request.own = own;
  request.release = release;
  if (settings.mode != host::Mode::apply) request.environment = EnvironmentUse::leave;
  const auto found = find_profile(settings, release);
  const bool is_for_release = found && release && found->profile.nccl == *release;
  if (is_for_release) request.profile = &found->profile;
  auto made = plan_launch(request);
  if (const auto missing = host::find_missing_file(made); !missing.empty()) {
    request.profile = nullptr;
    made = plan_launch(request);
    made.remarks.push_back("profile " + found->path.string() + ": " + missing +
                           ": its environment is not applied");
  }
  if (found && !is_for_release)
    made.remarks.push_back("profile " + found->path.string() + " was made with NCCL " +
                           to_string(found->profile.nccl) + ", here is NCCL " +
                           (release ? to_string(*release) : "of an unknown release") +
                           ": its environment is not applied");
  return made;
}

void set_variables(abi::DebugLogger logger, const Environment& own,
                   const host::Settings& settings) {
  const auto library = host::find_nccl_library({reinterpret_cast<const void*>(logger)});
  const auto made = plan(own, settings, library ? std::optional(library->release) : std::nullopt);
  for (const auto& variable : made.variables)
    ::setenv(variable.name.c_str(), variable.value.c_str(), 0);
  log_plan(open_log(settings, logger), made, "set");
}

void publish_base(const NcclRelease& release) {
  for (int ranks = 2; ranks <= most_ranks_with_base_of_their_own; ++ranks) {
    const auto text = base_environment(release, ranks).at(base_variable);
    auto& answer = base_answers[static_cast<std::size_t>(ranks)];
    std::copy_n(text.c_str(), std::min(text.size(), answer.size() - 1), answer.begin());
  }
  has_base_answers.store(true, std::memory_order_release);
}

// Nullptr: this thread has no communicator with a value of its own.
const char* base_of_this_thread() noexcept {
  const int ranks = ranks_of_this_thread;
  if (ranks < 2 || ranks > most_ranks_with_base_of_their_own) return nullptr;
  if (!has_base_answers.load(std::memory_order_acquire)) return nullptr;
  return base_answers[static_cast<std::size_t>(ranks)].data();
}

}  // namespace

void open_env(abi::DebugLogger logger, const NcclRelease& release) {
  const std::lock_guard lock(layer_lock);
  if (is_answering) return;
  const auto own = host::read_process_environment();
  const auto settings = host::parse_settings(own);
  if (settings.mode == host::Mode::off) return;
  const auto made = plan(own, settings, release);
  Environment variables;
  for (const auto& variable : made.variables) variables.emplace(variable.name, variable.value);
  answers.publish(variables);
  if (made.has_base_environment && has_base_of_each_communicator(release)) publish_base(release);
  is_answering = true;
  log_plan(open_log(settings, logger), made, "answer");
}

const char* answer_env(const char* name) noexcept {
  if (name == nullptr) return nullptr;
  if (const char* own = std::getenv(name)) return own;
  const char* base = std::strcmp(name, base_variable) == 0 ? base_of_this_thread() : nullptr;
  return base != nullptr ? base : answers.find(name);
}

void begin_communicator(int ranks) noexcept { ranks_of_this_thread = ranks; }

void open_net(abi::DebugLogger logger) {
  const auto own = host::read_process_environment();
  const auto settings = host::parse_settings(own);
  open_log(settings, logger)
      .write(host::LogLevel::info,
             "lanewise: no network of its own: NCCL goes on with InfiniBand or sockets");
  if (settings.environment_change != host::EnvironmentChange::allowed) return;
  if (settings.mode == host::Mode::off) return;
  const std::lock_guard lock(layer_lock);
  if (is_set) return;
  set_variables(logger, own, settings);
  is_set = true;
}

Environment read_environment_in_force() {
  auto environment = host::read_process_environment();
  if (const char* base = base_of_this_thread()) environment.emplace(base_variable, base);
  environment.merge(answers.variables());
  return environment;
}

}  // namespace lanewise::plugin
