// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Waiting for a word in shared memory: spins first, since a barrier before a timed launch must be
// left within a microsecond, then sleeps, since an idle rank_group must not take a core.
#include <chrono>
#include <thread>

namespace lanewise::bench {

class Backoff {
 public:
  // One more look has failed.
  void pause() noexcept {
    ++looks_;
    if (looks_ < spinning_looks) return;
    if (looks_ < yielding_looks) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(nap);
    }
  }

 private:
  static constexpr int spinning_looks = 20'000;  // some 20 us
  static constexpr int yielding_looks = 20'400;
  static constexpr std::chrono::microseconds nap{50};
  int looks_ = 0;
};

}  // namespace lanewise::bench
