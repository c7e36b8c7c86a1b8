// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/error.hpp"
#include "host/files/json.hpp"

namespace lanewise::host {
namespace {

bool is_control(char letter) {
  const auto code = static_cast<unsigned char>(letter);
  return code < 0x20 || code == 0x7f;
}

}  // namespace

std::string format_json_number(double value) {
  if (!std::isfinite(value)) throw Error("expected finite numbers");
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

void JsonField::fail(const std::string& expected) const {
  throw Error(file_, value_->line, name_ + ": expected " + expected);
}

std::string JsonField::text() const {
  const auto* text = std::get_if<std::string>(&value_->value);
  if (text == nullptr) fail("text in quotes");
  if (std::any_of(text->begin(), text->end(), is_control)) fail("text without control characters");
  return *text;
}

long long JsonField::whole(long long low, long long high) const {
  const auto* number = std::get_if<std::int64_t>(&value_->value);
  if (number == nullptr || *number < low || *number > high)
    fail("a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return *number;
}

double JsonField::number(double low, double high) const {
  double number = 0;
  if (const auto* whole = std::get_if<std::int64_t>(&value_->value))
    number = static_cast<double>(*whole);
  else if (const auto* real = std::get_if<double>(&value_->value))
    number = *real;
  else
    fail("a number");
  if (!(number >= low && number <= high))
    fail("a number from " + format_json_number(low) + " to " + format_json_number(high));
  return number;
}

bool JsonField::boolean() const {
  const auto* boolean = std::get_if<bool>(&value_->value);
  if (boolean == nullptr) fail("true or false");
  return *boolean;
}

std::vector<JsonField> JsonField::items() const {
  const auto* list = std::get_if<JsonValue::List>(&value_->value);
  if (list == nullptr) fail("a list in [ ]");
  std::vector<JsonField> items;
  for (const auto& item : *list) items.emplace_back(file_, name_, item);
  return items;
}

std::vector<JsonField> JsonField::members() const {
  const auto* object = std::get_if<JsonValue::Object>(&value_->value);
  if (object == nullptr) fail("an object in { }");
  std::vector<JsonField> members;
  for (const auto& member : *object) members.emplace_back(file_, member.name, member.value);
  return members;
}

std::optional<JsonField> JsonField::find(std::string_view name) const {
  for (auto& member : members())
    if (member.name() == name) return std::move(member);
  return std::nullopt;
}

JsonField JsonField::at(std::string_view name) const {
  auto member = find(name);
  if (!member) fail("an object with \"" + std::string(name) + '"');
  return *std::move(member);
}

void JsonField::expect_only(std::initializer_list<std::string_view> names) const {
  for (const auto& member : members()) {
    if (std::find(names.begin(), names.end(), member.name()) != names.end()) continue;
    std::string expected = "one of";
    for (const auto name : names)
      expected += (name == *names.begin() ? " " : ", ") + std::string(name);
    member.fail(expected);
  }
}

}  // namespace lanewise::host
