// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "given_values.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>

#include "core/error.hpp"

namespace lanewise::program {
namespace {

bool has_empty_item(std::string_view list) {
  return list.starts_with(',') || list.ends_with(',') || list.find(",,") != std::string_view::npos;
}

const CLI::Option* find_list(const CLI::App& command, const std::string& name) {
  for (const CLI::Option* option : command.get_options())
    if (option->get_delimiter() == ',' && option->check_name(name)) return option;
  return nullptr;
}

// CLI11 drops the empty items, so that they are in the arguments alone.
void refuse_empty_items(const CLI::App& command, std::span<const char* const> arguments) {
  const CLI::Option* list = nullptr;
  for (const std::string_view argument : arguments) {
    std::string_view value = argument;
    if (argument.starts_with('-') && argument.size() > 1) {
      const auto equals = std::min(argument.find('='), argument.size());
      list = find_list(command, std::string(argument.substr(0, equals)));
      value = argument.substr(std::min(equals + 1, argument.size()));
      if (equals == argument.size()) continue;
    }
    if (list != nullptr && has_empty_item(value))
      throw Error(list->get_name() + " " + std::string(value) +
                  ": expected a list without an empty item");
  }
}

}  // namespace

void refuse_empty_values(const CLI::App& command, std::span<const char* const> arguments) {
  refuse_empty_items(command, arguments);
  for (const CLI::Option* option : command.get_options()) {
    const auto& values = option->results();
    if (std::find(values.begin(), values.end(), "") != values.end())
      throw Error(option->get_name() + ": expected a value, found nothing");
  }
}

}  // namespace lanewise::program
