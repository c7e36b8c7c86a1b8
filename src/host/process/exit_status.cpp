// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/process/exit_status.hpp"

#include <cstdio>
#include <exception>

#include "core/error.hpp"

namespace lanewise::host {
namespace {

int report(std::string_view program, const std::exception& error, int status) {
  std::fflush(stdout);
  std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(program.size()), program.data(),
               error.what());
  return status;
}

}  // namespace

int exit_status_of(std::string_view program, const std::function<void()>& body) {
  try {
    body();
    return 0;
  } catch (const Exit& exit) {
    return exit.status;
  } catch (const Error& error) {
    return report(program, error, exit_bad_input);
  } catch (const std::exception& error) {
    return report(program, error, exit_failure);
  }
}

}  // namespace lanewise::host
