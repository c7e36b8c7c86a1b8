// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <stdexcept>

#include "one_shot.hpp"

namespace lanewise::bench {

class OneShot::Group {};

OneShotRoute route_from_environment() { return OneShotRoute::host_memory; }
OneShot::OneShot(int, int, const Gather&, OneShotOptions) {
  throw std::runtime_error("the fake GPU has no one-shot all-reduce");
}
OneShot::~OneShot() = default;
void OneShot::launch(cudaStream_t, const void*, void*, std::size_t, DataType) const {}
void OneShot::check() const {}
bool OneShot::uses_host_memory() const noexcept { return true; }

}  // namespace lanewise::bench
