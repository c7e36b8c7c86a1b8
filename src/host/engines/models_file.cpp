// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/engines/models_file.hpp"

#include <algorithm>

#include "bundled_data.hpp"
#include "core/error.hpp"
#include "files/bundled_text.hpp"
#include "host/files/json.hpp"

namespace lanewise::host {
namespace {

constexpr long long schema_version = 1;
constexpr long long most_layers = 10'000;
constexpr long long most_calls_a_layer = 100;
constexpr long long widest = 1LL << 24U;

ModelShape read_model(const JsonField& field) {
  field.expect_only({"name", "hidden", "layers", "calls_a_layer", "source"});
  return {.name = field.at("name").text(),
          .hidden = static_cast<std::size_t>(field.at("hidden").whole(1, widest)),
          .layers = static_cast<int>(field.at("layers").whole(1, most_layers)),
          .calls_a_layer = static_cast<int>(field.at("calls_a_layer").whole(1, most_calls_a_layer)),
          .source = field.at("source").text()};
}

}  // namespace

std::vector<ModelShape> parse_models(std::string_view text, const std::string& file) {
  const auto root = parse_json(text, file);
  const JsonField field(file, "models", root);
  field.expect_only({"schema_version", "models"});
  (void)field.at("schema_version").whole(schema_version, schema_version);
  std::vector<ModelShape> models;
  for (const auto& item : field.at("models").items()) models.push_back(read_model(item));
  return models;
}

ModelShape find_model(const std::string& name) {
  const auto data = read_bundled_text("models.json", bundled_models_json);
  const auto models = parse_models(data.text, data.name);
  const auto found = std::ranges::find(models, name, &ModelShape::name);
  if (found != models.end()) return *found;
  std::string known;
  for (const auto& model : models) known += (known.empty() ? "" : ", ") + model.name;
  throw Error("model " + name + ": expected one of " + known);
}

}  // namespace lanewise::host
