// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/nccl/choice.hpp"

#include <algorithm>
#include <charconv>
#include <span>

namespace lanewise {
namespace {

constexpr std::array<std::string_view, algorithm_count> algorithm_names = {
    "tree", "ring", "collnetdirect", "collnetchain", "nvls", "nvlstree", "pat"};
constexpr std::array<std::string_view, protocol_count> protocol_names = {"ll", "ll128", "simple"};

constexpr int widest_of_any_release = 64;  // see NcclRelease::max_channels

constexpr char lower_letter(char letter) noexcept {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower_letter(x) == lower_letter(y); });
}

std::optional<std::size_t> find_name(std::span<const std::string_view> names,
                                     std::string_view word) noexcept {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (equals_ignoring_case(names[i], word)) return i;
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Algorithm algorithm) noexcept {
  return algorithm_names[static_cast<std::size_t>(algorithm)];
}

std::string_view name_of(Protocol protocol) noexcept {
  return protocol_names[static_cast<std::size_t>(protocol)];
}

std::optional<Algorithm> parse_algorithm(std::string_view word) noexcept {
  // NVIDIA's example CSV writes these two with an underscore.
  if (equals_ignoring_case(word, "collnet_direct")) return Algorithm::collnet_direct;
  if (equals_ignoring_case(word, "collnet_chain")) return Algorithm::collnet_chain;
  if (equals_ignoring_case(word, "nvls_tree")) return Algorithm::nvls_tree;
  const auto index = find_name(algorithm_names, word);
  if (!index) return std::nullopt;
  return static_cast<Algorithm>(*index);
}

std::optional<Protocol> parse_protocol(std::string_view word) noexcept {
  const auto index = find_name(protocol_names, word);
  if (!index) return std::nullopt;
  return static_cast<Protocol>(*index);
}

std::string to_string(const Choice& choice) {
  std::string text(name_of(choice.algorithm));
  text += '/';
  text += name_of(choice.protocol);
  if (choice.channels > 0) text += '/' + std::to_string(choice.channels);
  return text;
}

std::optional<Choice> parse_choice(std::string_view text) noexcept {
  const auto first = text.find('/');
  if (first == std::string_view::npos) return std::nullopt;
  const auto second = text.find('/', first + 1);
  const auto algorithm = parse_algorithm(text.substr(0, first));
  const auto protocol = parse_protocol(text.substr(first + 1, second - first - 1));
  if (!algorithm || !protocol) return std::nullopt;
  Choice choice{*algorithm, *protocol, 0};
  if (second == std::string_view::npos) return choice;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + second + 1, end, choice.channels);
  if (error != std::errc{} || stop != end) return std::nullopt;
  if (choice.channels < 1 || choice.channels > widest_of_any_release) return std::nullopt;
  return choice;
}

}  // namespace lanewise
