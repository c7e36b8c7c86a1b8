// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/engines/backends_file.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "bundled_data.hpp"
#include "files/bundled_text.hpp"
#include "host/files/json.hpp"

namespace lanewise::host {
namespace {

constexpr long long most = std::numeric_limits<long long>::max();

std::vector<std::string> read_texts(const JsonField& field) {
  std::vector<std::string> texts;
  for (const auto& item : field.items()) texts.push_back(item.text());
  if (texts.empty()) field.fail("a list that is not empty");
  return texts;
}

Condition read_condition(const JsonField& field) {
  field.expect_only({"fact", "one_of", "at_least", "at_most", "at_most_fact", "any", "all",
                     "unless", "otherwise"});
  Condition condition;
  if (const auto fact = field.find("fact")) condition.fact = fact->text();
  if (const auto list = field.find("one_of")) condition.one_of = read_texts(*list);
  if (const auto bound = field.find("at_least")) condition.at_least = bound->whole(0, most);
  if (const auto bound = field.find("at_most")) condition.at_most = bound->whole(0, most);
  if (const auto bound = field.find("at_most_fact")) condition.at_most_fact = bound->text();
  if (const auto list = field.find("any")) {
    for (const auto& item : list->items()) condition.any.push_back(read_condition(item));
  }
  if (const auto list = field.find("all")) {
    for (const auto& item : list->items()) condition.all.push_back(read_condition(item));
  }
  if (const auto list = field.find("unless")) condition.unless = read_texts(*list);
  if (const auto text = field.find("otherwise")) condition.otherwise = text->text();
  if (condition.fact.empty() && condition.any.empty() && condition.all.empty() &&
      condition.unless.empty())
    field.fail("an object with \"fact\", \"any\", \"all\" or \"unless\"");
  return condition;
}

Backend read_backend(const JsonField& field) {
  field.expect_only({"name", "nccl", "source", "limits", "needs"});
  Backend backend{.name = field.at("name").text(), .source = field.at("source").text()};
  if (const auto nccl = field.find("nccl")) backend.is_nccl = nccl->boolean();
  if (const auto limits = field.find("limits")) backend.limits = limits->text();
  for (const auto& need : field.at("needs").items()) {
    backend.needs.push_back(read_condition(need));
    if (backend.needs.back().otherwise.empty()) need.fail("an object with \"otherwise\"");
  }
  return backend;
}

BackendFigure read_figure(const JsonField& field) {
  field.expect_only({"backend", "capability", "ranks", "bytes", "us", "nccl_us", "source"});
  return {.backend = field.at("backend").text(),
          .capability = static_cast<int>(field.at("capability").whole(0, 9999)),
          .ranks = static_cast<int>(field.at("ranks").whole(1, 1024)),
          .bytes = static_cast<std::size_t>(field.at("bytes").whole(1, most)),
          .us = field.at("us").number(0, 1e9),
          .nccl_us = field.at("nccl_us").number(0, 1e9),
          .source = field.at("source").text()};
}

EngineRelease read_engine(const JsonField& field) {
  field.expect_only({"engine", "release", "settings", "backends", "figures"});
  EngineRelease engine{.engine = field.at("engine").text(), .release = field.at("release").text()};
  for (const auto& setting : field.at("settings").items()) {
    setting.expect_only({"name", "default"});
    engine.settings.push_back({setting.at("name").text(), setting.at("default").text()});
  }
  for (const auto& backend : field.at("backends").items())
    engine.backends.push_back(read_backend(backend));
  for (const auto& figure : field.at("figures").items())
    engine.figures.push_back(read_figure(figure));
  return engine;
}

}  // namespace

std::vector<EngineRelease> parse_backends(std::string_view text, const std::string& file) {
  const auto root = parse_json(text, file);
  const JsonField field(file, "backends", root);
  field.expect_only({"schema_version", "engines"});
  (void)field.at("schema_version").whole(1, 1);
  std::vector<EngineRelease> engines;
  for (const auto& engine : field.at("engines").items()) engines.push_back(read_engine(engine));
  return engines;
}

std::vector<EngineRelease> bundled_backends() {
  const auto data = read_bundled_text("backends.json", bundled_backends_json);
  return parse_backends(data.text, data.name);
}

}  // namespace lanewise::host
