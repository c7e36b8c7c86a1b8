// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/error.hpp"
#include "host/profile/profile_file.hpp"

// A profile is refused with an Error or survives being written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto profile = lanewise::host::parse_profile(text, "fuzz.json");
    const auto written = lanewise::host::format_profile(profile);
    if (lanewise::host::parse_profile(written, "written.json") != profile) std::abort();
  } catch (const lanewise::Error&) {
  }
  return 0;
}
