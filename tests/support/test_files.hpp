// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Where the files of tests are.
#include <filesystem>
#include <string>

namespace lanewise::testing {

// Below tests/: our own measurements and machines.
[[nodiscard]] std::filesystem::path test_file(const std::string& name);

// Files of others, beside the project on its developers' machines and never part of it: what they
// show is tested with files of ours as well. Check that one exists.
[[nodiscard]] std::filesystem::path third_party_file(const std::string& name);

}  // namespace lanewise::testing
