// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The forms of the direct all-reduce, and which one a size takes where nothing was measured. Every
// rank computes the same from the same input. No CUDA.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lanewise::direct {

// one_shot_ll: everyone reads everyone's data, each word with its flag; twice the bytes, no fence.
// one_shot_simple: data, then a flag a block. two_shot: reduce-scatter, then all-gather.
enum class Form : std::uint8_t { one_shot_ll, one_shot_simple, two_shot };
inline constexpr std::size_t form_count = 3;
[[nodiscard]] std::string_view name_of(Form form) noexcept;
[[nodiscard]] std::optional<Form> parse_form(std::string_view word) noexcept;

enum class Element : std::uint8_t { fp32, fp16, bf16 };
inline constexpr std::size_t element_count = 3;
[[nodiscard]] std::string_view name_of(Element element) noexcept;
[[nodiscard]] constexpr std::size_t size_of(Element element) noexcept {
  return element == Element::fp32 ? 4 : 2;
}

// Where the ranks meet: memory of the host, or of the one GPU that all of them share.
enum class Place : std::uint8_t { host, gpu };
[[nodiscard]] std::string_view name_of(Place place) noexcept;

[[nodiscard]] Form usual_form(std::size_t bytes, int ranks, Place place) noexcept;
// The largest size that usual_form() gives to LL.
[[nodiscard]] std::size_t largest_ll_bytes(int ranks, Place place) noexcept;
// `bytes` > 0.
[[nodiscard]] int blocks_for(std::size_t bytes, Form form, int ranks, int most_blocks) noexcept;

}  // namespace lanewise::direct
