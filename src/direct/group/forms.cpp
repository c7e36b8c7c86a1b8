// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "direct/forms.hpp"

#include <algorithm>
#include <array>

#include "direct/kernel_plan.hpp"

namespace lanewise::direct {
namespace {

constexpr std::array<std::string_view, form_count> form_names = {"one-shot-ll", "one-shot-simple",
                                                                 "two-shot"};
constexpr std::array<std::string_view, element_count> element_names = {"fp32", "fp16", "bf16"};

// What one rank may read through LL: its second copy of the bytes costs less than the fence and
// flag it saves (2 us), and through host memory the waiting reads cross the link again and again.
constexpr std::size_t ll_read_host = std::size_t{64} << 10;
constexpr std::size_t ll_read_gpu = std::size_t{512} << 10;

// What a link carries in the time of the second wait of a two-shot: 4 us at 40 GB/s, or at what a
// GPU's own memory gives to each of several ranks.
constexpr std::size_t second_wait_host = std::size_t{160} << 10;
constexpr std::size_t second_wait_gpu = std::size_t{1} << 20;

constexpr std::size_t ll_payload_bytes = 8;
constexpr std::size_t vector_bytes = 16;

std::size_t divide_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit; }

}  // namespace

std::string_view name_of(Form form) noexcept { return form_names[static_cast<std::size_t>(form)]; }
std::string_view name_of(Element element) noexcept {
  return element_names[static_cast<std::size_t>(element)];
}
std::string_view name_of(Place place) noexcept {
  return place == Place::host ? "host memory" : "memory of the GPU";
}

std::optional<Form> parse_form(std::string_view word) noexcept {
  for (std::size_t i = 0; i < form_names.size(); ++i) {
    if (form_names[i] == word) return static_cast<Form>(i);
  }
  return std::nullopt;
}

std::size_t largest_ll_bytes(int ranks, Place place) noexcept {
  const std::size_t peers = static_cast<std::size_t>(std::max(ranks, 2)) - 1;
  return (place == Place::host ? ll_read_host : ll_read_gpu) / peers;
}

// One shot reads n-1 times the bytes and two shots 2(n-1)/n times: the difference is worth the
// second wait where it takes longer.
Form usual_form(std::size_t bytes, int ranks, Place place) noexcept {
  if (bytes <= largest_ll_bytes(ranks, place)) return Form::one_shot_ll;
  const auto n = static_cast<std::size_t>(ranks);
  const std::size_t worth = place == Place::host ? second_wait_host : second_wait_gpu;
  const std::size_t saved = n > 2 ? bytes * (n - 1) * (n - 2) / n : 0;
  return saved > worth ? Form::two_shot : Form::one_shot_simple;
}

int blocks_for(std::size_t bytes, Form form, int ranks, int most_blocks) noexcept {
  const std::size_t per_thread = form == Form::one_shot_ll ? ll_payload_bytes : vector_bytes;
  std::size_t words = divide_up(bytes, per_thread);
  if (form == Form::two_shot) words = divide_up(words, static_cast<std::size_t>(ranks));
  const std::size_t most = static_cast<std::size_t>(std::min(most_blocks, most_kernel_blocks));
  return static_cast<int>(std::clamp<std::size_t>(divide_up(words, kernel_threads), 1, most));
}

}  // namespace lanewise::direct
