// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "group/meeting.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <type_traits>

#include "core/error.hpp"
#include "direct/kernel_plan.hpp"
#include "host/process/process_identity.hpp"

namespace lanewise::direct {
namespace {

// What a rank says of itself before anything is allocated.
struct Introduction {
  std::uint64_t process;
  std::uint64_t pid_namespace;
  DriverUuid gpu;
  std::uint64_t multiprocessors;
  std::uint64_t max_bytes;
  std::uint64_t ll_bytes;
  std::uint64_t graphs;
  std::uint64_t most_blocks;
  std::uint64_t may_use_gpu;
};

// What rank 0 says of the memory: the same `number` for no other memory of its process.
struct Offer {
  std::uint64_t number;
  std::uint64_t descriptor;
};

// Everyone's `mine`, in rank order.
template <typename Value>
std::vector<Value> exchange(const Group::Gather& gather, const Value& mine, int ranks) {
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) % sizeof(std::uint64_t) == 0);
  std::array<std::uint64_t, sizeof(Value) / sizeof(std::uint64_t)> words{};
  std::memcpy(words.data(), &mine, sizeof(mine));
  const std::vector<std::uint64_t> all = gather(words);
  std::vector<Value> values(static_cast<std::size_t>(ranks));
  if (all.size() != values.size() * words.size()) throw Error("the ranks' words do not add up");
  std::memcpy(static_cast<void*>(values.data()), all.data(), all.size() * sizeof(std::uint64_t));
  return values;
}

Introduction introduce(const Driver& driver, const GroupOptions& options) {
  const auto process = host::this_process();
  Introduction mine{};
  mine.process = process.word();
  mine.pid_namespace = process.pid_namespace;
  int device = 0;
  int multiprocessors = 0;
  driver.check(driver.context_device(&device), "cuCtxGetDevice");
  driver.check(driver.device_uuid(&mine.gpu, device), "cuDeviceGetUuid");
  driver.check(driver.device_attribute(&multiprocessors, attribute_multiprocessors, device),
               "cuDeviceGetAttribute");
  mine.multiprocessors = static_cast<std::uint64_t>(multiprocessors);
  mine.max_bytes = options.max_bytes;
  mine.ll_bytes = options.ll_bytes;
  mine.graphs = static_cast<std::uint64_t>(options.graphs);
  mine.most_blocks = static_cast<std::uint64_t>(options.most_blocks);
  mine.may_use_gpu = options.may_use_gpu ? 1 : 0;
  return mine;
}

bool is_same_process(const Introduction& a, const Introduction& b) {
  return a.process == b.process && a.pid_namespace == b.pid_namespace;
}
bool is_same_namespace(const Introduction& a, const Introduction& b) {
  return a.pid_namespace == b.pid_namespace;
}
bool is_same_gpu(const Introduction& a, const Introduction& b) {
  return a.gpu.words[0] == b.gpu.words[0] && a.gpu.words[1] == b.gpu.words[1];
}
bool has_same_options(const Introduction& a, const Introduction& b) {
  return a.max_bytes == b.max_bytes && a.ll_bytes == b.ll_bytes && a.graphs == b.graphs &&
         a.most_blocks == b.most_blocks && a.may_use_gpu == b.may_use_gpu;
}

bool are_all(const std::vector<Introduction>& all,
             bool (*is_alike)(const Introduction&, const Introduction&)) {
  return std::all_of(all.begin(), all.end(),
                     [&](const Introduction& one) { return is_alike(one, all.front()); });
}

int blocks_that_fit(const std::vector<Introduction>& all, int wanted) {
  int most = std::min(wanted, most_kernel_blocks);
  for (const Introduction& one : all) {
    const auto neighbours = std::count_if(
        all.begin(), all.end(), [&](const Introduction& other) { return is_same_gpu(one, other); });
    most =
        std::clamp(static_cast<int>(one.multiprocessors) / static_cast<int>(neighbours), 1, most);
  }
  return most;
}

// What the ranks of this process share, by the number of their offer.
std::shared_ptr<SharedMemory> share(const std::array<std::uint64_t, 2>& key,
                                    const std::function<std::shared_ptr<SharedMemory>()>& make) {
  struct Known {
    std::mutex mutex;
    std::map<std::array<std::uint64_t, 2>, std::weak_ptr<SharedMemory>> memories;
  };
  static auto& known = *new Known;  // outlives every thread that ends late
  const std::lock_guard lock(known.mutex);
  std::erase_if(known.memories, [](const auto& entry) { return entry.second.expired(); });
  auto& entry = known.memories[key];
  auto memory = entry.lock();
  if (!memory) entry = memory = make();
  return memory;
}

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

MeetingPlace meet(const Driver& driver, DriverContext context, int rank, int ranks,
                  const Group::Gather& gather, const GroupOptions& options) {
  const auto all = exchange(gather, introduce(driver, options), ranks);
  if (!are_all(all, has_same_options)) throw Error("the ranks were given different options");
  // There a process's number, by which its memory is opened, is another's.
  if (!are_all(all, is_same_namespace)) throw Error("the ranks are in different pid namespaces");
  const bool is_on_gpu =
      options.may_use_gpu && are_all(all, is_same_process) && are_all(all, is_same_gpu);
  const Place place = is_on_gpu ? Place::gpu : Place::host;
  const std::size_t ll_bytes =
      std::max(std::min(options.max_bytes, largest_ll_bytes(ranks, place)), options.ll_bytes);
  MeetingPlace result{Layout(ranks, 1 + options.graphs, options.max_bytes, ll_bytes), place,
                      blocks_that_fit(all, options.most_blocks), nullptr};
  const std::size_t bytes = result.layout.total_bytes;
  Offer offer{};
  std::optional<AnonymousFile> file;
  if (rank == 0) {
    offer.number = next_number();
    if (!is_on_gpu) file.emplace(bytes);
    if (file) offer.descriptor = static_cast<std::uint64_t>(file->descriptor());
  }
  offer = exchange(gather, offer, ranks).front();
  result.memory = share({all.front().process, offer.number}, [&] {
    if (is_on_gpu) return make_gpu_memory(driver, context, bytes);
    const AnonymousFile theirs(host::ProcessIdentity::from_word(all.front().process, 0).pid,
                               static_cast<int>(offer.descriptor));
    return map_host_memory(driver, context, theirs, bytes);
  });
  // The file stays open until everyone has it.
  static_cast<void>(exchange(gather, Offer{}, ranks));
  return result;
}

}  // namespace lanewise::direct
