// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "direct/one_shot.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "direct/cuda_resources.hpp"
#include "direct/one_shot_kernels.hpp"
#include "direct/one_shot_member.hpp"
#include "direct/shared_segment.hpp"

namespace lanewise::bench {
namespace {

// The unit of the driver's own allocations: memory that is shared must not hold other data.
constexpr std::size_t shared_unit = std::size_t{2} << 20;
constexpr std::size_t alignment = 16;

int current_device() {
  int device = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

// Memory of another process's GPU.
class IpcMapping {
 public:
  explicit IpcMapping(void* data) : data_(data) {}
  IpcMapping(IpcMapping&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  IpcMapping(const IpcMapping&) = delete;
  IpcMapping& operator=(const IpcMapping&) = delete;
  IpcMapping& operator=(IpcMapping&&) = delete;
  ~IpcMapping() {
    if (data_ != nullptr) static_cast<void>(cudaIpcCloseMemHandle(data_));
  }

 private:
  void* data_;
};

}  // namespace

class OneShot::Group {
 public:
  Group(int rank, int ranks, const Gather& gather, OneShotOptions options)
      : rank_(rank),
        ranks_(ranks),
        options_(options),
        area_(options.max_bytes),
        device_(current_device()) {
    preload_one_shot_kernels();
    members_ = exchange(gather, introduce(device_, options), ranks);
    require_agreement(members_);
    allocate();
    offers_ = exchange(gather, offer(), ranks);
    std::vector<OneShotPlace> places;
    const auto reaches = exchange(gather, reach_all(), ranks);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      places.push_back({members_[i].gpu_low ^ members_[i].gpu_high,
                        static_cast<int>(members_[i].multiprocessors), reaches[i]});
    }
    shape_ = shape_of(places);
    make_plan();
  }

  void launch(cudaStream_t stream, const void* in, void* out, std::size_t count,
              DataType type) const {
    const std::size_t bytes = count * size_of(type);
    if (bytes > options_.max_bytes) {
      throw Error("one-shot: " + std::to_string(bytes) + " bytes, made for at most " +
                  std::to_string(options_.max_bytes));
    }
    for (const void* pointer : {in, static_cast<const void*>(out)}) {
      if (reinterpret_cast<std::uintptr_t>(pointer) % alignment != 0) {
        throw Error("one-shot: buffers must be aligned to 16 bytes");
      }
    }
    if (bytes == 0) return;
    auto protocol = options_.protocol.value_or(shape_.protocol_for(bytes));
    // LL's lines hold no more, whatever was asked for.
    if (bytes > area_.ll_bytes) protocol = OneShotProtocol::simple;
    launch_one_shot(plan_, protocol, shape_.blocks_for(bytes, protocol), in, out, count, type,
                    stream);
  }

  void check() const {
    std::uint64_t lost = 0;
    std::memcpy(&lost, lost_.data(), sizeof(lost));
    if (lost == 0) return;
    throw std::runtime_error("one-shot: rank " + std::to_string(rank_) + " waited " +
                             std::to_string(options_.timeout.count()) + " ms in vain for rank " +
                             std::to_string(lost - 1));
  }

  [[nodiscard]] bool uses_host_memory() const noexcept { return shape_.host_streams > 0; }

 private:
  [[nodiscard]] const Introduction& me() const { return members_.at(index_of(rank_)); }
  static std::size_t index_of(int rank) { return static_cast<std::size_t>(rank); }

  void allocate() {
    const std::size_t inbox_bytes = area_.bytes() * index_of(ranks_);
    inbox_.emplace(device_, (inbox_bytes + shared_unit - 1) / shared_unit * shared_unit);
    counters_.emplace(device_, alignment);
    check_cuda(cudaMemset(inbox_->data(), 0, inbox_->bytes()), "cudaMemset");
    check_cuda(cudaMemset(counters_->data(), 0, counters_->bytes()), "cudaMemset");
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const bool is_one_process = std::all_of(members_.begin(), members_.end(), [&](const auto& m) {
      return m.process == members_.front().process;
    });
    if (is_one_process) {
      pinned_outbox_.emplace(area_.bytes());
    } else {
      shared_outbox_.emplace(area_.bytes());
    }
  }

  [[nodiscard]] std::byte* outbox() const {
    return pinned_outbox_ ? pinned_outbox_->data() : shared_outbox_->data();
  }

  [[nodiscard]] Offer offer() const {
    Offer mine;
    mine.inbox = reinterpret_cast<std::uintptr_t>(inbox_->data());
    mine.outbox = reinterpret_cast<std::uintptr_t>(outbox());
    if (!shared_outbox_) return mine;
    mine.descriptor = static_cast<std::uint64_t>(shared_outbox_->descriptor());
    mine.has_handle = is_granted(cudaIpcGetMemHandle(&mine.handle, inbox_->data())) ? 1 : 0;
    return mine;
  }

  // Opens every inbox that this rank's GPU can store into; a bit for each.
  [[nodiscard]] std::uint64_t reach_all() {
    std::uint64_t reach = 0;
    for (int other = 0; other < ranks_; ++other) {
      peer_inboxes_.push_back(other == rank_ ? nullptr : open_inbox(other));
      if (peer_inboxes_.back() != nullptr) reach |= std::uint64_t{1} << index_of(other);
    }
    return reach;
  }

  [[nodiscard]] std::byte* open_inbox(int other) {
    const Introduction& member = members_.at(index_of(other));
    const Offer& offered = offers_.at(index_of(other));
    const bool is_own_process = member.process == me().process;
    if (!is_same_gpu(member, me())) {
      if (options_.route == OneShotRoute::host_memory) return nullptr;
      const auto device =
          is_own_process ? std::optional(static_cast<int>(member.device)) : find_device(member);
      if (!device || !can_access(device_, *device)) return nullptr;
      // It stays enabled: NCCL in this process may have come to rely on it.
      if (is_own_process && !is_granted(cudaDeviceEnablePeerAccess(*device, 0))) return nullptr;
    }
    if (is_own_process) return reinterpret_cast<std::byte*>(offered.inbox);
    void* data = nullptr;
    if (offered.has_handle == 0 ||
        !is_granted(cudaIpcOpenMemHandle(&data, offered.handle, cudaIpcMemLazyEnablePeerAccess))) {
      return nullptr;
    }
    mappings_.emplace_back(data);
    return static_cast<std::byte*>(data);
  }

  [[nodiscard]] const std::byte* open_outbox(int other) {
    const Introduction& member = members_.at(index_of(other));
    const Offer& offered = offers_.at(index_of(other));
    if (member.process == me().process) return reinterpret_cast<std::byte*>(offered.outbox);
    segments_.emplace_back(static_cast<std::int64_t>(member.process),
                           static_cast<int>(offered.descriptor), area_.bytes());
    return segments_.back().data();
  }

  void make_plan() {
    plan_.rank = rank_;
    plan_.ranks = ranks_;
    plan_.half_bytes = area_.half_bytes;
    plan_.data_offset = area_.data_offset;
    plan_.flags_offset = area_.flags_offset;
    plan_.epoch = reinterpret_cast<std::uint64_t*>(counters_->data());
    plan_.ticket = reinterpret_cast<unsigned*>(counters_->data() + sizeof(std::uint64_t));
    plan_.lost = reinterpret_cast<std::uint64_t*>(lost_.data());
    plan_.timeout_ns = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(options_.timeout).count());
    bool writes_outbox = false;
    for (int other = 0; other < ranks_; ++other) {
      if (other == rank_) continue;
      const bool is_host = shape_.uses_host.at(index_of(rank_)).at(index_of(other));
      plan_.read_from[other] =
          is_host ? open_outbox(other) : inbox_->data() + area_.bytes() * index_of(other);
      writes_outbox = writes_outbox || is_host;
      if (!is_host) {
        plan_.write_to[plan_.writes++] =
            peer_inboxes_.at(index_of(other)) + area_.bytes() * index_of(rank_);
      }
    }
    // One copy serves every reader.
    if (writes_outbox) plan_.write_to[plan_.writes++] = outbox();
  }

