// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What NCCL can be told to run: algorithm, protocol and channels, with the names people read.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lanewise {

// The order is NCCL's index into its cost table; pat exists from NCCL 2.23 on.
enum class Algorithm : std::uint8_t {
  tree,
  ring,
  collnet_direct,
  collnet_chain,
  nvls,
  nvls_tree,
  pat
};
enum class Protocol : std::uint8_t { ll, ll128, simple };

inline constexpr std::size_t algorithm_count = 7;
inline constexpr std::size_t protocol_count = 3;

// `channels` is the number of channels to ask for; 0 leaves it to NCCL.
struct Choice {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::ll;
  int channels = 0;
  friend bool operator==(const Choice&, const Choice&) = default;
};

// Lower-case names as in NCCL's documentation: "ring", "tree", "nvlstree"; "ll", "ll128", "simple".
[[nodiscard]] std::string_view name_of(Algorithm algorithm) noexcept;
[[nodiscard]] std::string_view name_of(Protocol protocol) noexcept;
// Accepts upper and lower case and NCCL's spellings; nullopt for any other word.
[[nodiscard]] std::optional<Algorithm> parse_algorithm(std::string_view word) noexcept;
[[nodiscard]] std::optional<Protocol> parse_protocol(std::string_view word) noexcept;
// "ring/ll/4"; "ring/ll" where the channels are NCCL's.
[[nodiscard]] std::string to_string(const Choice& choice);
// The inverse; channels 1 to 64 where given, as NCCL keeps them in 8 signed bits. Nullopt for
// anything else, "ring/ll/0" and spaces included.
[[nodiscard]] std::optional<Choice> parse_choice(std::string_view text) noexcept;

}  // namespace lanewise
