// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/counters/live_counters.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "host/counters/counters_report.hpp"

namespace lanewise::host {
namespace {

namespace fs = std::filesystem;

class LiveCountersTest : public ::testing::Test {
 protected:
  LiveCountersTest() {
    std::string pattern = "/dev/shm/lanewise-test-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~LiveCountersTest() override { fs::remove_all(folder_); }

  [[nodiscard]] std::unique_ptr<LiveCounters> open(std::uint64_t communicator = 1) {
    CountersRequest request;
    request.communicator = communicator;
    request.ranks = 8;
    request.release = {2, 28, 9};
    request.gpu = PciAddress{0, 0xc1, 0, 0};
    request.folder = folder_;
    return LiveCounters::open(request, note_);
  }

  [[nodiscard]] CountedProcess only_process() const {
    auto processes = read_live_counters(folder_);
    if (processes.size() != 1) throw std::runtime_error("expected one process");
    return processes.front();
  }

  std::string folder_;
  std::string note_;
};

const CountedCall counted_by_profile{14336,
                                     Decision{{Algorithm::tree, Protocol::ll, 4}, Source::profile},
                                     CallBuffers::captured, CallEffect::applied};

TEST_F(LiveCountersTest, CountCallsBySizeChoiceAndBuffers) {
  const auto counters = open(0xabc);
  ASSERT_NE(counters, nullptr) << note_;
  counters->set_mode(CountedMode::applies);
  auto eager = counted_by_profile;
  eager.buffers = CallBuffers::eager;

  for (int i = 0; i < 3; ++i) counters->record(counted_by_profile);
  counters->record(eager);
  counters->record({.bytes = 28672});

  const auto process = only_process();
  EXPECT_EQ(process.process.pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(process.liveness, Liveness::alive);
  EXPECT_EQ(process.release, (NcclRelease{2, 28, 9}));
  ASSERT_EQ(process.communicators.size(), 1U);
  const auto& communicator = process.communicators.front();
  EXPECT_EQ(communicator.communicator, 0xabcU);
  EXPECT_EQ(communicator.ranks, 8);
  EXPECT_EQ(communicator.gpu, (PciAddress{0, 0xc1, 0, 0}));
  EXPECT_EQ(communicator.mode, CountedMode::applies);
  ASSERT_EQ(communicator.sizes.size(), 3U);
  std::map<CallBuffers, std::uint64_t> of_14k;
  for (const auto& size : communicator.sizes)
    if (size.call.bytes == 14336) of_14k[size.call.buffers] = size.calls;
  EXPECT_EQ(of_14k[CallBuffers::captured], 3U);
  EXPECT_EQ(of_14k[CallBuffers::eager], 1U);
  EXPECT_FALSE(communicator.sizes.back().call.decision);
}

TEST_F(LiveCountersTest, HaveOneFileOf64KiBForAllCommunicators) {
  std::vector<std::unique_ptr<LiveCounters>> all;
  for (std::uint64_t i = 0; i < 300; ++i) {
    all.push_back(open(i));
    ASSERT_NE(all.back(), nullptr) << note_;
    all.back()->record(counted_by_profile);
  }

  ASSERT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
  EXPECT_EQ(fs::file_size(fs::directory_iterator(folder_)->path()), 65536U);
  std::uint64_t calls = 0;
  for (const auto& communicator : only_process().communicators)
    for (const auto& size : communicator.sizes) calls += size.calls;
  EXPECT_EQ(calls, 300U);
}

std::uint64_t sum_of_calls(const CountedProcess& process) {
  std::uint64_t calls = process.lost_calls;
  for (const auto& communicator : process.communicators)
    for (const auto& size : communicator.sizes) calls += size.calls;
  return calls;
}

TEST_F(LiveCountersTest, CountExactlyAboveTheirRecords) {
  constexpr std::uint64_t communicators = 300;
  constexpr std::uint64_t calls_of_each = 200'000;
  constexpr std::uint64_t threads_at_once = 8;
  std::vector<std::unique_ptr<LiveCounters>> all;
  for (std::uint64_t i = 0; i < communicators; ++i) all.push_back(open(i));
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < threads_at_once; ++i)
    threads.emplace_back([&, i] {
      auto& counters = *all[communicators - 1 - i];  // each shares the last record
      auto* entry = counters.record(counted_by_profile);
      for (std::uint64_t call = 1; call < calls_of_each; ++call) counters.record_again(*entry);
    });
  for (auto& thread : threads) thread.join();

  EXPECT_EQ(sum_of_calls(only_process()), threads_at_once * calls_of_each);
}

TEST_F(LiveCountersTest, TakeTheRecordsOfClosedCommunicatorsAndKeepTheirCounts) {
  constexpr std::uint64_t communicators = 1000;
  for (std::uint64_t i = 0; i < communicators; ++i) open(i)->record({.bytes = 14336 * (i % 3 + 1)});
  const auto last = open(77);
  last->record(counted_by_profile);

  const auto process = only_process();

  EXPECT_EQ(sum_of_calls(process), communicators + 1);
  const auto is_last = [](const auto& communicator) {
    return communicator.state == RecordState::open;
  };
  ASSERT_EQ(std::ranges::count_if(process.communicators, is_last), 1);
  const auto open_one = std::ranges::find_if(process.communicators, is_last);
  EXPECT_EQ(open_one->communicator, 77U);
  std::uint64_t calls = 0;
  for (const auto& size : open_one->sizes) calls += size.calls;
  EXPECT_EQ(calls, 1U);
}

TEST_F(LiveCountersTest, SayWhyAProfileIsNotUsed) {
  const auto counters = open();
  counters->set_refusal(RefusedPart::group, "measured for 8 ranks, here are 2");
  counters->set_refusal(RefusedPart::profile, "made with NCCL 2.30.7, here is NCCL 2.28.9");
  counters->set_refusal(RefusedPart::profile, "later");

  const auto process = only_process();

  EXPECT_EQ(process.refusals,
            (std::vector<std::string>{"made with NCCL 2.30.7, here is NCCL 2.28.9",
                                      "measured for 8 ranks, here are 2"}));
}

TEST_F(LiveCountersTest, ShareOneMappingAndNoDescriptor) {
  const auto descriptors = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto before = descriptors();
  std::vector<std::unique_ptr<LiveCounters>> all;
  for (std::uint64_t i = 0; i < 10; ++i) all.push_back(open(i));
  std::size_t mappings = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(folder_) != std::string::npos) ++mappings;
  maps.close();

