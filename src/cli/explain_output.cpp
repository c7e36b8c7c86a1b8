// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "explain_output.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/profile/environment_plan.hpp"
#include "words.hpp"

namespace lanewise::cli {
namespace {

std::string text_of(const std::optional<ExplainedChoice>& choice) {
  return choice ? to_string(choice->choice) : "-";
}

std::string text_of_waves(const std::optional<ExplainedChoice>& choice) {
  return choice && choice->waves ? std::to_string(*choice->waves) : "-";
}

std::string text_of(const std::optional<Interval>& interval) {
  if (!interval) return "-";
  const auto low = two_digits(interval->low);
  const auto high = two_digits(interval->high);
  return low == high ? low : low + "-" + high;
}

std::string text_of_time(const std::optional<ExplainedChoice>& choice) {
  return text_of(choice ? choice->interval_us : std::nullopt);
}

// Of what runs then over what runs now, each on the likeliest machine.
std::string text_of_gain(const std::optional<ExplainedChoice>& now,
                         const std::optional<ExplainedChoice>& then) {
  if (!now || !then || !now->predicted_us || !then->predicted_us) return "-";
  return two_digits(*now->predicted_us / *then->predicted_us);
}

constexpr const char* row_format = "%9s  %-15s %5s %9s  %-15s %5s %9s  %7s%s  %-7s  %s\n";

void print_row(std::size_t bytes, const Explanation& explanation, const std::string& over_now) {
  std::printf(row_format, std::to_string(bytes).c_str(), text_of(explanation.stock).c_str(),
              text_of_waves(explanation.stock).c_str(), text_of_time(explanation.stock).c_str(),
              text_of(explanation.chosen).c_str(), text_of_waves(explanation.chosen).c_str(),
              text_of_time(explanation.chosen).c_str(), text_of(explanation.gain).c_str(),
              over_now.c_str(), std::string(name_of(explanation.source)).c_str(),
              explanation.reason.c_str());
}

void print_header(const char* over_now) {
  std::printf("\n");
  std::printf(row_format, "bytes", "NCCL", "waves", "us", "Lanewise", "waves", "us", "gain",
              over_now, "source", "reason");
}

std::string describe(const TunedEnvironment& environment) {
  return to_string(environment.variables) + ": " + describe_measurement(environment);
}

std::string describe_in_force(const EnvironmentStanding& standing) {
  if (standing.in_force != nullptr && !standing.not_set.empty())
    return describe(*standing.in_force) +
           "; not so here, which its rules do not hang on: " + to_string(standing.not_set);
  if (standing.in_force != nullptr) return describe(*standing.in_force);
  if (standing.difference.empty()) return "nothing was measured";
  return "none that was measured: " + standing.difference;
}

std::string describe_best(const ExplainedEnvironments& environments) {
  const auto& standing = environments.standing;
  if (standing.best == nullptr) return "none beats stock's";
  if (standing.best != standing.in_force) return describe(*standing.best);
  switch (environments.carrier) {
    case EnvironmentCarrier::env_plugin:
      return "the one in force: NCCL_ENV_PLUGIN answers it to NCCL";
    case EnvironmentCarrier::net_plugin:
      return "the one in force: NCCL_NET_PLUGIN sets it for NCCL";
    case EnvironmentCarrier::nobody:
      break;
  }
  return "the one in force";
}

void print_launch(const ExplainedEnvironments& environments) {
  const auto& launch = environments.standing.launch;
  std::string added;
  if (environments.carrier == EnvironmentCarrier::nobody)
    for (const auto& variable : launch.variables)
      added += ' ' + variable.name + '=' + variable.value;
  if (!added.empty()) std::printf("  `%s` sets%s\n", environments.command.c_str(), added.c_str());
  for (const auto& remark : launch.remarks) std::printf("  %s\n", remark.c_str());
}

void print_environments(const ExplainReport& report) {
  if (!report.environments) {
    std::printf(
        "\nEnvironment layer: needs a profile of this machine, which `lanewise-bench tune` "
        "measures.\n");
    return;
  }
  const auto& environments = *report.environments;
  std::printf("\nEnvironment layer: %s, measured with NCCL %s\n", environments.profile.c_str(),
              to_string(environments.measured_with).c_str());
  std::printf("  in force  %s\n", describe_in_force(environments.standing).c_str());
  std::printf("  best      %s\n", describe_best(environments).c_str());
  print_launch(environments);
}

// Milliseconds of so many calls.
std::string text_of_step(const std::optional<ExplainedChoice>& choice, int calls) {
  if (!choice || !choice->interval_us) return "-";
  const double step = calls / 1000.0;
  return text_of(Interval{choice->interval_us->low * step, choice->interval_us->high * step});
}

void print_model(const ExplainReport& report) {
  if (!report.model) return;
  const auto& [shape, tokens] = *report.model;
  std::printf("\nA step of %s: %d layers, %d all-reduces; milliseconds of them:\n\n",
              shape.name.c_str(), shape.layers, shape.calls());
  std::printf("%9s  %12s  %12s\n", "tokens", "NCCL", "Lanewise");
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto& row = report.sizes[i].explanation;
    const auto& chosen = row.chosen ? row.chosen : row.stock;
    std::printf("%9zu  %12s  %12s\n", tokens[i], text_of_step(row.stock, shape.calls()).c_str(),
                text_of_step(chosen, shape.calls()).c_str());
  }
}

void print_with_best(const ExplainReport& report) {
  if (!report.channels_with_best) return;
  std::printf("\nChoice layer in the best environment, %s:\n",
              count_of(*report.channels_with_best, "channel").c_str());
  for (const auto& remark : report.environments->remarks_with_best)
    std::printf("  %s\n", remark.c_str());
  print_header("  over now");
  for (const auto& row : report.sizes) {
    if (!row.with_best) continue;
    const auto& then = row.with_best->chosen ? row.with_best->chosen : row.with_best->stock;
    char over_now[32];
    std::snprintf(over_now, sizeof over_now, "  %8s",
                  text_of_gain(row.explanation.stock, then).c_str());
    print_row(row.bytes, *row.with_best, over_now);
  }
}

}  // namespace

// No prediction is known to more.
std::string two_digits(double value) {
  const double unit = value > 0 ? std::pow(10.0, std::floor(std::log10(value)) - 1) : 1;
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", unit < 1 ? 1 : 0, std::round(value / unit) * unit);
  return text;
}

void print_text(const ExplainReport& report) {
  std::printf("%s, %d ranks, NCCL %s, %s; costs: %s\n", report.machine.c_str(), report.ranks,
              to_string(report.nccl).c_str(), count_of(report.channels, "channel").c_str(),
              report.costs.c_str());
  for (const auto& remark : report.remarks) std::printf("%s\n", remark.c_str());
  print_environments(report);
  std::printf("\nChoice layer%s:\n",
              report.channels_with_best ? " in the environment in force" : "");
  print_header("");
  for (const auto& row : report.sizes) print_row(row.bytes, row.explanation, "");
  print_model(report);
  print_with_best(report);
}

}  // namespace lanewise::cli
