// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/nccl/choice.hpp"
#include "core/profile/profile_variable.hpp"
#include "core/statistics.hpp"
#include "host/files/json.hpp"
#include "host/files/text_file.hpp"
#include "host/profile/profile_file.hpp"
#include "profile/fit_json.hpp"

namespace lanewise::host {
namespace {

// Bounds that no real value comes near: they catch a wrong unit or a slip of the hand.
constexpr long long most_direct_bytes = 8LL << 20U;  // that LANEWISE_DIRECT takes
constexpr long long most_samples = 1'000'000;
constexpr double shortest_us = 0.01;
constexpr double longest_us = 1e8;
constexpr double most_speedup = 1000;

struct RuleAt {
  Rule rule;
  JsonField field;
};

Choice read_choice(const JsonField& field, const GpuGroup& group, const NcclRelease& nccl) {
  const auto choice = parse_choice(field.text());
  const int most = nccl.max_channels();
  if (!choice || choice->channels > most)
    field.fail("ALGORITHM/PROTOCOL/CHANNELS with channels 1 to " + std::to_string(most) +
               ", as \"tree/ll/4\"");
  if (choice->protocol == Protocol::ll128 && !group.is_ll128_verified)
    field.fail("no LL128 where the group's ll128_verified is false");
  return *choice;
}

void read_evidence(const JsonField& field, std::string_view baseline, Rule& rule) {
  rule.samples = static_cast<int>(field.at("samples").whole(1, most_samples));
  rule.stock_us = field.at(baseline).number(shortest_us, longest_us);
  rule.us = field.at("us").number(shortest_us, longest_us);
  rule.speedup = field.at("speedup").number(0, most_speedup);
  const auto interval = field.at("ci95");
  const auto ends = interval.items();
  if (ends.size() != 2) interval.fail("[low, high]");
  rule.ci95_low = ends[0].number(0, most_speedup);
  rule.ci95_high = ends[1].number(0, most_speedup);
  if (!(rule.ci95_low <= rule.speedup && rule.speedup <= rule.ci95_high))
    interval.fail("the speedup inside its interval");
  if (!(rule.ci95_low > gain_limit)) interval.fail("a rule only where the lower end is above 1.03");
}

Rule read_rule(const JsonField& field, const GpuGroup& group, const NcclRelease& nccl) {
  field.expect_only({"bytes", "choice", "stock_us", "us", "speedup", "ci95", "samples"});
  Rule rule;
  const auto range = field.at("bytes");
  const auto ends = range.items();
  if (ends.size() != 2) range.fail("[low, high]");
  rule.bytes.low = static_cast<std::size_t>(ends[0].whole(1, most_bytes));
  rule.bytes.high = static_cast<std::size_t>(ends[1].whole(1, most_bytes));
  if (rule.bytes.high < rule.bytes.low) range.fail("the lower end first");
  rule.choice = read_choice(field.at("choice"), group, nccl);
  if (field.members().size() > 2) read_evidence(field, "stock_us", rule);
  return rule;
}

RuleSet read_rules(const JsonField& list, const std::optional<JsonField>& stock,
                   const GpuGroup& group, const NcclRelease& nccl) {
  std::vector<RuleAt> found;
  for (const auto& item : list.items()) found.push_back({read_rule(item, group, nccl), item});
  std::stable_sort(found.begin(), found.end(), [](const RuleAt& a, const RuleAt& b) {
    return a.rule.bytes.low < b.rule.bytes.low;
  });
  std::vector<Rule> rules;
  for (const auto& [rule, field] : found) {
    if (!rules.empty() && rule.bytes.low <= rules.back().bytes.high)
      field.fail("each size in one rule at most, " + std::to_string(rule.bytes.low) +
                 " bytes is in two");
    rules.push_back(rule);
  }
  const RuleSet alone(rules);
  std::vector<std::size_t> stock_sizes;
  for (const auto& size : stock ? stock->items() : std::vector<JsonField>{}) {
    stock_sizes.push_back(static_cast<std::size_t>(size.whole(1, most_bytes)));
    if (alone.find(stock_sizes.back()) != nullptr) size.fail("a size without a rule");
  }
  return RuleSet(std::move(rules), std::move(stock_sizes));
}

std::string read_form(const JsonField& field) {
  auto form = field.text();
  if (std::find(std::begin(direct_forms), std::end(direct_forms), form) == std::end(direct_forms))
    field.fail("one-shot-ll, one-shot-simple or two-shot");
  return form;
}

// Ranges with the same evidence as a rule; its words for stock are NCCL's best here.
DirectRange read_direct_range(const JsonField& field) {
  field.expect_only({"bytes", "form", "nccl_us", "us", "speedup", "ci95", "samples"});
  const auto ends = field.at("bytes").items();
  if (ends.size() != 2) field.at("bytes").fail("[low, high]");
  DirectRange range;
  range.bytes.low = static_cast<std::size_t>(ends[0].whole(1, most_direct_bytes));
  range.bytes.high = static_cast<std::size_t>(ends[1].whole(1, most_direct_bytes));
  if (range.bytes.high < range.bytes.low) field.at("bytes").fail("the lower end first");
  range.form = read_form(field.at("form"));
  Rule evidence;
  read_evidence(field, "nccl_us", evidence);
  range.nccl_us = evidence.stock_us;
  range.us = evidence.us;
  range.speedup = evidence.speedup;
  range.ci95_low = evidence.ci95_low;
  range.ci95_high = evidence.ci95_high;
  range.samples = evidence.samples;
  return range;
}

std::vector<DirectRange> read_direct(const JsonField& list) {
  std::vector<DirectRange> ranges;
  for (const auto& item : list.items()) {
    ranges.push_back(read_direct_range(item));
    if (ranges.size() > 1 && ranges.back().bytes.low <= ranges[ranges.size() - 2].bytes.high)
      item.fail("ranges in order of size that do not overlap");
  }
  return ranges;
}

LinkKind read_link(const JsonField& field) {
  const std::string word = field.text();
  if (word == "pcie") return LinkKind::pcie;
  if (word == "nvlink") return LinkKind::nvlink;
  field.fail("\"pcie\" or \"nvlink\"");
}

std::vector<UnsafeChoice> read_unsafe_choices(const JsonField& list, const GpuGroup& group) {
  std::vector<UnsafeChoice> choices;
  for (const auto& item : list.items()) {
    item.expect_only({"choice", "evidence"});
    const auto choice = parse_choice(item.at("choice").text());
    if (!choice) item.at("choice").fail("ALGORITHM/PROTOCOL/CHANNELS, as \"tree/ll/4\"");
    choices.push_back({*choice, item.at("evidence").text()});
    for (const Rule& rule : group.rules.rules())
      if (rule.choice == *choice) item.fail("a choice that no rule of the group asks for");
  }
  return choices;
}

GpuGroup read_group(const JsonField& field, const NcclRelease& nccl) {
  field.expect_only({"ranks", "gpus", "link", "ll128_verified", "rules", "stock_stays", "direct",
                     "model", "unsafe"});
  GpuGroup group;
  group.ranks = static_cast<int>(field.at("ranks").whole(2, most_ranks));
  const auto gpus = field.at("gpus");
  for (const auto& gpu : gpus.items())
    group.gpus.push_back(static_cast<int>(gpu.whole(0, most_ranks - 1)));
  if (!std::is_sorted(group.gpus.begin(), group.gpus.end())) gpus.fail("positions in order");
  if (!group.gpus.empty() && std::cmp_not_equal(group.gpus.size(), group.ranks))
    gpus.fail("one position a rank (" + std::to_string(group.ranks) + "), or none at all");
  if (const auto link = field.find("link")) group.link = read_link(*link);
  group.is_ll128_verified = field.at("ll128_verified").boolean();
  if (const auto direct = field.find("direct")) group.direct = read_direct(*direct);
  group.rules = read_rules(field.at("rules"), field.find("stock_stays"), group, nccl);
  if (const auto model = field.find("model")) group.fit = read_fit(*model, nccl);
  if (const auto unsafe = field.find("unsafe")) group.unsafe = read_unsafe_choices(*unsafe, group);
  return group;
}

// The variables go into a server's environment: a name that loads code is as much out of place as a
// slip of the hand.
Environment read_variables(const JsonField& field) {
  Environment variables;
  for (const auto& member : field.members()) {
    const auto& name = member.name();
    const auto* variable = find_profile_variable(name);
    if (variable == nullptr)
      member.fail(
          "a variable that a measurement depends on, as NCCL_MIN_NCHANNELS or "
          "NCCL_P2P_LEVEL");
    auto value = member.text();
    if (const auto expected = find_value_fault(*variable, value); !expected.empty())
      member.fail(expected);
    variables.emplace(name, std::move(value));
  }
  return variables;
}

TunedEnvironment read_environment(const JsonField& field, const NcclRelease& nccl) {
  field.expect_only({"variables", "speedup", "memory_bytes", "groups"});
  TunedEnvironment environment;
  environment.variables = read_variables(field.at("variables"));
  environment.speedup = field.at("speedup").number(1 / most_speedup, most_speedup);
  environment.memory_bytes = field.at("memory_bytes").whole(-most_bytes, most_bytes);
  for (const auto& item : field.at("groups").items()) {
    auto group = read_group(item, nccl);
    for (const auto& other : environment.groups)
      if (other.ranks == group.ranks && other.gpus == group.gpus)
        item.fail("these ranks and GPUs once in an environment");
    environment.groups.push_back(std::move(group));
  }
  return environment;
}

void read_environments(const JsonField& root, Profile& profile) {
  for (const auto& item : root.at("environments").items()) {
    auto environment = read_environment(item, profile.nccl);
    for (const auto& other : profile.environments)
      if (other.variables == environment.variables) item.fail("each environment once");
    profile.environments.push_back(std::move(environment));
  }
  const auto best = root.find("best_environment");
  if (!best || best->is_null()) return;
  if (profile.environments.empty()) best->fail("null where there are no environments");
  const auto last = static_cast<long long>(profile.environments.size()) - 1;
  profile.best_environment = static_cast<std::size_t>(best->whole(0, last));
}

std::string read_fingerprint(const JsonField& field) {
  auto text = field.text();
  const bool is_hex = std::all_of(text.begin(), text.end(), [](char letter) {
    return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
  });
  if (text.size() != 16 || !is_hex) field.fail("16 lower-case hex digits");
  return text;
}

std::string read_time(const JsonField& field) {
  constexpr std::string_view shape = "0000-00-00T00:00:00Z";
  auto text = field.text();
  const bool fits = text.size() == shape.size() &&
                    std::equal(text.begin(), text.end(), shape.begin(), [](char letter, char form) {
                      return form == '0' ? letter >= '0' && letter <= '9' : letter == form;
                    });
  if (!fits) field.fail("a time as 2026-01-31T18:00:00Z");
  return text;
}

NcclRelease read_release(const JsonField& field) {
  const auto release = parse_nccl_release(field.text());
  if (!release) field.fail("an NCCL release as \"2.30.7\"");
  return *release;
}

void read_unsafe(const JsonField& list, Profile& profile) {
  for (const auto& item : list.items()) {
    item.expect_only({"variables", "evidence"});
    profile.unsafe.push_back({read_variables(item.at("variables")), item.at("evidence").text()});
  }
}

}  // namespace

Profile parse_profile(std::string_view text, const std::string& file) {
  const JsonValue document = parse_json(text, file);
  const JsonField root(file, "profile", document);
  // First, as the words of another version may all be unknown here.
  const auto version = root.at("schema_version");
  if (version.whole(0, std::numeric_limits<int>::max()) != Profile::schema_version)
    version.fail(std::to_string(Profile::schema_version));
  root.expect_only({"schema_version", "fingerprint", "machine", "driver", "nccl", "created",
                    "best_environment", "environments", "unsafe"});
  Profile profile;
  profile.fingerprint = read_fingerprint(root.at("fingerprint"));
  profile.machine = root.at("machine").text();
  profile.driver = root.at("driver").text();
  profile.nccl = read_release(root.at("nccl"));
  profile.created = read_time(root.at("created"));
  read_environments(root, profile);
  read_unsafe(root.at("unsafe"), profile);
  return profile;
}

Profile read_profile(const std::filesystem::path& path) {
  require_guarded_folder(path);
  return parse_profile(read_text_file(path), path.string());
}

}  // namespace lanewise::host
