// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "direct/group.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>

#include "core/error.hpp"
#include "device.hpp"
#include "fake_gpu/fake_cuda.hpp"
#include "rank_threads.hpp"

namespace lanewise::direct {
namespace {

using device::Bfloat16;
using device::Float16;

constexpr Form all_forms[] = {Form::one_shot_ll, Form::one_shot_simple, Form::two_shot};
constexpr unsigned char guard = 0xa5;

template <typename T>
constexpr Element element_of() {
  if (sizeof(T) == 4) return Element::fp32;
  return std::is_same_v<T, Float16> ? Element::fp16 : Element::bf16;
}

// Sums of these round in every type.
float value_of(int seed, int rank, std::size_t index) {
  const auto word = static_cast<unsigned>(seed) * 2654435761U +
                    static_cast<unsigned>(index) * 40503U + static_cast<unsigned>(rank) * 9176U;
  return static_cast<float>(static_cast<int>(word >> 8U & 0xfffU) - 0x800) / 64.0F;
}

template <typename T>
T rounded(float value) {
  T result{};
  device::from_float(value, result);
  return result;
}

template <typename T>
T expected(int seed, int ranks, std::size_t index) {
  float sum = 0;
  for (int rank = 0; rank < ranks; ++rank)
    sum += device::to_float(rounded<T>(value_of(seed, rank, index)));
  return rounded<T>(sum);
}

// Buffers of one call with a guard before and after; `shift` elements off every alignment.
template <typename T>
struct CallBuffers {
  CallBuffers(int seed, int rank, std::size_t count_in, std::size_t shift_in)
      : count(count_in), shift(shift_in), in(count_in + 32), out(count_in + 32) {
    std::memset(static_cast<void*>(out.data()), guard, out.size() * sizeof(T));
    for (std::size_t i = 0; i < count; ++i) in[shift + i] = rounded<T>(value_of(seed, rank, i));
  }
  T* input() { return in.data() + shift; }
  T* output() { return out.data() + shift; }
  // The first element that is wrong, or a touched guard, as text.
  std::string fault(int seed, int ranks, const T* sums) const {
    for (std::size_t i = 0; i < count; ++i) {
      const T wanted = expected<T>(seed, ranks, i);
      if (std::memcmp(&sums[i], &wanted, sizeof(T)) != 0) return "element " + std::to_string(i);
    }
    const auto* bytes = reinterpret_cast<const unsigned char*>(out.data());
    for (std::size_t i = 0; i < out.size() * sizeof(T); ++i) {
      const bool is_inside = i >= shift * sizeof(T) && i < (shift + count) * sizeof(T);
      if (!is_inside && bytes[i] != guard) return "guard byte " + std::to_string(i);
    }
    return {};
  }

