// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/model/waves.hpp"

#include <algorithm>
#include <array>

#include "core/nccl/launch_rule.hpp"

namespace lanewise {
namespace {

// An all-reduce moves each byte twice past every rank.
constexpr std::size_t traffic_per_byte = 2;

// Payload of one thread in a pass: LL sends 16-byte lines of half data, half flags; Simple moves
// 16 bytes.
constexpr std::size_t ll_pass_bytes = 8;
constexpr std::size_t simple_pass_bytes = 16;

// How a release cuts a message over channels: NCCL_ABI.md section 3.
struct Scheduling {
  NcclRelease since;
  std::size_t least_task_traffic;
  std::size_t least_channel_traffic;
  std::size_t cell_traffic;  // 0: a cell is 16 bytes of data
  std::size_t ll_factor;
};
constexpr std::array schedulings = {
    Scheduling{{2, 29, 0}, 32 << 10, 0, 32 << 10, 4},
    Scheduling{{2, 26, 0}, 16 << 10, 16 << 10, 16 << 10, 4},
    Scheduling{{2, 23, 0}, 16 << 10, 16 << 10, 16 << 10, 1},
    Scheduling{{2, 22, 0}, 512, 512, 0, 1},
};

constexpr std::size_t divide_up(std::size_t a, std::size_t b) noexcept { return (a + b - 1) / b; }
constexpr std::size_t round_up_16(std::size_t a) noexcept { return divide_up(a, 16) * 16; }

LaunchQuestion question_of(Algorithm algorithm, Protocol protocol, std::size_t bytes,
                           const Communicator& communicator) noexcept {
  return {.algorithm = algorithm,
          .protocol = protocol,
          .bytes = bytes,
          .ranks = communicator.ranks,
          .channels = communicator.channels,
          .release = communicator.release,
          .ring_gbs = communicator.ring_gbs};
}

struct Spread {
  int channels = 1;
  std::size_t fullest_bytes = 0;
};

// 2.21 gives a tuned operation the channels asked for, in even pieces.
Spread spread_evenly(std::size_t bytes, int wanted) noexcept {
  const std::size_t piece = round_up_16(divide_up(bytes, static_cast<std::size_t>(wanted)));
  return {static_cast<int>(divide_up(bytes, std::max<std::size_t>(piece, 1))),
          std::min(piece, bytes)};
}

Spread spread_in_cells(std::size_t bytes, int wanted, Protocol protocol,
                       const Scheduling& rule) noexcept {
  const std::size_t per_byte =
      traffic_per_byte * (protocol == Protocol::ll ? rule.ll_factor : std::size_t{1});
  const std::size_t task = std::max(rule.least_task_traffic, bytes * per_byte);
  const std::size_t share = task / static_cast<std::size_t>(wanted);
  const std::size_t channel_traffic = rule.least_channel_traffic > 0
                                          ? std::max(rule.least_channel_traffic, share)
                                          : round_up_16(share);
  const std::size_t cell =
      rule.cell_traffic > 0 ? round_up_16(divide_up(rule.cell_traffic, per_byte)) : 16;
  const std::size_t cells = divide_up(bytes, cell);
  const std::size_t cells_per_channel =
      std::max<std::size_t>(1, std::min(cells, divide_up(channel_traffic, cell * per_byte)));
  const auto channels = static_cast<int>(divide_up(cells, cells_per_channel));
  return {std::clamp(channels, 1, wanted), std::min(bytes, cells_per_channel * cell)};
}

Spread spread(std::size_t bytes, int wanted, Protocol protocol,
              const NcclRelease& release) noexcept {
  for (const auto& rule : schedulings)
    if (release >= rule.since) return spread_in_cells(bytes, wanted, protocol, rule);
  return spread_evenly(bytes, wanted);
}

}  // namespace

bool is_modelled(Algorithm algorithm, Protocol protocol) noexcept {
  return (algorithm == Algorithm::tree || algorithm == Algorithm::ring) &&
         protocol != Protocol::ll128;
}

int default_channels(Algorithm algorithm, Protocol protocol, std::size_t bytes,
                     const Communicator& communicator) noexcept {
  return own_channels(question_of(algorithm, protocol, bytes, communicator), communicator.limits);
}

int most_channels(Algorithm algorithm, Protocol protocol, std::size_t bytes,
                  const Communicator& communicator) noexcept {
  const int there = std::max(communicator.channels, 1);
  // NCCL's count of other algorithms is not known here.
  if (algorithm != Algorithm::tree && algorithm != Algorithm::ring) return there;
  return scheduled_channels(there, question_of(algorithm, protocol, bytes, communicator),
                            communicator.limits);
}

Launch launch_of(const Choice& choice, std::size_t bytes,
                 const Communicator& communicator) noexcept {
  const auto question = question_of(choice.algorithm, choice.protocol, bytes, communicator);
  const int wanted = scheduled_channels(choice.channels, question, communicator.limits);
  Launch launch;
  launch.threads = launched_threads(choice.channels, question, communicator.limits);
  const Spread pieces = spread(bytes, wanted, choice.protocol, communicator.release);
  launch.channels = pieces.channels;
  const auto ranks = static_cast<std::size_t>(std::max(communicator.ranks, 1));
  launch.slice_bytes = choice.algorithm == Algorithm::ring ? divide_up(pieces.fullest_bytes, ranks)
                                                           : pieces.fullest_bytes;
  const std::size_t pass =
      static_cast<std::size_t>(launch.threads) *
      (choice.protocol == Protocol::simple ? simple_pass_bytes : ll_pass_bytes);
  launch.waves = static_cast<int>(std::max<std::size_t>(1, divide_up(launch.slice_bytes, pass)));
  return launch;
}

}  // namespace lanewise
