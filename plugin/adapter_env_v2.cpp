// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "environment_layer.hpp"
#include "guard.hpp"
#include "nccl_abi_env.hpp"

namespace lanewise::plugin {
namespace {

abi::Result init(std::uint8_t major, std::uint8_t minor, std::uint8_t patch, const char*,
                 abi::DebugLogger logger) noexcept {
  return guarded(logger, [&] { open_env(logger, {major, minor, patch}); });
}

// Answers stay valid as long as the library is loaded, so there is nothing to end.
abi::Result finalize() noexcept { return abi::success; }

}  // namespace

extern "C" {
[[gnu::visibility("default")]] abi::EnvV2 ncclEnvPlugin_v2 = {
    .name = "lanewise", .init = init, .finalize = finalize, .get_env = answer_env};
}

}  // namespace lanewise::plugin
