// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The shapes of common models: what one step of tensor-parallel decoding makes of all-reduces.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise::host {

// hidden_size and num_hidden_layers of the model's config.json; a layer ends its attention and its
// MLP (or experts) with an all-reduce each.
struct ModelShape {
  std::string name;
  std::size_t hidden = 0;
  int layers = 0;
  int calls_a_layer = 0;
  std::string source;
  [[nodiscard]] int calls() const noexcept { return layers * calls_a_layer; }
};

// Throws Error with file and line.
[[nodiscard]] std::vector<ModelShape> parse_models(std::string_view text, const std::string& file);
// models.json of share/lanewise, else the one in the program. Throws Error for a name that is not
// in it, with those that are.
[[nodiscard]] ModelShape find_model(const std::string& name);

}  // namespace lanewise::host
