// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "host/nccl/nccl_environment.hpp"
#include "host/process/settings.hpp"

// One NAME=VALUE a line, as an environment: taken whole or refused with an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  lanewise::Environment environment;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto equals = line.find('=');
    if (equals != std::string_view::npos)
      environment.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  (void)lanewise::host::parse_nccl_limits(environment);
  (void)lanewise::host::find_user_filter(environment);
  try {
    (void)lanewise::host::parse_settings(environment);
  } catch (const lanewise::Error&) {
  }
  return 0;
}
