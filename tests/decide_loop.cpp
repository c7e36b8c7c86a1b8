// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// Decides one remembered call as often as told, for counting instructions.
#include <cstdlib>

#include "lanewise/composite_policy.hpp"
#include "model_builders.hpp"

int main(int argc, char** argv) {
  using namespace lanewise;
  const int times = argc > 1 ? std::atoi(argv[1]) : 1;
  constexpr std::size_t bytes = 14336;
  PriceTable prices = price_table(bytes, testing::host_memory_machine());
  const auto policy = make_policy(testing::policy_inputs());
  const Query query = testing::all_reduce(bytes);
  int answers = 0;
  for (int i = 0; i < times; ++i)
    if (policy->decide(query, testing::view(prices))) ++answers;
  return answers == times ? EXIT_SUCCESS : EXIT_FAILURE;
}
