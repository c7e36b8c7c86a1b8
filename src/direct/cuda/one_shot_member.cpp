// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "direct/one_shot_member.hpp"

#include <unistd.h>

#include "direct/cuda_check.hpp"

namespace lanewise::bench {
namespace {

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

std::array<std::uint64_t, 2> uuid_of(int device) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  std::array<std::uint64_t, 2> words{};
  static_assert(sizeof(words) == sizeof(properties.uuid));
  std::memcpy(words.data(), &properties.uuid, sizeof(words));
  return words;
}

}  // namespace

bool is_granted(cudaError_t status) noexcept {
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
  return status == cudaSuccess || status == cudaErrorPeerAccessAlreadyEnabled;
}

bool can_access(int device, int other) noexcept {
  int access = 0;
  return is_granted(cudaDeviceCanAccessPeer(&access, device, other)) && access != 0;
}

Introduction introduce(int device, const OneShotOptions& options) {
  const auto uuid = uuid_of(device);
  Introduction mine;
  mine.process = static_cast<std::uint64_t>(::getpid());
  mine.gpu_low = uuid[0];
  mine.gpu_high = uuid[1];
  mine.device = static_cast<std::uint64_t>(device);
  mine.multiprocessors =
      static_cast<std::uint64_t>(attribute(cudaDevAttrMultiProcessorCount, device));
  mine.max_bytes = options.max_bytes;
  mine.route = static_cast<std::uint64_t>(options.route);
  mine.protocol = options.protocol ? 1 + static_cast<std::uint64_t>(*options.protocol) : 0;
  return mine;
}

bool is_same_gpu(const Introduction& a, const Introduction& b) noexcept {
  return a.gpu_low == b.gpu_low && a.gpu_high == b.gpu_high;
}

std::optional<int> find_device(const Introduction& other) {
  int count = 0;
  check_cuda(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  for (int device = 0; device < count; ++device) {
    const auto uuid = uuid_of(device);
    if (uuid[0] == other.gpu_low && uuid[1] == other.gpu_high) return device;
  }
  return std::nullopt;
}

void require_agreement(const std::vector<Introduction>& all) {
  for (const Introduction& one : all) {
    if (one.max_bytes != all.front().max_bytes || one.route != all.front().route ||
        one.protocol != all.front().protocol) {
      throw Error("one-shot: the ranks were given different options");
    }
  }
}

}  // namespace lanewise::bench
