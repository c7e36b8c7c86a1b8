// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "plugin_control.hpp"

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <stdexcept>

#include "core/error.hpp"

namespace lanewise::bench {
namespace {

namespace fs = std::filesystem;
constexpr const char* plugin_name = "libnccl-tuner-lanewise.so";

std::optional<Choice> choice_of(const lanewise_answer_v1& answer) {
  if (answer.algorithm < 0 || answer.algorithm >= static_cast<int>(algorithm_count) ||
      answer.protocol < 0 || answer.protocol >= static_cast<int>(protocol_count)) {
    return std::nullopt;
  }
  return Choice{static_cast<Algorithm>(answer.algorithm), static_cast<Protocol>(answer.protocol),
                answer.channels};
}

Source source_of(int number) {
  switch (number) {
    case LANEWISE_SOURCE_PROFILE:
      return Source::profile;
    case LANEWISE_SOURCE_MODEL:
      return Source::model;
    case LANEWISE_SOURCE_FORCED:
      return Source::forced;
    default:
      return Source::none;
  }
}

}  // namespace

PluginControl::PluginControl(const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error("the plugin cannot be opened: " + std::string(dlerror()));
  }
  control_ = static_cast<const lanewise_control_v1_t*>(dlsym(library, "lanewise_control_v1"));
  if (control_ == nullptr) throw Error(file, 0, "this plugin exports no lanewise_control_v1");
}

void PluginControl::set_arm(ControlMode arm) const {
  static constexpr std::array numbers = {LANEWISE_ARM_SETTINGS, LANEWISE_ARM_STOCK,
                                         LANEWISE_ARM_OBSERVE};
  if (control_->set_arm(numbers[static_cast<std::size_t>(arm)]) != 0) {
    throw std::runtime_error("the plugin refuses this arm");
  }
}

void PluginControl::force(const Choice& choice) const {
  if (control_->force(static_cast<int>(choice.algorithm), static_cast<int>(choice.protocol),
                      choice.channels) != 0) {
    throw std::runtime_error("the plugin refuses to force " + to_string(choice));
  }
}

std::optional<Answer> PluginControl::last_answer() const {
  lanewise_answer_v1 answer{};
  if (control_->last_answer(&answer) != 0) return std::nullopt;
  return Answer{choice_of(answer), source_of(answer.source), answer.is_applied != 0};
}

std::string find_plugin(const std::string& given) {
  if (!given.empty()) {
    if (!fs::is_regular_file(given)) throw Error(given, 0, "is no plugin file");
    return fs::canonical(given).string();
  }
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  for (const char* place : {"../lib", "../plugin", "."}) {
    const fs::path file = folder / place / plugin_name;
    if (fs::is_regular_file(file)) return fs::canonical(file).string();
  }
  throw Error(std::string(plugin_name) + " is not beside lanewise-bench: name it with --plugin");
}

}  // namespace lanewise::bench
