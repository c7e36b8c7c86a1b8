// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/doctor/plugin_lookup.hpp"

#include <algorithm>
#include <array>

#include "core/letter_case.hpp"

namespace lanewise {
namespace {

constexpr NcclRelease static_plugins_since{2, 22, 0};
constexpr NcclRelease short_names_since{2, 26, 0};
constexpr NcclRelease narrow_lookup_since{2, 27, 0};
constexpr NcclRelease wide_lookup_since{2, 27, 5};
constexpr NcclRelease none_since{2, 28, 3};
constexpr std::size_t longest_name = 254;
constexpr std::string_view static_plugin = "static_plugin";
constexpr std::string_view default_name = "libnccl-tuner.so";

struct SymbolSince {
  int version;
  NcclRelease release;
};
constexpr std::array symbols = {SymbolSince{7, {2, 32, 6}}, SymbolSince{6, {2, 30, 3}},
                                SymbolSince{5, {2, 28, 3}}, SymbolSince{4, {2, 24, 3}},
                                SymbolSince{3, {2, 22, 3}}, SymbolSince{2, {2, 21, 5}}};

bool is_file_name(std::string_view value) {
  return value.starts_with("lib") && value.ends_with(".so") && value.size() >= 7;
}

std::vector<std::string> names_of(const std::string& value, const NcclRelease& release) {
  const auto long_form = "libnccl-tuner-" + value + ".so";
  if (release >= narrow_lookup_since && release < wide_lookup_since)
    return {is_file_name(value) ? value : long_form};
  const bool is_whole = value.find('/') != std::string::npos || is_file_name(value);
  if (release >= wide_lookup_since && is_whole) return {value};
  return {value, long_form};
}

}  // namespace

TunerLookup look_up_tuner(std::string_view value, const NcclRelease& release) {
  TunerLookup lookup;
  if (value.empty()) {
    lookup.names = {std::string(default_name)};
    return lookup;
  }
  const auto lower = to_lower(value);
  if (release >= none_since && lower == "none") {
    lookup.source = TunerSource::none;
    return lookup;
  }
  if (release >= static_plugins_since && static_plugin.starts_with(lower)) {
    lookup.source = TunerSource::main_program;
    return lookup;
  }
  lookup.is_cut = release >= short_names_since && value.size() > longest_name;
  lookup.names =
      names_of(std::string(lookup.is_cut ? value.substr(0, longest_name) : value), release);
  return lookup;
}

std::vector<std::string> tuner_symbols(const NcclRelease& release) {
  std::vector<std::string> names;
  for (const auto& symbol : symbols) {
    if (release >= symbol.release)
      names.push_back("ncclTunerPlugin_v" + std::to_string(symbol.version));
  }
  return names;
}

}  // namespace lanewise
