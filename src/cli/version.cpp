// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/version.hpp"

#include <cstdio>

#include "commands.hpp"

namespace lanewise::cli {

void add_version(CLI::App& app) {
  app.add_subcommand("version", "Print the version")->callback([] {
    std::printf("lanewise %.*s\n", static_cast<int>(version.size()), version.data());
  });
}

}  // namespace lanewise::cli
