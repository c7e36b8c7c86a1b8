// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A data file that comes with the tool: from share/lanewise beside the program where it is
// installed, so that it can be mended there, else the copy in the program.
#include <string>
#include <string_view>

namespace lanewise::host {

struct BundledText {
  std::string name;  // the file, for errors
  std::string text;
};

[[nodiscard]] BundledText read_bundled_text(std::string_view file_name, std::string_view built_in);

}  // namespace lanewise::host
