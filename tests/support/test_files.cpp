// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "support/test_files.hpp"

namespace lanewise::testing {

std::filesystem::path test_file(const std::string& name) {
  return std::filesystem::path(LANEWISE_TEST_DIR) / name;
}

std::filesystem::path third_party_file(const std::string& name) {
  return std::filesystem::path(LANEWISE_TEST_DIR) / "../../shared/fixtures" / name;
}

}  // namespace lanewise::testing
