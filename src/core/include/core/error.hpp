// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The one exception of set-up code: what is wrong, in which file and line. Deciding never throws.
#include <stdexcept>
#include <string>
#include <utility>

namespace lanewise {

class Error : public std::runtime_error {
 public:
  // `line` counts from 1; 0 means that the fault has no line.
  Error(std::string file, int line, const std::string& cause)
      : std::runtime_error(file + (line > 0 ? ":" + std::to_string(line) : "") + ": " + cause),
        file_(std::move(file)),
        line_(line) {}
  explicit Error(const std::string& cause) : std::runtime_error(cause) {}

  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] int line() const noexcept { return line_; }

 private:
  std::string file_;
  int line_ = 0;
};

}  // namespace lanewise
