// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A few variables that are written once and then read by any thread for as long as the library is
// loaded: no heap, no destructor, no lock.
#include <array>
#include <atomic>
#include <cstddef>

#include "core/profile/profile.hpp"

namespace lanewise::plugin {

class VariableStore {
 public:
  // Environments of a profile have under ten variables.
  static constexpr std::size_t max_variables = 32;
  static constexpr std::size_t max_text_bytes = 8192;

  // By one thread, once. Throws Error, and holds nothing, where there is no room.
  void publish(const Environment& variables);

  // Nullptr where it holds no such variable. The text lives as long as the store.
  [[nodiscard]] const char* find(const char* name) const noexcept;
  [[nodiscard]] Environment variables() const;

 private:
  struct Entry {
    const char* name;
    const char* value;
  };
  const char* keep(const std::string& text);

  std::array<Entry, max_variables> entries_{};
  std::array<char, max_text_bytes> text_{};
  std::size_t used_bytes_ = 0;
  std::atomic<std::size_t> count_{0};
};

}  // namespace lanewise::plugin