  EXPECT_EQ(descriptors(), before);
  EXPECT_EQ(mappings, 1U);
}

TEST_F(LiveCountersTest, LeaveNoFileWhereNothingWasCounted) {
  (void)open();

  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(LiveCountersTest, ReplaceTheFileOfAnEarlierProcessOfTheSameNumber) {
  open()->record(counted_by_profile);
  const auto path = only_process().path;
  {
    constexpr std::streamoff process_offset = 12;  // the start, in the process's word
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(process_offset);
    file.write("\1\2\3\4", 4);
  }
  EXPECT_EQ(only_process().liveness, Liveness::dead);

  const auto counters = open();

  EXPECT_EQ(only_process().liveness, Liveness::alive);
  EXPECT_TRUE(only_process().communicators.front().sizes.empty());
}

TEST_F(LiveCountersTest, TakeARecordAgainThatCountedNothing) {
  for (int i = 0; i < 1000; ++i) ASSERT_NE(open(), nullptr);
  const auto last = open(77);
  last->record(counted_by_profile);

  const auto process = only_process();

  ASSERT_EQ(process.communicators.size(), 1U);
  EXPECT_EQ(process.communicators.front().communicator, 77U);
}

TEST_F(LiveCountersTest, RoundSizesWhenThereAreManyAndLoseNoCall) {
  const auto counters = open();
  constexpr std::uint64_t sizes = 20000;
  for (std::uint64_t i = 1; i <= sizes; ++i) counters->record({.bytes = i * 14336});

  const auto process = only_process();

  std::uint64_t calls = process.lost_calls;
  for (const auto& size : process.communicators.front().sizes) calls += size.calls;
  EXPECT_EQ(calls, sizes);
  EXPECT_EQ(process.lost_calls, 0U);
}

TEST_F(LiveCountersTest, CountFromManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      CountersRequest request;
      request.communicator = i;
      request.folder = folder_;
      std::string note;
      const auto counters = LiveCounters::open(request, note);
      for (std::size_t call = 0; call < 10000; ++call)
        counters->record({.bytes = 1024 + call % 50 * 14336});
    });
  for (auto& thread : threads) thread.join();

  const auto process = only_process();

