// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// libnccl.so.2 without a GPU: sums over shared memory, asks the tuner plugin as NCCL 2.30 does, and
// charges each choice a time of its own. Its costs are wrong, as NCCL's are: there is a gain.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <nccl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "fake_stream.hpp"

namespace {

constexpr std::size_t slot_bytes = std::size_t{8} << 20U;
constexpr int slots = 16;
constexpr int broadcast = 0, reduce = 1, all_gather = 2, reduce_scatter = 3, all_reduce = 4;
constexpr int tree = 0, ring = 1, ll = 0, simple = 2, algorithms = 7, protocols = 3;

struct Board {
  std::atomic<unsigned> arrived;
  std::atomic<unsigned> generation;
  std::array<std::array<char, slot_bytes>, slots> data;
};

using CostArray = std::array<std::array<float, protocols>, algorithms>;

// Tuner v5 (NCCL_ABI.md 1.2), which every Lanewise exports.
struct Tuner {
  const char* name;
  int (*init)(void**, std::uint64_t, std::size_t, std::size_t, void*, void*, void*);
  int (*get)(void*, int, std::size_t, int, float**, int, int, int, int*);
  int (*finalize)(void*);
};

const Tuner* find_tuner() {
  const char* name = std::getenv("NCCL_TUNER_PLUGIN");
  if (name == nullptr || std::string(name) == "none") return nullptr;
  const bool is_path = std::string(name).find('/') != std::string::npos;
  const std::string file = is_path ? name : "libnccl-tuner-" + std::string(name) + ".so";
  void* library = dlopen(file.c_str(), RTLD_NOW);
  return library == nullptr ? nullptr : static_cast<Tuner*>(dlsym(library, "ncclTunerPlugin_v5"));
}

CostArray priced(std::size_t bytes) {
  CostArray table;
  for (auto& row : table) row.fill(-1);
  const auto kib = static_cast<float>(bytes) / 1024;
  table[tree][ll] = 60 + kib / 8;
  table[tree][simple] = 120 + kib / 16;
  table[ring][ll] = 40 + kib / 4;
  table[ring][simple] = 100 + kib / 32;
  return table;
}

int number_of(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoi(text) : otherwise;
}

// Channels that a communicator has: 4, or FAKE_NCCL_CHANNELS, under NCCL_MAX_NCHANNELS, and more
// where NCCL_MIN_NCHANNELS asks for them. Each takes a MiB of device memory.
int channels_of_communicator() {
  const int found = number_of("FAKE_NCCL_CHANNELS", 4);
  return std::max(std::min(found, number_of("NCCL_MAX_NCHANNELS", found)),
                  number_of("NCCL_MIN_NCHANNELS", 0));
}

// By itself two, or all of them where thresholds say so. From 2.31 on a tuner can only lower that.
int channels_launched(int asked) {
  const bool takes_all =
      lanewise::fake::multiprocessors() > 0 && std::getenv("NCCL_THREAD_THRESHOLDS") != nullptr;
  const int own = takes_all ? channels_of_communicator() : 2;
  const bool only_lowers = number_of("LANEWISE_FAKE_NCCL", 23007) >= 23100;
  if (asked <= 0 || (only_lowers && asked > own)) return own;
  return std::min(asked, channels_of_communicator());
}

// The blocks of all ranks of a GPU wait for each other: those that do not fit never start.
bool is_too_much(int channels, int ranks) {
  const int room = lanewise::fake::multiprocessors();
  const int gpus = lanewise::fake::gpus();
  return room > 0 && ranks > gpus && channels * ((ranks + gpus - 1) / gpus) > room;
}

// Tree on four channels wins up to 128 KiB, and ring/simple above; more channels help a little, or
// with FAKE_NCCL_ALIKE not at all, so that noise alone orders the choices of an entry.
// With FAKE_NCCL_NEEDS_BUFFERS a MiB takes twice as long where NCCL_BUFFSIZE is set.
double real_us(int algorithm, int protocol, int channels, std::size_t bytes) {
  const bool is_cut_off = std::getenv("FAKE_NCCL_NEEDS_BUFFERS") != nullptr &&
                          std::getenv("NCCL_BUFFSIZE") != nullptr && bytes >= std::size_t{1} << 20;
  const double kib = static_cast<double>(bytes) / (is_cut_off ? 256 : 1024);
  const bool is_alike = std::getenv("FAKE_NCCL_ALIKE") != nullptr;
  const double lanes = is_alike ? 4 : channels;
  if (algorithm == tree && protocol == ll) return 20 + kib / 4 / lanes;
  if (algorithm == ring && protocol == ll) return 40 + kib / 4 / lanes;
  return 60 + kib / 16 / lanes;
}

// FAKE_NCCL_SLOW=COUNT,FILE: the first COUNT communicators with a tuner are slow, by the luck of
// their memory as it were; FILE has a byte for each. With FAKE_NCCL_WRONG the later ones sum
// wrongly.
std::string slow_file() {
  const char* text = std::getenv("FAKE_NCCL_SLOW");
  return text == nullptr ? "" : std::string(std::strchr(text, ',') + 1);
}

bool is_among_the_slow() {
  if (slow_file().empty()) return false;
  std::error_code missing;
  const auto made = std::filesystem::file_size(slow_file(), missing);
  return (missing ? 0 : made) < std::strtoull(std::getenv("FAKE_NCCL_SLOW"), nullptr, 10);
}

// FAKE_NCCL_WRONG_AFTER=COUNT: a communicator's later sums are wrong.
std::size_t wrong_after() {
  const char* text = std::getenv("FAKE_NCCL_WRONG_AFTER");
  return text == nullptr ? SIZE_MAX : std::strtoull(text, nullptr, 10);
}

// FAKE_NCCL_SHOWS=NAME: the variable as these ranks have it.
void show_variable() {
  const char* name = std::getenv("FAKE_NCCL_SHOWS");
  if (name == nullptr) return;
  const char* value = std::getenv(name);
  std::printf("fake-nccl: %s=%s\n", name, value != nullptr ? value : "");
  std::fflush(stdout);
}

void count_communicator() {
  if (!slow_file().empty()) std::ofstream(slow_file(), std::ios::app) << '.';
}

}  // namespace

