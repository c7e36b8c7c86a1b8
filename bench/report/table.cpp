// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "table.hpp"

#include <unistd.h>

#include <cstdio>

#include "comparison/sizes.hpp"

namespace lanewise::bench {
namespace {

template <class... Arguments>
std::string formatted(const char* format, Arguments... arguments) {
  const int length = std::snprintf(nullptr, 0, format, arguments...);
  std::string text(static_cast<std::size_t>(length), '\0');
  std::snprintf(text.data(), text.size() + 1, format, arguments...);
  return text;
}

std::string show_arm(const ComparedArm& arm) {
  if (!arm.failure.empty()) return formatted("  %41s", "UNSAFE, left out");
  if (!arm.verification.refusal.empty())
    return formatted("  %41s", arm.verification.refusal.c_str());
  if (!arm.verification.fault.empty()) return formatted("  %41s", "WRONG SUMS");
  const auto time = arm.time();
  const auto ratio = arm.ratio();
  if (!time || !ratio) return formatted("  %41s", "not timed");
  return formatted("  %8.2f %6.3f [%5.3f %5.3f] %-12s", time->median, ratio->median, ratio->low,
                   ratio->high, show_choice(arm).c_str());
}

}  // namespace

std::string show_choice(const ComparedArm& arm) {
  const auto choice = arm.verification.choice_in_force();
  return choice ? to_string(*choice) : "-";
}

std::string show_candidate(const ComparedArm& arm) {
  const auto& forced = arm.candidate.forced;
  const auto& shape = arm.verification.shape;
  if (!forced || !shape || forced->channels == 0 || forced->channels == shape->channels)
    return arm.candidate.name;
  return arm.candidate.name + " (" + std::to_string(shape->channels) + " launched)";
}

std::string show_heading(std::span<const RunningArm> arms) {
  std::string text = formatted("%10s  %8s", "bytes", arms.front().plan.name.c_str());
  for (const RunningArm& arm : arms.subspan(1)) {
    text += formatted("  %-41s", (arm.plan.name + ": us ratio [95 %] choice").c_str());
  }
  return text;
}

std::string show_line(const SizeComparison& comparison) {
  const auto arms = comparison.arms();
  const auto stock = arms.front().time();
  std::string text = formatted("%10s  ", show_size(comparison.bytes()).c_str());
  text += stock ? formatted("%8.2f", stock->median) : formatted("%8s", "-");
  if (!stock) text += show_arm(arms.front());
  for (const ComparedArm& arm : arms.subspan(1)) text += show_arm(arm);
  return text;
}

void show_warnings(std::span<const std::string> warnings) {
  for (const std::string& warning : warnings) {
    std::fprintf(stderr, "lanewise-bench: %s\n", warning.c_str());
  }
}

void show_progress(std::size_t done, std::size_t all, double elapsed_s) {
  if (isatty(STDERR_FILENO) == 0 || done == 0) return;
  const double left = elapsed_s / static_cast<double>(done) * static_cast<double>(all - done);
  std::fprintf(stderr, "\r%zu of %zu, %d:%02d left ", done, all, static_cast<int>(left) / 60,
               static_cast<int>(left) % 60);
  if (done == all) std::fprintf(stderr, "\r%40s\r", "");
}

}  // namespace lanewise::bench
