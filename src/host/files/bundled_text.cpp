// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "files/bundled_text.hpp"

#include <filesystem>
#include <system_error>

#include "host/files/text_file.hpp"

namespace lanewise::host {

BundledText read_bundled_text(std::string_view file_name, std::string_view built_in) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto file = (program.parent_path() / "../share/lanewise" / file_name).lexically_normal();
  if (!error && std::filesystem::is_regular_file(file, error))
    return {.name = file.string(), .text = read_text_file(file)};
  return {.name = std::string(file_name), .text = std::string(built_in)};
}

}  // namespace lanewise::host
