// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "host/files/json.hpp"

namespace lanewise::host {
namespace {

using Parser = nlohmann::json;

// Ours need seven; a file of brackets alone would otherwise overflow the stack when destroyed.
constexpr std::size_t deepest_level = 16;
constexpr std::size_t longest_cause = 200;

struct Cursor {
  const char* next;
  // Line of the last character read. A number is read one character too far, often a line break,
  // so that a break counts only once the character after it is read.
  int line = 1;
  bool is_after_break = false;
};

// Counts lines while the parser reads, as its events carry no position.
class LineIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  LineIterator(Cursor* cursor, const char* end) : cursor_(cursor), end_(end) {}
  reference operator*() const { return *position(); }
  LineIterator& operator++() {
    if (cursor_->is_after_break) ++cursor_->line;
    cursor_->is_after_break = *cursor_->next == '\n';
    ++cursor_->next;
    return *this;
  }
  friend bool operator==(const LineIterator& a, const LineIterator& b) {
    return a.position() == b.position();
  }

 private:
  [[nodiscard]] const char* position() const { return cursor_ != nullptr ? cursor_->next : end_; }
  Cursor* cursor_;
  const char* end_;
};

class TreeBuilder : public nlohmann::json_sax<Parser> {
 public:
  TreeBuilder(std::string file, const Cursor& cursor) : file_(std::move(file)), cursor_(cursor) {}
  JsonValue take() { return std::move(root_); }

  bool null() override { return add({}); }
  bool boolean(bool value) override { return add({value, 0}); }
  bool number_integer(number_integer_t value) override { return add({value, 0}); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
      return add({static_cast<double>(value), 0});
    return add({static_cast<std::int64_t>(value), 0});
  }
  bool number_float(number_float_t value, const string_t&) override { return add({value, 0}); }
  bool string(string_t& value) override { return add({std::move(value), 0}); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open({JsonValue::Object{}, 0}); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open({JsonValue::List{}, 0}); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    const auto& object = std::get<JsonValue::Object>(open_.back()->value);
    for (const auto& member : object)
      if (member.name == name) fail("expected \"" + name + "\" once in this object");
    name_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // The library's text starts with its own id and position.
    const std::string text = error.what();
    const auto column = text.find("column ");
    const auto start = column == std::string::npos ? text.find("] ") : text.find(": ", column);
    const auto cause = start == std::string::npos ? text : text.substr(start + 2);
    // It quotes what it read, which may be the whole file.
    fail("expected JSON: " +
         (cause.size() > longest_cause ? cause.substr(0, longest_cause) + " ..." : cause));
  }

 private:
  [[noreturn]] void fail(const std::string& cause) const {
    throw Error(file_, cursor_.line, cause);
  }

  JsonValue& place(JsonValue value) {
    value.line = cursor_.line;
    if (open_.empty()) return root_ = std::move(value);
    auto& parent = open_.back()->value;
    if (auto* list = std::get_if<JsonValue::List>(&parent))
      return list->emplace_back(std::move(value));
    auto& object = std::get<JsonValue::Object>(parent);
    return object.emplace_back(JsonMember{std::move(name_), std::move(value)}).value;
  }
  bool add(JsonValue value) {
    place(std::move(value));
    return true;
  }
  // A parent's vector does not grow while a child is open, so that the pointers stay valid.
  bool open(JsonValue value) {
    if (open_.size() == deepest_level)
      fail("expected at most " + std::to_string(deepest_level) + " levels");
    open_.push_back(&place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string file_;
  const Cursor& cursor_;
  JsonValue root_;
  std::vector<JsonValue*> open_;
  std::string name_;
};

}  // namespace

JsonValue parse_json(std::string_view text, const std::string& file) {
  // The parser takes NUL for the end and would ignore what follows.
  const auto zero = text.find('\0');
  if (zero != std::string_view::npos) {
    const auto breaks = std::count(text.begin(), text.begin() + static_cast<long>(zero), '\n');
    throw Error(file, 1 + static_cast<int>(breaks), "expected text, found a NUL byte");
  }
  Cursor cursor{text.data()};
  TreeBuilder builder(file, cursor);
  const char* const end = text.data() + text.size();
  if (!Parser::sax_parse(LineIterator(&cursor, end), LineIterator(nullptr, end), &builder))
    throw Error(file, cursor.line, "expected JSON");
  return builder.take();
}

std::string quote_json(std::string_view text) {
  try {
    return Parser(text).dump();
  } catch (const Parser::exception&) {
    throw Error("expected UTF-8 text to write");
  }
}

}  // namespace lanewise::host
