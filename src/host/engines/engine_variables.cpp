// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/engines/engine_variables.hpp"

#include "core/error.hpp"
#include "engines_json.hpp"
#include "host/files/json.hpp"

namespace lanewise::host {
namespace {

EngineVariable read_variable(const JsonField& field) {
  field.expect_only({"name", "value", "is_default", "when", "source"});
  return {field.at("name").text(), field.at("value").text(), field.at("is_default").boolean(),
          field.at("when").text(), field.at("source").text()};
}

}  // namespace

Environment Engine::defaults() const {
  Environment set;
  for (const EngineVariable& variable : variables)
    if (variable.is_default) set[variable.name] = variable.value;
  return set;
}

std::vector<Engine> parse_engines(std::string_view text, const std::string& file) {
  const JsonValue root = parse_json(text, file);
  std::vector<Engine> engines;
  for (const JsonField& item : JsonField(file, "engines file", root).at("engines").items()) {
    item.expect_only({"engine", "release", "variables"});
    Engine engine{item.at("engine").text(), item.at("release").text(), {}};
    for (const JsonField& variable : item.at("variables").items())
      engine.variables.push_back(read_variable(variable));
    engines.push_back(std::move(engine));
  }
  return engines;
}

const std::vector<Engine>& known_engines() {
  static const std::vector<Engine> engines = parse_engines(engines_json, "engines.json");
  return engines;
}

const Engine& find_engine(std::string_view name) {
  std::string known;
  for (const Engine& engine : known_engines()) {
    if (engine.name == name) return engine;
    known += (known.empty() ? "" : ", ") + engine.name;
  }
  throw Error("unknown engine \"" + std::string(name) + "\": expected one of " + known);
}

}  // namespace lanewise::host
