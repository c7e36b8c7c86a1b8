// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// How a program of ours ends: the statuses that all commands share, and the one place that turns an
// error into a message and a status.
#include <functional>
#include <string_view>

namespace lanewise::host {

// Ends the program with this status and no message of its own.
struct Exit {
  int status = 0;
};

inline constexpr int exit_failure = 1;    // something went wrong at run time
inline constexpr int exit_bad_input = 2;  // wrong options or files, or a machine that cannot serve

// 0 where `body` returns; the status of an Exit; exit_bad_input for a lanewise::Error and
// exit_failure for any other exception of std, each with "`program`: what" on standard error.
[[nodiscard]] int exit_status_of(std::string_view program, const std::function<void()>& body);

}  // namespace lanewise::host
