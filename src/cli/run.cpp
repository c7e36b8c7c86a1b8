// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "core/error.hpp"
#include "launch.hpp"

namespace lanewise::cli {
namespace {

// The statuses of a POSIX shell for a command that it cannot start.
constexpr int exit_not_found = 127;
constexpr int exit_not_executable = 126;

struct RunOptions {
  LaunchOptions launch;
  std::vector<std::string> words;  // that stand before "--"
};

void require_command(const RunOptions& options) {
  constexpr const char* usage = ": lanewise run [--profile FILE] [--direct] -- CMD...";
  if (!options.words.empty())
    throw Error(options.words.front() + ": expected -- before the command" + usage);
  if (options.launch.command.empty())
    throw Error(std::string("expected a command after --") + usage);
}

// Becomes the command, so that its signals and its exit status are its own.
[[noreturn]] void become(std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (auto& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  ::execvp(arguments.front(), arguments.data());
  const int cause = errno;
  std::fprintf(stderr, "lanewise: %s: %s\n", arguments.front(), std::strerror(cause));
  throw Exit{cause == ENOENT ? exit_not_found : exit_not_executable};
}

void run(const RunOptions& options) {
  require_command(options);
  auto command = options.launch.command;
  const auto launch = prepare_launch(options.launch, LaunchTarget::child);
  print_launch(launch.plan);
  for (const auto& variable : launch.plan.variables)
    ::setenv(variable.name.c_str(), variable.value.c_str(), 1);
  become(command);
}

}  // namespace

void add_run(CLI::App& app, std::span<const char* const> arguments) {
  auto options = std::make_shared<RunOptions>();
  if (!arguments.empty()) options->launch.command.assign(arguments.begin() + 1, arguments.end());
  auto* command = app.add_subcommand("run", "Start a server as it was tuned: run -- CMD...");
  add_launch_options(*command, options->launch);
  command->add_option("command", options->words, "The command and its arguments, after --")
      ->type_name("-- CMD...");
  command->positionals_at_end();
  command->callback([options] { run(*options); });
}

}  // namespace lanewise::cli