  int rank_;
  int ranks_;
  OneShotOptions options_;
  OneShotArea area_;
  int device_;
  std::vector<Introduction> members_;
  std::vector<Offer> offers_;
  OneShotShape shape_;
  std::optional<DeviceBuffer> inbox_;
  std::optional<DeviceBuffer> counters_;
  std::optional<PinnedBuffer> pinned_outbox_;
  std::optional<SharedSegment> shared_outbox_;
  PinnedBuffer lost_{sizeof(std::uint64_t)};
  std::vector<std::byte*> peer_inboxes_;
  std::vector<IpcMapping> mappings_;
  std::vector<SharedSegment> segments_;
  OneShotPlan plan_;
};

OneShotRoute route_from_environment() {
  const auto is = [](const char* name, std::string_view word) {
    const char* value = std::getenv(name);
    return value != nullptr && value == word;
  };
  const bool is_off =
      is("NCCL_P2P_DISABLE", "1") || is("NCCL_P2P_LEVEL", "LOC") || is("NCCL_P2P_LEVEL", "0");
  return is_off ? OneShotRoute::host_memory : OneShotRoute::peer_access;
}

OneShot::OneShot(int rank, int ranks, const Gather& gather, OneShotOptions options)
    : group_(std::make_unique<Group>(rank, ranks, gather, options)) {}

OneShot::~OneShot() = default;

void OneShot::launch(cudaStream_t stream, const void* in, void* out, std::size_t count,
                     DataType type) const {
  group_->launch(stream, in, out, count, type);
}

void OneShot::check() const { group_->check(); }

bool OneShot::uses_host_memory() const noexcept { return group_->uses_host_memory(); }

}  // namespace lanewise::bench
