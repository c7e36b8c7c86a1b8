// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "group/layout.hpp"

#include "direct/kernel_plan.hpp"

namespace lanewise::direct {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t vector_bytes = 16;
constexpr std::size_t ll_payload_bytes = 8;
constexpr std::size_t all_flag_bytes = std::size_t{flag_phases} * most_kernel_blocks * flag_bytes;

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

Layout::Layout(int ranks, int sets, std::size_t max_bytes, std::size_t ll_bytes)
    : ll_lines(round_up(ll_bytes, page_bytes) / ll_payload_bytes),
      data_offset(ll_lines * vector_bytes),
      sums_offset(data_offset + round_up(max_bytes, page_bytes)),
      flags_offset(
          sums_offset +
          round_up(max_bytes / static_cast<std::size_t>(ranks) + vector_bytes, page_bytes)),
      half_bytes(round_up(flags_offset + all_flag_bytes, page_bytes)),
      area_bytes(static_cast<std::size_t>(sets) * 2 * half_bytes),
      total_bytes(static_cast<std::size_t>(ranks) * area_bytes) {}

}  // namespace lanewise::direct
