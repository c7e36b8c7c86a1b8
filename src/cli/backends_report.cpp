// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "backends_report.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "host/files/json.hpp"
#include "words.hpp"

namespace lanewise::cli {
namespace {

std::string describe_bytes(std::size_t bytes) {
  constexpr std::size_t kibibyte = 1024;
  constexpr std::size_t mebibyte = kibibyte * kibibyte;
  if (bytes >= mebibyte && bytes % mebibyte == 0) return std::to_string(bytes / mebibyte) + " MiB";
  if (bytes % kibibyte == 0) return std::to_string(bytes / kibibyte) + " KiB";
  return std::to_string(bytes) + " B";
}

std::string decimal(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", number);
  return text.data();
}

std::string name_of(const Backend* backend) {
  return backend == nullptr ? "nobody: the engine's conditions are met by none" : backend->name;
}

std::string table(const BackendsReport& report) {
  std::string text = "\n" + pad("step", 24) + pad("tokens", 8) + pad("bytes", 10) + "taken by\n";
  for (const auto& step : report.steps) {
    const auto* taker = find_taker(*report.engine, step.facts);
    text += pad(step.name, 24) + pad(std::to_string(step.tokens), 8) +
            pad(describe_bytes(step.bytes), 10) + name_of(taker);
    if (taker != nullptr && taker->is_nccl) text += "  (Lanewise is asked)";
    text += "\n";
  }
  return text;
}

// A setting with its new value, who takes what by it.
struct Change {
  EngineSetting setting;
  const Backend* taker = nullptr;
  std::vector<const EngineStep*> steps;
};

std::string figure_of(const BackendsReport& report, const Change& change) {
  for (const auto* step : change.steps) {
    const auto* figure = find_figure(*report.engine, change.taker->name, step->facts);
    if (figure == nullptr) continue;
    return "    measured: " + decimal(figure->us) + " us at " + describe_bytes(figure->bytes) +
           " where NCCL took " + decimal(figure->nccl_us) + " (" + figure->source + ")\n";
  }
  return {};
}

std::vector<Change> collect_changes(const BackendsReport& report) {
  std::vector<Change> changes;
  for (const auto& step : report.steps) {
    for (const auto& one : find_changes(*report.engine, step.facts)) {
      const auto found = std::ranges::find_if(changes, [&](const Change& change) {
        return change.taker == one.taker && change.setting.name == one.setting.name &&
               change.setting.value == one.setting.value;
      });
      if (found != changes.end())
        found->steps.push_back(&step);
      else
        changes.push_back({one.setting, one.taker, {&step}});
    }
  }
  // Other kernels first: they are what a user would change a setting for.
  std::ranges::stable_sort(changes, {}, [&](const Change& change) {
    return change.taker->is_nccl ? 2 : figure_of(report, change).empty() ? 1 : 0;
  });
  return changes;
}

std::string changes_of(const BackendsReport& report) {
  std::string text = "\nwith one change\n";
  const auto changes = collect_changes(report);
  for (const auto& change : changes) {
    text += "  " + change.setting.name + "=" + change.setting.value + ": " + change.taker->name +
            " takes";
    std::string last;
    for (const auto* step : change.steps) {
      const std::string before = last.empty() ? " " : "; ";
      text +=
          (step->name == last ? ", " : before + step->name + " ") + std::to_string(step->tokens);
      last = step->name;
    }
    text += "\n" + figure_of(report, change);
    if (!change.taker->limits.empty()) text += "    mind: " + change.taker->limits + "\n";
    text += "    read in " + change.taker->source + "\n";
  }
  return changes.empty() ? text + "  nothing changes who takes these calls\n" : text;
}

std::string why_not(const BackendsReport& report) {
  const auto& step = report.steps.front();
  std::string text = "\nwhy the others do not take the first of them\n";
  for (const auto& backend : report.engine->backends) {
    const auto reasons = refusals(*report.engine, backend, step.facts);
    if (reasons.empty()) continue;
    text += "  " + pad(backend.name, 36);
    for (const auto& reason : reasons) text += (&reason == &reasons.front() ? "" : "; ") + reason;
    text += "\n";
  }
  return text;
}

}  // namespace

std::string backends_to_text(const BackendsReport& report) {
  return "engine     " + report.engine->engine + " " + report.engine->release + "\nmachine    " +
         report.machine + "\nmodel      " + report.model + "\n" + table(report) +
         changes_of(report) + why_not(report);
}

std::string backends_to_json(const BackendsReport& report) {
  using host::quote_json;
  std::string steps;
  for (const auto& step : report.steps) {
    const auto* taker = find_taker(*report.engine, step.facts);
    std::string changes;
    for (const auto& one : find_changes(*report.engine, step.facts))
      changes += (changes.empty() ? "" : ",") + ("{\"setting\":" + quote_json(one.setting.name)) +
                 ",\"value\":" + quote_json(one.setting.value) +
                 ",\"backend\":" + quote_json(one.taker->name) + "}";
    steps += (steps.empty() ? "" : ",") + ("{\"step\":" + quote_json(step.name)) +
             ",\"tokens\":" + std::to_string(step.tokens) +
             ",\"bytes\":" + std::to_string(step.bytes) +
             ",\"captured\":" + (step.facts.at("captured") == "1" ? "true" : "false") +
             ",\"backend\":" + (taker == nullptr ? "null" : quote_json(taker->name)) +
             ",\"nccl\":" + (taker != nullptr && taker->is_nccl ? "true" : "false") +
             ",\"changes\":[" + changes + "]}";
  }
  return "{\"schema_version\":1,\"engine\":" + quote_json(report.engine->engine) +
         ",\"release\":" + quote_json(report.engine->release) +
         ",\"machine\":" + quote_json(report.machine) + ",\"steps\":[" + steps + "]}\n";
}

}  // namespace lanewise::cli
