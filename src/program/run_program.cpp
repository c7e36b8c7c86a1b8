// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "program/run_program.hpp"

#include <CLI/CLI.hpp>
#include <string>

#include "core/error.hpp"
#include "given_values.hpp"
#include "host/process/exit_status.hpp"
#include "host/process/standard_output.hpp"
#include "program/build_commit.hpp"

namespace lanewise::program {
namespace {

const CLI::App& last_named(const CLI::App& app) {
  const auto named = app.get_subcommands();
  return named.empty() ? app : last_named(*named.back());
}

// CLI11 would ask for a subcommand, or print the help of --help, without a word on what it passed.
void refuse_unknown_command(const CLI::App& app) {
  const CLI::App& last = last_named(app);
  std::string known;
  // Commands without a group are for the program itself.
  for (const CLI::App* command : last.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) known += ", " + command->get_name();
  const auto unknown = last.remaining();
  if (known.empty() || unknown.empty()) return;
  throw Error(unknown.front() + ": expected " + (&last == &app ? "" : last.get_name() + " with ") +
              "one of " + known.substr(2) + ", or --help");
}

}  // namespace

int run_program(CLI::App& app, std::span<const AddCommand> commands, int argc,
                const char* const* argv) {
  host::hold_standard_descriptors();
  app.require_subcommand(1);
  app.set_version_flag("--version", describe_version(app.get_name()));
  for (const auto& add_command : commands) add_command(app);
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  // Before any command acts.
  app.parse_complete_callback([&] { refuse_empty_values(last_named(app), arguments); });
  return host::exit_status_of(app.get_name(), [&] {
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      refuse_unknown_command(app);
      if (app.exit(error) != 0) throw host::Exit{host::exit_bad_input};
    }
    host::flush_standard_output();
  });
}

}  // namespace lanewise::program
