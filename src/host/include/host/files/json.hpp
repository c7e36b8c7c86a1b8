// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// JSON as values that know their line, so that a file is refused with file:line and what was
// expected. For readers of our own files: strict, without comments, duplicates or deep nesting.
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lanewise::host {

// What a file may say at most: far above any machine, far below an overflow.
inline constexpr long long most_ranks = 1024;
inline constexpr long long most_bytes = 1LL << 40U;

struct JsonMember;

struct JsonValue {
  using List = std::vector<JsonValue>;
  using Object = std::vector<JsonMember>;
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Object> value;
  int line = 0;  // where the value ends, from 1; for a list or an object, where it starts
};

struct JsonMember {
  std::string name;
  JsonValue value;
};

// Throws Error with `file` and line: bad syntax, NUL bytes, bad UTF-8, a name twice in an object,
// more than 16 levels.
[[nodiscard]] JsonValue parse_json(std::string_view text, const std::string& file);

// `text` in quotes with JSON's escapes; throws Error where it is not UTF-8.
[[nodiscard]] std::string quote_json(std::string_view text);

// The shortest text that reads back to the same double, whatever the locale; throws Error where it
// is not finite.
[[nodiscard]] std::string format_json_number(double value);

// A value with its name and file: each accessor throws Error saying what was expected. The
// JsonValue must outlive it.
class JsonField {
 public:
  JsonField(std::string file, std::string name, const JsonValue& value)
      : file_(std::move(file)), name_(std::move(name)), value_(&value) {}

  // Without control characters: it may go to a terminal.
  [[nodiscard]] std::string text() const;
  // Both ends belong to the range.
  [[nodiscard]] long long whole(long long low, long long high) const;
  [[nodiscard]] double number(double low, double high) const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::vector<JsonField> items() const;    // of a list
  [[nodiscard]] std::vector<JsonField> members() const;  // of an object
  [[nodiscard]] JsonField at(std::string_view name) const;
  [[nodiscard]] std::optional<JsonField> find(std::string_view name) const;
  // Throws for an object's member of any other name.
  void expect_only(std::initializer_list<std::string_view> names) const;
  [[noreturn]] void fail(const std::string& expected) const;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] int line() const noexcept { return value_->line; }
  [[nodiscard]] bool is_null() const noexcept { return value_->value.index() == 0; }

 private:
  std::string file_;
  std::string name_;
  const JsonValue* value_;
};

}  // namespace lanewise::host
