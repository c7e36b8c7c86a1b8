// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <string_view>

#include "core/error.hpp"
#include "core/nccl/choice.hpp"
#include "host/files/json.hpp"
#include "host/files/text_file.hpp"
#include "host/profile/profile_file.hpp"
#include "profile/fit_json.hpp"

namespace lanewise::host {
namespace {

// Joins `format(item)` for each item: "a, b".
template <typename Range, typename Format>
std::string join(const Range& items, std::string_view separator, Format format) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += separator;
    text += format(item);
  }
  return text;
}

std::string format_variables(const Environment& variables) {
  return '{' +
         join(variables, ", ",
              [](const auto& variable) {
                return quote_json(variable.first) + ": " + quote_json(variable.second);
              }) +
         '}';
}

std::string format_rule(const Rule& rule) {
  std::string text = R"(        {"bytes": [)" + std::to_string(rule.bytes.low) + ", " +
                     std::to_string(rule.bytes.high) + R"(], "choice": ")" +
                     to_string(rule.choice) + '"';
  if (rule.samples > 0) {
    text += R"(, "stock_us": )" + format_json_number(rule.stock_us) + R"(, "us": )" +
            format_json_number(rule.us) + R"(, "speedup": )" + format_json_number(rule.speedup) +
            R"(, "ci95": [)" + format_json_number(rule.ci95_low) + ", " +
            format_json_number(rule.ci95_high) + R"(], "samples": )" + std::to_string(rule.samples);
  }
  return text + '}';
}

// "[]" or the items between lines of `indent` spaces.
template <typename Range, typename Format>
std::string format_list(const Range& items, std::size_t indent, Format format) {
  if (std::empty(items)) return "[]";
  return "[\n" + join(items, ",\n", format) + '\n' + std::string(indent, ' ') + ']';
}

std::string format_stock_sizes(const RuleSet& rules) {
  if (rules.stock_sizes().empty()) return "";
  return R"(, "stock_stays": [)" +
         join(rules.stock_sizes(), ", ", [](std::size_t bytes) { return std::to_string(bytes); }) +
         ']';
}

std::string format_direct_range(const DirectRange& range) {
  return R"(        {"bytes": [)" + std::to_string(range.bytes.low) + ", " +
         std::to_string(range.bytes.high) + R"(], "form": )" + quote_json(range.form) +
         R"(, "nccl_us": )" + format_json_number(range.nccl_us) + R"(, "us": )" +
         format_json_number(range.us) + R"(, "speedup": )" + format_json_number(range.speedup) +
         R"(, "ci95": [)" + format_json_number(range.ci95_low) + ", " +
         format_json_number(range.ci95_high) + R"(], "samples": )" + std::to_string(range.samples) +
         '}';
}

std::string format_direct(const std::vector<DirectRange>& ranges) {
  return ranges.empty() ? "" : R"(, "direct": )" + format_list(ranges, 6, format_direct_range);
}

std::string format_unsafe_choices(const std::vector<UnsafeChoice>& choices) {
  if (choices.empty()) return "";
  return R"(, "unsafe": )" + format_list(choices, 6, [](const UnsafeChoice& unsafe) {
           return R"(        {"choice": )" + quote_json(to_string(unsafe.choice)) +
                  R"(, "evidence": )" + quote_json(unsafe.evidence) + '}';
         });
}

std::string format_group(const GpuGroup& group) {
  return R"(      {"ranks": )" + std::to_string(group.ranks) + R"(, "gpus": [)" +
         join(group.gpus, ", ", [](int gpu) { return std::to_string(gpu); }) +
         (group.link == LinkKind::nvlink ? R"(], "link": "nvlink")" : "]") +
         R"(, "ll128_verified": )" + (group.is_ll128_verified ? "true" : "false") +
         R"(, "rules": )" + format_list(group.rules.rules(), 6, format_rule) +
         format_stock_sizes(group.rules) + format_direct(group.direct) +
         (group.fit ? R"(, "model": )" + format_fit(*group.fit) : "") +
         format_unsafe_choices(group.unsafe) + '}';
}

std::string format_environment(const TunedEnvironment& environment) {
  return R"(    {"variables": )" + format_variables(environment.variables) + R"(, "speedup": )" +
         format_json_number(environment.speedup) + R"(, "memory_bytes": )" +
         std::to_string(environment.memory_bytes) + R"(, "groups": )" +
         format_list(environment.groups, 4, format_group) + '}';
}

std::string format_unsafe(const UnsafeSetting& setting) {
  return R"(    {"variables": )" + format_variables(setting.variables) + R"(, "evidence": )" +
         quote_json(setting.evidence) + '}';
}

}  // namespace

std::string format_profile(const Profile& profile) {
  std::string text = "{\n";
  const auto add = [&text](std::string_view name, const std::string& value) {
    text += "  \"";
    text += name;
    text += "\": " + value;
    text += name == "unsafe" ? "\n" : ",\n";
  };
  add("schema_version", std::to_string(Profile::schema_version));
  add("fingerprint", quote_json(profile.fingerprint));
  add("machine", quote_json(profile.machine));
  add("driver", quote_json(profile.driver));
  add("nccl", quote_json(to_string(profile.nccl)));
  add("created", quote_json(profile.created));
  add("best_environment",
      profile.best_environment ? std::to_string(*profile.best_environment) : "null");
  add("environments", format_list(profile.environments, 2, format_environment));
  add("unsafe", format_list(profile.unsafe, 2, format_unsafe));
  return text + "}\n";
}

void write_profile(const std::filesystem::path& path, const Profile& profile) {
  const std::string text = format_profile(profile);
  // A profile that nobody can read must not replace one that works.
  (void)parse_profile(text, path.string());
  write_text_file(path, text);
}

}  // namespace lanewise::host
