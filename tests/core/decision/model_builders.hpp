// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Short ways to a communicator's inputs, its costs and a query.
#include "core/decision/decision.hpp"
#include "core/decision/policy_inputs.hpp"
#include "core/nccl/cost_model.hpp"

namespace lanewise::testing {

inline PolicyInputs policy_inputs(int ranks = 8, NcclRelease release = {2, 30, 7}) {
  PolicyInputs inputs;
  inputs.ranks = ranks;
  inputs.release = release;
  return inputs;
}

inline Query all_reduce(std::size_t bytes, int ranks = 8) {
  return {Collective::all_reduce, bytes, ranks, 1, 1};
}

// What NCCL finds on two H200s without peer access: it gives stock's picks of the measured data.
inline CostModelInputs host_memory_machine(int ranks = 8) {
  CostModelInputs inputs;
  inputs.ranks = ranks;
  inputs.compute_capability = 90;
  inputs.release = {2, 30, 7};
  inputs.ring = {2, 20};
  inputs.tree = {2, 40};
  return inputs;
}

// What NCCL does to Ring's costs for fp8 on more than 8 ranks; what it ignores is multiplied, too.
inline void guard_ring(CostArray& costs) {
  for (std::size_t i = protocol_count; i < 2 * protocol_count; ++i) costs[i] *= 1024;
}

inline CostTable view(CostArray& costs) { return {costs.data(), 7, 3}; }

}  // namespace lanewise::testing
