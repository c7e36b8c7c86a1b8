// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/error.hpp"
#include "host/profile/tuner_csv.hpp"

// NVIDIA's table is refused with an Error or survives being written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    auto rows = lanewise::host::parse_tuner_csv(text, "fuzz.csv");
    const auto written = lanewise::host::format_tuner_csv(rows);
    auto again = lanewise::host::parse_tuner_csv(written, "written.csv");
    for (auto& row : rows) row.line = 0;
    for (auto& row : again) row.line = 0;
    if (rows != again) std::abort();
  } catch (const lanewise::Error&) {
  }
  return 0;
}
