// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The file of NVIDIA's example tuner (NCCL's plugins/tuner/example): one row a line,
// collective,min,max,algorithm,protocol,channels,nodes,ranks[,pipe_ops[,registered]], -1 for any.
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/profile/tuner_rows.hpp"

namespace lanewise::host {

// Lines that start with # and empty ones are skipped, also a first line of column names; spaces
// around a field, CRLF and a byte order mark are fine. Where the example tuner guesses (an unknown
// word becomes Ring or Simple, a number that is none becomes 0, an empty field shifts the others)
// this throws Error with file, line and what was expected. Numbers never depend on the locale.
[[nodiscard]] std::vector<TunerRow> parse_tuner_csv(std::string_view text, const std::string& file);
[[nodiscard]] std::vector<TunerRow> read_tuner_csv(const std::filesystem::path& path);

// A line of column names in a comment, then one line a row, in the words that the example knows.
[[nodiscard]] std::string format_tuner_csv(std::span<const TunerRow> rows);

}  // namespace lanewise::host
