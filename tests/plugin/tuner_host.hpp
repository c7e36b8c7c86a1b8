// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// NCCL's side of the tuner for the tests: the built plugin, opened once per test, and the same
// three calls for every ABI version.
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "nccl_abi.hpp"

namespace lanewise::testing {

// Costs as NCCL hands them over, [7][3].
using Costs = std::array<float, 21>;

struct Ask {
  int function = 4;  // all-reduce
  std::size_t bytes = 14336;
  int pipe_ops = 1;
  int is_registered = 0;
};

// The outputs after the call: the indices are v2's, the costs v3's and later.
struct Reply {
  int algorithm = -1;
  int protocol = -1;
  int channels = 0;
  Costs costs{};
};

inline Costs pcie_costs() {
  Costs costs;
  costs.fill(-1.0F);
  costs[0] = 22.5F;  // tree/LL
  costs[2] = 64.8F;  // tree/Simple
  costs[3] = 21.9F;  // ring/LL
  costs[5] = 88.8F;  // ring/Simple
  return costs;
}

class PluginFile {
 public:
  PluginFile() : handle_(::dlopen(LANEWISE_PLUGIN_FILE, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) throw std::runtime_error(::dlerror());
  }
  PluginFile(const PluginFile&) = delete;
  PluginFile& operator=(const PluginFile&) = delete;
  ~PluginFile() { ::dlclose(handle_); }

  template <typename Struct>
  [[nodiscard]] Struct& symbol(const std::string& name) const {
    void* address = ::dlsym(handle_, name.c_str());
    if (address == nullptr) throw std::runtime_error("no symbol " + name);
    return *static_cast<Struct*>(address);
  }

 private:
  void* handle_;
};

template <int Version, typename Tuner>
struct Abi {
  static constexpr int version = Version;
  using Struct = Tuner;
};
using V2 = Abi<2, abi::TunerV2>;
using V3 = Abi<3, abi::TunerV3>;
using V4 = Abi<4, abi::TunerV4>;
using V5 = Abi<5, abi::TunerV5>;
using V6 = Abi<6, abi::TunerV6>;
using V7 = Abi<7, abi::TunerV7>;

// One rank of a communicator whose other ranks, from v5 on, are threads that come and go: all ranks
// must agree. Results are what NCCL would see; `result` gathers every failure.
template <typename Version>
class Communicator {
 public:
  Communicator(const PluginFile& plugin, std::size_t ranks, std::size_t nodes,
               abi::DebugLogger logger = nullptr)
      : tuner_(plugin.symbol<typename Version::Struct>("ncclTunerPlugin_v" +
                                                       std::to_string(Version::version))) {
    if constexpr (Version::version < 5) {
      result = tuner_.init(ranks, nodes, logger, &context_);
    } else {
      std::vector<std::thread> others;
      const bool has_others = nodes == 1 && ranks <= most_threads;
      for (std::size_t rank = 1; has_others && rank < ranks; ++rank)
        others.emplace_back([&] { play_other_rank(ranks, logger == nullptr ? nullptr : ignore); });
      result = tuner_.init(&context_, communicator, ranks, nodes, logger, nullptr, nullptr);
      for (auto& other : others) other.join();
    }
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator() {
    if constexpr (Version::version < 5) {
      tuner_.destroy(context_);
    } else {
      tuner_.finalize(context_);
    }
  }

  [[nodiscard]] Reply ask(const Ask& ask, const Costs& costs) {
    Reply reply{.costs = costs};
    auto** table = reinterpret_cast<float**>(reply.costs.data());
    if constexpr (Version::version == 2) {
      result |= tuner_.get_coll_info(context_, ask.function, ask.bytes, 0, 0, ask.pipe_ops,
                                     &reply.algorithm, &reply.protocol, &reply.channels);
    } else if constexpr (Version::version == 3) {
      result |= tuner_.get_coll_info(context_, ask.function, ask.bytes, ask.pipe_ops, table, 7, 3,
                                     &reply.channels);
    } else {
      result |= tuner_.get_coll_info(context_, ask.function, ask.bytes, ask.pipe_ops, table, 7, 3,
                                     ask.is_registered, &reply.channels);
    }
    return reply;
  }

  int result = 0;

 private:
  static constexpr std::size_t most_threads = 64;
  // Test processes run at the same time, as one user on one machine: as in NCCL, a communicator of
  // its own for each, or their ranks meet.
  const std::uint64_t communicator = 0x77ULL << 32 | static_cast<std::uint64_t>(getpid());

  static void ignore(int, unsigned long, const char*, int, const char*, ...) {}

  void play_other_rank(std::size_t ranks, abi::DebugLogger logger) {
    if constexpr (Version::version >= 5) {
      void* context = nullptr;
      tuner_.init(&context, communicator, ranks, 1, logger, nullptr, nullptr);
      tuner_.finalize(context);
    }
  }

  typename Version::Struct& tuner_;
  void* context_ = nullptr;
};

// NCCL's rule after the call: v2's indices where both are set, else the cheapest priced entry.
inline std::optional<int> pick(const Reply& reply) {
  if (reply.algorithm >= 0 && reply.protocol >= 0) return reply.algorithm * 3 + reply.protocol;
  std::optional<int> best;
  for (int i = 0; i < static_cast<int>(reply.costs.size()); ++i) {
    const float cost = reply.costs[static_cast<std::size_t>(i)];
    if (cost >= 0 && (!best || cost < reply.costs[static_cast<std::size_t>(*best)])) best = i;
  }
  return best;
}

inline bool is_untouched(const Reply& reply, const Costs& before) {
  return reply.algorithm == -1 && reply.protocol == -1 && reply.channels == 0 &&
         reply.costs == before;
}

}  // namespace lanewise::testing