struct ncclComm {
  int rank;
  int ranks;
  Board* board;
  std::string name;
  const Tuner* tuner;
  void* context;
  unsigned noise;
  bool is_slow = false;
  bool is_wrong = false;
  mutable std::size_t reduced = 0;

  // Of processes, which std::atomic's wait() does not reach.
  void futex(int operation, unsigned value) const {
    syscall(SYS_futex, &board->generation, operation, value, nullptr, nullptr, 0);
  }

  void barrier() const {
    const unsigned generation = board->generation.load();
    if (board->arrived.fetch_add(1) + 1 == static_cast<unsigned>(ranks)) {
      board->arrived = 0;
      ++board->generation;
      futex(FUTEX_WAKE, INT_MAX);
      return;
    }
    // Asleep, so that waiting ranks take no core from those that they wait for.
    while (board->generation.load() == generation) futex(FUTEX_WAIT, generation);
  }

  void reduce(const void* send, void* receive, std::size_t count) const {
    std::memcpy(board->data[static_cast<std::size_t>(rank)].data(), send, count * 2);
    barrier();
    std::vector<float> sums(count);
    for (int other = 0; other < ranks; ++other) {
      const char* data = board->data[static_cast<std::size_t>(other)].data();
      const auto* words = reinterpret_cast<const std::uint16_t*>(data);
      for (std::size_t i = 0; i < count; ++i)
        sums[i] += std::bit_cast<float>(std::uint32_t{words[i]} << 16U);
    }
    auto* out = static_cast<std::uint16_t*>(receive);
    for (std::size_t i = 0; i < count; ++i)
      out[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(sums[i]) >> 16U);
    if (is_wrong || ++reduced > wrong_after()) out[0] ^= 0x4000U;
    barrier();
  }

  struct Launch {
    int channels = 0;
    double us = 0;
  };
  Launch ask(std::size_t bytes, int function = all_reduce) {
    CostArray table = priced(bytes);
    int channels = 0;
    float* costs = table[0].data();
    if (tuner != nullptr) {
      tuner->get(context, function, bytes, 1, reinterpret_cast<float**>(costs), algorithms,
                 protocols, 1, &channels);
    }
    int best = -1;
    for (int i = 0; i < algorithms * protocols; ++i) {
      if (costs[i] >= 0 && (best < 0 || costs[i] < costs[best])) best = i;
    }
    const int launched = channels_launched(channels);
    return {launched,
            real_us(best / protocols, best % protocols, launched, bytes) * (is_slow ? 1.2 : 1)};
  }
};

