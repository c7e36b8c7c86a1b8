// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "link_report.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>

namespace lanewise::bench {
namespace {

constexpr int cell_width = 9;

struct Quantity {
  const char* title;
  std::optional<double> PairResult::*value;
  int decimals;
};

constexpr std::array<Quantity, 4> quantities = {{
    {"latency, us", &PairResult::latency_us, 2},
    {"store of 4 KiB, us", &PairResult::store_us, 2},
    {"bandwidth one way, GB/s", &PairResult::one_way_gbs, 1},
    {"bandwidth both ways, GB/s", &PairResult::both_ways_gbs, 1},
}};

std::string right(const std::string& text) {
  const auto width = static_cast<std::size_t>(cell_width);
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

std::string fixed(double value, int decimals) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string cell(const PairResult* pair, const Quantity& quantity) {
  if (pair == nullptr) return right("-");
  const auto& value = pair->*quantity.value;
  if (value) return right(fixed(*value, quantity.decimals));
  return right(pair->error ? "FAULT" : "-");
}

std::string matrix(const LinkReport& report, Method method, const Quantity& quantity) {
  const int count = static_cast<int>(report.machine.size());
  std::string text = std::string(name_of(method)) + " " + quantity.title + "\n" + right("from\\to");
  for (int to = 0; to < count; ++to) text += right(std::to_string(to));
  text += '\n';
  for (int from = 0; from < count; ++from) {
    text += right(std::to_string(from));
    for (int to = 0; to < count; ++to) text += cell(report.find({from, to}, method), quantity);
    text += '\n';
  }
  return text;
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

std::string line_of(const ContentionResult& result) {
  std::string text = std::string(name_of(result.method)) + " " + result.scenario.name + ":";
  for (const Flow& flow : result.scenario.flows) text += " " + to_string(flow);
  if (result.error) return text + "  FAULT: " + *result.error + "\n";
  text += "  together " + fixed(sum(result.together_gbs), 1) + " GB/s";
  if (const auto share = result.share()) {
    text += ", alone " + fixed(sum(result.alone_gbs), 1) + ", share " + fixed(*share, 2);
  }
  return text + "\n";
}

std::string faults(const LinkReport& report) {
  std::string text;
  for (const PairResult& pair : report.pairs) {
    if (!pair.error) continue;
    text += "FAULT " + std::string(name_of(pair.method)) + " " + to_string(pair.flow) + ": " +
            *pair.error + "\n";
  }
  if (report.all_pairs_error) text += "FAULT all pairs at once: " + *report.all_pairs_error + "\n";
  return text;
}

}  // namespace

std::optional<double> ContentionResult::share() const {
  const double alone = sum(alone_gbs);
  if (error || together_gbs.empty() || alone_gbs.size() != together_gbs.size() || alone <= 0) {
    return std::nullopt;
  }
  return sum(together_gbs) / alone;
}

const PairResult* LinkReport::find(const Flow& flow, Method method) const noexcept {
  const auto found = std::find_if(pairs.begin(), pairs.end(), [&](const PairResult& pair) {
    return pair.flow == flow && pair.method == method;
  });
  return found == pairs.end() ? nullptr : &*found;
}

bool LinkReport::has_errors() const noexcept {
  return all_pairs_error.has_value() ||
         std::any_of(pairs.begin(), pairs.end(),
                     [](const PairResult& pair) { return pair.error.has_value(); }) ||
         std::any_of(contention.begin(), contention.end(),
                     [](const ContentionResult& result) { return result.error.has_value(); });
}

std::string to_text(const LinkReport& report) {
  std::string text;
  for (std::size_t gpu = 0; gpu < report.machine.size(); ++gpu) {
    text += "GPU " + std::to_string(gpu) + "  " + report.machine.pci.at(gpu) + "  " +
            report.machine.names.at(gpu) + "\n";
  }
  for (const Method method : {Method::peer, Method::host}) {
    for (const Quantity& quantity : quantities) {
      const bool is_measured =
          std::any_of(report.pairs.begin(), report.pairs.end(), [&](const PairResult& pair) {
            return pair.method == method && (pair.*quantity.value || pair.error);
          });
      if (is_measured) text += "\n" + matrix(report, method, quantity);
    }
  }
  if (report.all_pairs_gbs) {
    text += "\nall pairs at once, GB/s in total: " + fixed(*report.all_pairs_gbs, 1) + "\n";
  }
  if (!report.contention.empty()) text += "\n";
  for (const ContentionResult& result : report.contention) text += line_of(result);
  text += faults(report);
  for (const std::string& note : report.notes) text += "note: " + note + "\n";
  return text;
}

}  // namespace lanewise::bench
