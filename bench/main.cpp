// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <array>
#include <cstdio>
#include <exception>

#include "commands.hpp"
#include "lanewise/error.hpp"

namespace {

constexpr std::array commands = {
    lanewise::bench::add_compare,     lanewise::bench::add_decide,
    lanewise::bench::add_environment, lanewise::bench::add_environments,
    lanewise::bench::add_links,       lanewise::bench::add_rank,
    lanewise::bench::add_replay,      lanewise::bench::add_sweep,
    lanewise::bench::add_tune,
};

int report(const std::exception& error, int status) {
  std::fflush(stdout);
  std::fprintf(stderr, "lanewise-bench: %s\n", error.what());
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Measures all-reduces as an engine runs them, tunes, and proves the gain.",
               "lanewise-bench");
  app.require_subcommand(1);
  for (const auto add_command : commands) add_command(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : lanewise::bench::exit_bad_input;
  } catch (const lanewise::bench::Exit& exit) {
    return exit.status;
  } catch (const lanewise::Error& error) {
    return report(error, lanewise::bench::exit_bad_input);
  } catch (const std::exception& error) {
    return report(error, lanewise::bench::exit_failure);
  }
}