namespace {

ncclResult_t take_time(ncclComm_t communicator, cudaStream_t stream, int function,
                       std::size_t bytes) {
  const double us = communicator->ask(bytes, function).us;
  lanewise_fake_queue(stream, [=](cudaStream_t here) { lanewise_fake_advance(here, us); });
  return ncclSuccess;
}

std::size_t bytes_of_all(ncclComm_t communicator, std::size_t count) {
  return count * 2 * static_cast<std::size_t>(communicator->ranks);
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  const char* wanted = std::getenv("LANEWISE_FAKE_NCCL");
  *version = wanted != nullptr ? std::atoi(wanted) : 23007;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t) { return "fake error"; }
const char* ncclGetLastError(ncclComm_t) { return ""; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static std::atomic<int> counter{0};
  std::snprintf(id->internal, sizeof(id->internal), "/lanewise-fake-%d-%d", getpid(), counter++);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int ranks, ncclUniqueId id, int rank) {
  const int file = shm_open(id.internal, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(Board)) != 0) return ncclSystemError;
  void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  auto* made = new ncclComm{rank,         ranks,   static_cast<Board*>(memory), id.internal,
                            find_tuner(), nullptr, static_cast<unsigned>(rank)};
  lanewise_fake_take_memory(static_cast<std::size_t>(channels_of_communicator()) << 20U);
  made->is_slow = made->tuner != nullptr && is_among_the_slow();
  made->is_wrong =
      made->tuner != nullptr && !made->is_slow && std::getenv("FAKE_NCCL_WRONG") != nullptr;
  made->barrier();
  if (rank == 0) shm_unlink(id.internal);
  if (rank == 0) show_variable();
  if (rank == 0 && made->tuner != nullptr) count_communicator();
  if (made->tuner != nullptr) {
    std::array<double, 144> constants{};
    std::array<int, 3> domains = {1, ranks, ranks};
    const auto hash = std::hash<std::string>{}(id.internal);
    made->tuner->init(&made->context, hash, static_cast<std::size_t>(ranks), 1, nullptr,
                      domains.data(), constants.data());
  }
  *communicator = made;
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  if (communicator->tuner != nullptr) communicator->tuner->finalize(communicator->context);
  munmap(communicator->board, sizeof(Board));
  delete communicator;
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t, ncclComm_t communicator, cudaStream_t stream) {
  if (type != ncclBfloat16) return ncclInvalidArgument;
  const auto launch = communicator->ask(count * 2);
  const double us = launch.us;
  const auto kernel = [=](cudaStream_t here) {
    while (is_too_much(launch.channels, communicator->ranks))
      std::this_thread::sleep_for(std::chrono::hours(1));
    communicator->reduce(send, receive, count);
    // Up to 2 % of noise, the same sequence in every run.
    communicator->noise = communicator->noise * 1664525U + 1013904223U;
    lanewise_fake_advance(here, us * (1 + (communicator->noise >> 16U) / 65536.0 / 50));
  };
  lanewise_fake_launch(stream, kernel, {static_cast<unsigned>(launch.channels), 512});
  return ncclSuccess;
}

// The others take their time and move nothing: the bench does not look at what they leave.
ncclResult_t ncclBroadcast(const void*, void*, std::size_t count, ncclDataType_t, int,
                           ncclComm_t communicator, cudaStream_t stream) {
  return take_time(communicator, stream, broadcast, count * 2);
}
ncclResult_t ncclReduce(const void*, void*, std::size_t count, ncclDataType_t, ncclRedOp_t, int,
                        ncclComm_t communicator, cudaStream_t stream) {
  return take_time(communicator, stream, reduce, count * 2);
}
ncclResult_t ncclAllGather(const void*, void*, std::size_t count, ncclDataType_t,
                           ncclComm_t communicator, cudaStream_t stream) {
  return take_time(communicator, stream, all_gather, bytes_of_all(communicator, count));
}
ncclResult_t ncclReduceScatter(const void*, void*, std::size_t count, ncclDataType_t, ncclRedOp_t,
                               ncclComm_t communicator, cudaStream_t stream) {
  return take_time(communicator, stream, reduce_scatter, bytes_of_all(communicator, count));
}

}  // extern "C"