  ASSERT_EQ(process.communicators.size(), 8U);
  for (const auto& communicator : process.communicators) {
    std::uint64_t calls = 0;
    for (const auto& size : communicator.sizes) calls += size.calls;
    EXPECT_EQ(calls, 10000U);
    EXPECT_EQ(communicator.state, RecordState::closed);
  }
}

TEST_F(LiveCountersTest, SumOnceWhatDirectLeftToThePlugin) {
  const auto direct = open(1);
  direct->set_mode(CountedMode::direct);
  direct->record({.bytes = 4096, .effect = CallEffect::applied, .direct = DirectForm::two_shot});
  direct->record({.bytes = 8192});
  const auto of_direct = read_live_counters(folder_);
  const auto plugin = open(2);
  plugin->record({.bytes = 8192});

  EXPECT_NE(format_counters_json(of_direct).find(
                R"("sizes":[{"bytes":4096,"calls":1},{"bytes":8192,"calls":1}])"),
            std::string::npos);
  const auto json = format_counters_json(read_live_counters(folder_));
  EXPECT_NE(json.find(R"("sizes":[{"bytes":4096,"calls":1},{"bytes":8192,"calls":1}])"),
            std::string::npos);
  EXPECT_NE(json.find(R"("source":"direct","choice":"direct/two-shot","is_applied":true)"),
            std::string::npos);
}

int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(LiveCountersTest, OfAParentIgnoreItsForkedChildWhoHasItsOwn) {
  const auto counters = open(1);
  counters->record(counted_by_profile);

  const pid_t child = fork();
  if (child == 0) {
    counters->record(counted_by_profile);
    const auto own = open(2);
    if (own == nullptr) _exit(1);
    own->record(counted_by_profile);
    _exit(0);
  }

  ASSERT_EQ(wait_for(child), 0);
  const auto processes = read_live_counters(folder_);
  ASSERT_EQ(processes.size(), 2U);
  for (const auto& process : processes) {
    ASSERT_EQ(process.communicators.size(), 1U);
    EXPECT_EQ(process.communicators.front().sizes.front().calls, 1U);
    EXPECT_EQ(process.communicators.front().state, RecordState::open);
  }
}

TEST_F(LiveCountersTest, OfADeadProcessAreShownAsSuchThenRemoved) {
  const pid_t child = fork();
  if (child == 0) {
    const auto counters = open();
    counters->record(counted_by_profile);
    _exit(0);
  }
  ASSERT_EQ(wait_for(child), 0);

  const auto process = only_process();
  EXPECT_EQ(process.liveness, Liveness::dead);
  EXPECT_EQ(process.communicators.front().sizes.front().calls, 1U);
  remove_dead_counters(folder_, process);

  EXPECT_TRUE(read_live_counters(folder_).empty());
}

TEST_F(LiveCountersTest, OfALivingProcessAreNeverRemoved) {
  const auto counters = open();

  remove_dead_counters(folder_, only_process());

  EXPECT_EQ(read_live_counters(folder_).size(), 1U);
}

TEST_F(LiveCountersTest, OfTheDeadDoNotFillTheFolder) {
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const auto counters = open();
      counters->record(counted_by_profile);
      _exit(0);
    }
    ASSERT_EQ(wait_for(child), 0);
  }

  EXPECT_LE(read_live_counters(folder_).size(), 34U);
}

TEST_F(LiveCountersTest, SayWhyThereAreNone) {
  fs::remove_all(folder_);

  EXPECT_EQ(open(), nullptr);
  EXPECT_NE(note_.find(folder_), std::string::npos);
}

TEST_F(LiveCountersTest, PassOverFilesThatAreNone) {
  std::ofstream(folder_ + "/lanewise-" + std::to_string(geteuid()) + "-stats-1-1") << "short";
  std::ofstream(folder_ + "/lanewise-" + std::to_string(geteuid()) + "-stats-1-2")
      << std::string(65536, 'x');

  EXPECT_TRUE(read_live_counters(folder_).empty());
}

TEST_F(LiveCountersTest, ReadAsJsonWithTheSizesForTheBench) {
  const auto counters = open(0xabc);
  counters->record(counted_by_profile);
  counters->record({.bytes = 14336});
  auto processes = read_live_counters(folder_);
  processes.front().process.pid = 42;
  processes.front().program = "a\"b";
  processes.front().started_seconds = 1;

  EXPECT_EQ(
      format_counters_json(processes),
      "{\"schema_version\":1,\n\"sizes\":[{\"bytes\":14336,\"calls\":2}],\n"
      "\"processes\":[\n{\"pid\":42,\"user\":0,\"state\":\"alive\",\"program\":\"a\\\"b\",\"nccl\":"
      "\"2.28.9\","
      "\"started\":1,\"lost_calls\":0,\"refusals\":[],\"communicators\":[{\"id\":"
      "\"0000000000000abc\",\"ranks\":8,"
      "\"gpu\":\"0000:c1:00.0\",\"mode\":\"inert\",\"is_open\":true,\"calls\":["
      "{\"bytes\":14336,\"is_exact\":true,\"calls\":1,\"source\":\"profile\","
      "\"choice\":\"tree/ll/4\",\"is_applied\":true,\"is_captured\":true},"
      "{\"bytes\":14336,\"is_exact\":true,\"calls\":1,\"source\":\"none\",\"choice\":null,"
      "\"is_applied\":false,\"is_captured\":false}]}]}]}\n");
}

TEST_F(LiveCountersTest, ReadAsPrometheusText) {
  const auto counters = open(0xabc);
  counters->record(counted_by_profile);
  auto processes = read_live_counters(folder_);
  processes.front().process.pid = 42;
  processes.front().program = "python3";

  const auto text = format_counters_prometheus(processes);

  EXPECT_NE(text.find("lanewise_calls_total{pid=\"42\",program=\"python3\",ranks=\"8\","
                      "communicator=\"0000000000000abc\",bytes=\"14336\",source=\"profile\","
                      "choice=\"tree/ll/4\",applied=\"true\",captured=\"true\"} 1\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("lanewise_lost_calls_total{pid=\"42\"} 0\n"), std::string::npos);
}

}  // namespace
}  // namespace lanewise::host
