// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "variable_store.hpp"

#include <cstring>
#include <string>

#include "core/error.hpp"

namespace lanewise::plugin {

const char* VariableStore::keep(const std::string& text) {
  if (text.size() + 1 > text_.size() - used_bytes_)
    throw Error("the environment's variables have more than " + std::to_string(max_text_bytes) +
                " bytes");
  char* place = text_.data() + used_bytes_;
  std::memcpy(place, text.c_str(), text.size() + 1);
  used_bytes_ += text.size() + 1;
  return place;
}

void VariableStore::publish(const Environment& variables) {
  if (variables.size() > max_variables)
    throw Error("the environment has more than " + std::to_string(max_variables) + " variables");
  std::size_t count = 0;
  for (const auto& [name, value] : variables) entries_[count++] = {keep(name), keep(value)};
  count_.store(count, std::memory_order_release);
}

const char* VariableStore::find(const char* name) const noexcept {
  const auto count = count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i)
    if (std::strcmp(entries_[i].name, name) == 0) return entries_[i].value;
  return nullptr;
}

Environment VariableStore::variables() const {
  Environment variables;
  const auto count = count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) variables.emplace(entries_[i].name, entries_[i].value);
  return variables;
}

}  // namespace lanewise::plugin
