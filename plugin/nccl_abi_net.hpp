// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The net plugin's ABI as far as a plugin without devices needs it: NCCL calls init and devices,
// from v11 on finalize, and nothing else. The other members have their place and refuse.
#include <array>
#include <cstddef>
#include <cstdint>

#include "nccl_abi.hpp"

namespace lanewise::abi {

inline constexpr Result internal_error = 3;

struct NetConfig;  // {int traffic_class} so far
using ProfilerCallback = Result (*)(void** event, int type, void* parent, std::int64_t plugin,
                                    void* data);

using NetInitV6 = Result (*)(DebugLogger);
using NetInitV10 = Result (*)(DebugLogger, ProfilerCallback);
// Called for each communicator until devices said 0.
using NetInitV11 = Result (*)(void** context, std::uint64_t communicator, NetConfig*, DebugLogger,
                              ProfilerCallback);

// A member that is never called; its caller's arguments are its caller's to clean up.
using NetRefusal = Result (*)();

// getProperties to closeListen are 14 members; v7 adds getDeviceMr and irecvConsumed, v9
// makeVDevice.
template <typename Init, std::size_t refusals>
struct Net {
  const char* name;
  Init init;
  Result (*devices)(int* count);
  std::array<NetRefusal, refusals> refused;
};
using NetV6 = Net<NetInitV6, 14>;
using NetV7 = Net<NetInitV6, 16>;
using NetV8 = NetV7;
using NetV9 = Net<NetInitV6, 17>;
using NetV10 = Net<NetInitV10, 17>;

struct NetV11 {
  Net<NetInitV11, 17> common;
  Result (*finalize)(void* context);
  NetRefusal set_net_attributes;
};
using NetV12 = NetV11;

}  // namespace lanewise::abi
