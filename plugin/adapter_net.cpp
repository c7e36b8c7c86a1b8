// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "environment_layer.hpp"
#include "guard.hpp"
#include "nccl_abi_net.hpp"

namespace lanewise::plugin {
namespace {

constexpr const char* name = "lanewise";

// Success, then no devices: every release goes on with its own networks, and takes the tuner from
// this library. A failing init would crash 2.28.3 to 2.29.3.
abi::Result init(abi::DebugLogger logger) noexcept {
  return guarded(logger, [&] { open_net(logger); });
}

abi::Result init_v10(abi::DebugLogger logger, abi::ProfilerCallback) noexcept {
  return init(logger);
}

abi::Result init_v11(void** context, std::uint64_t, abi::NetConfig*, abi::DebugLogger logger,
                     abi::ProfilerCallback) noexcept {
  if (context != nullptr) *context = nullptr;
  return init(logger);
}

abi::Result devices(int* count) noexcept {
  if (count != nullptr) *count = 0;
  return abi::success;
}

// NCCL 2.28 and later call it for a plugin without devices; the context is null then.
abi::Result finalize(void*) noexcept { return abi::success; }

abi::Result refuse() noexcept { return abi::internal_error; }

template <typename Plugin, typename Init>
constexpr Plugin decline(Init with) {
  Plugin plugin{.name = name, .init = with, .devices = devices, .refused = {}};
  plugin.refused.fill(refuse);
  return plugin;
}

}  // namespace

extern "C" {
[[gnu::visibility("default")]] abi::NetV6 ncclNetPlugin_v6 = decline<abi::NetV6>(init);
[[gnu::visibility("default")]] abi::NetV7 ncclNetPlugin_v7 = decline<abi::NetV7>(init);
[[gnu::visibility("default")]] abi::NetV8 ncclNetPlugin_v8 = decline<abi::NetV8>(init);
[[gnu::visibility("default")]] abi::NetV9 ncclNetPlugin_v9 = decline<abi::NetV9>(init);
[[gnu::visibility("default")]] abi::NetV10 ncclNetPlugin_v10 = decline<abi::NetV10>(init_v10);
[[gnu::visibility("default")]] abi::NetV11 ncclNetPlugin_v11 = {
    decline<decltype(abi::NetV11::common)>(init_v11), finalize, refuse};
[[gnu::visibility("default")]] abi::NetV12 ncclNetPlugin_v12 = {
    decline<decltype(abi::NetV12::common)>(init_v11), finalize, refuse};
}

}  // namespace lanewise::plugin
