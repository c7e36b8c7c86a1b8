// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What a command writes with --json; the format is result_schema.md's.
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "comparison/comparison.hpp"
#include "ranks/machine.hpp"

namespace lanewise::bench {

// The sections every result has, before ranks are started; warnings also go to stderr.
[[nodiscard]] nlohmann::json start_result(const std::string& command, const Machine& machine);
// One entry of "sizes".
[[nodiscard]] nlohmann::json describe_size(const SizeComparison& comparison);
// ISO 8601, UTC.
[[nodiscard]] std::string now_utc();
// Throws Error where a file cannot be made or what is there is no file: before minutes of
// measuring, not after. An empty path is no file.
void check_writable(const std::string& path);
// Atomic; throws Error where it cannot be written.
void write_result(const std::string& path, const nlohmann::json& result);

}  // namespace lanewise::bench
