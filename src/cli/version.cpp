// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <CLI/CLI.hpp>
#include <cstdio>

#include "commands.hpp"
#include "program/build_commit.hpp"

namespace lanewise::cli {

void add_version(CLI::App& app) {
  app.add_subcommand("version", "Print the version and the commit that it was built from")
      ->callback([] { std::puts(program::describe_version("lanewise").c_str()); });
}

}  // namespace lanewise::cli
