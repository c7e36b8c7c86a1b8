// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Profiles as JSON files. A file is taken whole or refused whole with its line.
#include <filesystem>
#include <string>
#include <string_view>

#include "core/profile/profile.hpp"

namespace lanewise::host {

// Throws Error(path, line, what was expected): an unusable file or folder (see text_file.hpp), bad
// JSON, another schema_version, unknown or missing words, numbers out of range, overlapping rules,
// a group or environment twice, LL128 where it is not verified, or evidence that does not reach
// gain_limit. A rule may lack all of its evidence (written by hand, samples 0), never a part.
[[nodiscard]] Profile read_profile(const std::filesystem::path& path);
// The same from text; `file` is the name in errors.
[[nodiscard]] Profile parse_profile(std::string_view text, const std::string& file);

// The text that parse_profile reads back to an equal profile, one rule a line.
[[nodiscard]] std::string format_profile(const Profile& profile);
// Atomic (see write_text_file). Throws Error, the old file untouched, also for a profile that
// read_profile would refuse.
void write_profile(const std::filesystem::path& path, const Profile& profile);

}  // namespace lanewise::host
