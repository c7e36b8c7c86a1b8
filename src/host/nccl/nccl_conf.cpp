// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/nccl/nccl_conf.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "core/error.hpp"
#include "host/files/text_file.hpp"

namespace lanewise::host {
namespace {

Environment read_file(const std::filesystem::path& path) {
  try {
    return parse_nccl_conf(view_text_file(path));
  } catch (const Error&) {
    return {};
  }
}

void add_line(std::string_view line, Environment& variables) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const auto equals = line.find('=');
  if (line.starts_with('#') || equals == std::string_view::npos || equals == 0) return;
  variables.emplace(line.substr(0, equals), line.substr(equals + 1));
}

}  // namespace

Environment parse_nccl_conf(std::string_view text) {
  Environment variables;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    add_line(text.substr(0, end), variables);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return variables;
}

Environment read_nccl_conf(const Environment& own, const std::filesystem::path& home,
                           const std::filesystem::path& system_file) {
  Environment added;
  const auto named = own.find("NCCL_CONF_FILE");
  if (named != own.end() && !named->second.empty()) {
    added = read_file(named->second);
  } else if (!home.empty()) {
    added = read_file(home / ".nccl.conf");
  }
  added.merge(read_file(system_file));
  for (const auto& variable : own) added.erase(variable.first);
  return added;
}

Environment read_nccl_conf(const Environment& own) {
  const char* home = std::getenv("HOME");
  return read_nccl_conf(own, home == nullptr ? "" : home, "/etc/nccl.conf");
}

}  // namespace lanewise::host