  std::size_t count;
  std::size_t shift;
  std::vector<T> in;
  std::vector<T> out;
};

GroupOptions usual_options() {
  GroupOptions options;
  options.max_bytes = std::size_t{64} << 10;
  options.ll_bytes = options.max_bytes;
  options.graphs = 3;
  return options;
}

template <typename T>
void check_call(Group& group, CUstream_st* stream, int rank, int ranks, Form form,
                std::size_t count, std::size_t shift) {
  const int seed = static_cast<int>(count + shift);
  CallBuffers<T> buffers(seed, rank, count, shift);

  ASSERT_EQ(group.launch(stream, buffers.input(), buffers.output(), count, element_of<T>(), form),
            Taken::done);
  cuStreamSynchronize(stream);

  EXPECT_EQ(buffers.fault(seed, ranks, buffers.output()), "")
      << name_of(form) << " of " << count << " " << name_of(element_of<T>());
}

class GroupOfRanks : public ::testing::TestWithParam<int> {};

TEST_P(GroupOfRanks, SumsEverythingInEveryFormAtEveryAlignment) {
  const int ranks = GetParam();
  run_ranks(ranks, [&](int rank, const Group::Gather& gather) {
    Group group(rank, ranks, gather, usual_options());
    TestStream stream;
    for (const Form form : all_forms) {
      for (const std::size_t count : {1, 3, 9, 130, 4099}) {
        for (const std::size_t shift : {0, 1, 8}) {
          check_call<float>(group, stream.get(), rank, ranks, form, count, shift);
          check_call<Float16>(group, stream.get(), rank, ranks, form, count, shift);
          check_call<Bfloat16>(group, stream.get(), rank, ranks, form, count, shift);
        }
      }
    }
  });
}
INSTANTIATE_TEST_SUITE_P(Ranks, GroupOfRanks, ::testing::Values(2, 3, 5));

TEST(Group, SumsInPlaceAndInRowsWithoutAPause) {
  constexpr int ranks = 3;
  run_ranks(ranks, [](int rank, const Group::Gather& gather) {
    Group group(rank, ranks, gather, usual_options());
    TestStream stream;
    std::vector<CallBuffers<Bfloat16>> calls;
    for (int call = 0; call < 24; ++call)
      calls.emplace_back(call, rank, 1 + static_cast<std::size_t>(call) * 173 % 2900, 0);

    for (std::size_t call = 0; call < calls.size(); ++call) {
      ASSERT_EQ(group.launch(stream.get(), calls[call].input(), calls[call].input(),
                             calls[call].count, Element::bf16, all_forms[call % 3]),
                Taken::done);
    }
    cuStreamSynchronize(stream.get());

    for (std::size_t call = 0; call < calls.size(); ++call)
      EXPECT_EQ(calls[call].fault(static_cast<int>(call), ranks, calls[call].input()), "") << call;
  });
}

TEST(Group, OrdersTheCallsOfSeveralStreams) {
  constexpr int ranks = 2;
  run_ranks(ranks, [](int rank, const Group::Gather& gather) {
    Group group(rank, ranks, gather, usual_options());
    TestStream streams[2];
    std::vector<CallBuffers<float>> calls;
    for (int call = 0; call < 30; ++call) calls.emplace_back(call, rank, 700, 0);

    // The ranks change streams at different calls: only the order of calls is theirs in common.
    for (std::size_t call = 0; call < calls.size(); ++call) {
      const std::size_t which = rank == 0 ? call % 2 : call / 3 % 2;
      ASSERT_EQ(group.launch(streams[which].get(), calls[call].input(), calls[call].output(), 700,
                             Element::fp32, all_forms[call % 3]),
                Taken::done);
    }
    for (TestStream& stream : streams) cuStreamSynchronize(stream.get());

    for (std::size_t call = 0; call < calls.size(); ++call)
      EXPECT_EQ(calls[call].fault(static_cast<int>(call), ranks, calls[call].output()), "");
  });
}

TEST(Group, ReplaysGraphsBesideEagerCallsOfOtherStreams) {
  constexpr int ranks = 2;
  run_ranks(ranks, [](int rank, const Group::Gather& gather) {
    Group group(rank, ranks, gather, usual_options());
    TestStream captured;
    TestStream second;
    TestStream eager;
    CallBuffers<float> of_first(1, rank, 900, 0);
    CallBuffers<float> of_second(2, rank, 1100, 0);
    const TestGraph graph(captured.get(), [&] {
      for (int call = 0; call < 4; ++call)
        EXPECT_EQ(group.launch(captured.get(), of_first.input(), of_first.output(), 900,
                               Element::fp32, all_forms[call % 3]),
                  Taken::done);
    });
    const TestGraph other(second.get(), [&] {
      EXPECT_EQ(group.launch(second.get(), of_second.input(), of_second.output(), 1100,
                             Element::fp32, Form::one_shot_ll),
                Taken::done);
    });

    // Each rank has an order of its own between the three.
    std::vector<CallBuffers<float>> calls;
    for (int call = 0; call < 12; ++call) calls.emplace_back(3 + call, rank, 500, 0);
    for (int call = 0; call < 12; ++call) {
      if (rank == 0) graph.launch(captured.get());
      ASSERT_EQ(group.launch(eager.get(), calls[static_cast<std::size_t>(call)].input(),
                             calls[static_cast<std::size_t>(call)].output(), 500, Element::fp32,
                             std::nullopt),
                Taken::done);
      other.launch(second.get());
      if (rank != 0) graph.launch(captured.get());
    }
    for (auto* stream : {captured.get(), second.get(), eager.get()}) cuStreamSynchronize(stream);

    EXPECT_EQ(of_first.fault(1, ranks, of_first.output()), "");
    EXPECT_EQ(of_second.fault(2, ranks, of_second.output()), "");
    for (std::size_t call = 0; call < calls.size(); ++call)
      EXPECT_EQ(calls[call].fault(3 + static_cast<int>(call), ranks, calls[call].output()), "");
  });
}

TEST(Group, DeclinesCapturesBeyondItsSlotSets) {
  constexpr int ranks = 2;
  run_ranks(ranks, [](int rank, const Group::Gather& gather) {
    Group group(rank, ranks, gather, usual_options());
    TestStream stream;
    float data[4] = {};
    for (int capture = 0; capture < 5; ++capture) {
      const TestGraph graph(stream.get(), [&] {
        const Taken taken = group.launch(stream.get(), data, data, 4, Element::fp32, std::nullopt);
        EXPECT_EQ(taken, capture < 3 ? Taken::done : Taken::declined) << capture;
      });
    }
  });
}

TEST(Group, DeclinesWhatItsMemoryDoesNotHold) {
  constexpr int ranks = 2;
  run_ranks(ranks, [](int rank, const Group::Gather& gather) {
    Group group(rank, ranks, gather, usual_options());
    TestStream stream;

    EXPECT_EQ(group.launch(stream.get(), nullptr, nullptr, 32769, Element::fp16, std::nullopt),
              Taken::declined);
    EXPECT_EQ(group.launch(stream.get(), nullptr, nullptr, 0, Element::fp16, std::nullopt),
              Taken::declined);
  });
}

TEST(Group, ReleasesItsKernelsWhenItIsAborted) {
  constexpr int ranks = 2;
  run_ranks(ranks, [](int rank, const Group::Gather& gather) {
    Group group(rank, ranks, gather, usual_options());
    TestStream stream;
    std::vector<float> data(600);
    if (rank == 1) return;  // its call never comes
    for (const Form form : all_forms)
      ASSERT_EQ(group.launch(stream.get(), data.data(), data.data(), 600, Element::fp32, form),
                Taken::done);

    group.abort();

    EXPECT_TRUE(group.drain([] { return true; }));
  });
}

TEST(Group, DrainsWithoutLosingACallOfALateRank) {
  constexpr int ranks = 2;
  run_ranks(ranks, [](int rank, const Group::Gather& gather) {
    Group group(rank, ranks, gather, usual_options());
    TestStream stream;
    CallBuffers<float> buffers(7, rank, 600, 0);
    if (rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ASSERT_EQ(group.launch(stream.get(), buffers.input(), buffers.output(), 600, Element::fp32,
                           Form::two_shot),
              Taken::done);

    EXPECT_TRUE(group.drain([] { return false; }));

    EXPECT_EQ(buffers.fault(7, ranks, buffers.output()), "");
  });
}

TEST(Group, MeetsInTheMemoryOfAGpuThatAllShare) {
  setenv("FAKE_CUDA_ONE_GPU", "1", 1);
  run_ranks(2, [](int rank, const Group::Gather& gather) {
    Group group(rank, 2, gather, usual_options());
    GroupOptions options = usual_options();
    options.may_use_gpu = false;
    const Group on_host(rank, 2, gather, options);
    TestStream stream;

    EXPECT_EQ(group.memory().place, Place::gpu);
    EXPECT_EQ(on_host.memory().place, Place::host);
    check_call<float>(group, stream.get(), rank, 2, Form::two_shot, 3000, 0);
  });
  unsetenv("FAKE_CUDA_ONE_GPU");
}

TEST(Group, SaysWhatTheDriverRefused) {
  setenv("FAKE_CUDA_REFUSES", "cuMemHostRegister", 1);
  run_ranks(2, [](int rank, const Group::Gather& gather) {
    try {
      const Group group(rank, 2, gather, usual_options());
      ADD_FAILURE() << "memory that was not pinned";
    } catch (const Error& error) {
      // The other one may find the memory gone by then.
      if (rank != 0) return;
      EXPECT_NE(std::string(error.what()).find("host memory: CUDA_ERROR_OUT_OF_MEMORY"),
                std::string::npos)
          << error.what();
    }
  });
  unsetenv("FAKE_CUDA_REFUSES");
}

TEST(Group, RefusesRanksThatWereGivenDifferentOptions) {
  run_ranks(2, [](int rank, const Group::Gather& gather) {
    GroupOptions options = usual_options();
    options.graphs += rank;
    EXPECT_THROW(Group(rank, 2, gather, options), Error);
  });
}

}  // namespace
}  // namespace lanewise::direct
