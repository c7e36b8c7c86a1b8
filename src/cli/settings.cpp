// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/process/settings.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "commands.hpp"

namespace lanewise::cli {
namespace {

// A table that reads well both in a terminal and in README.md, which is tested to hold it.
void print_settings() {
  std::printf("| Variable | Default | Meaning |\n| --- | --- | --- |\n");
  for (const auto& setting : host::setting_descriptions()) {
    const std::string name(setting.name);
    const std::string value(setting.default_value.empty() ? "not set" : setting.default_value);
    const std::string meaning(setting.meaning);
    std::printf("| %s | %s | %s |\n", name.c_str(), value.c_str(), meaning.c_str());
  }
}

}  // namespace

void add_settings(CLI::App& app) {
  app.add_subcommand("settings", "List the environment variables of the plugin")
      ->callback(print_settings);
}

}  // namespace lanewise::cli
