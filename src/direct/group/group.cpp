// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "direct/group.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "core/error.hpp"
#include "direct/kernel_plan.hpp"
#include "group/kernel_functions.hpp"
#include "group/meeting.hpp"

namespace lanewise::direct {
namespace {

constexpr std::size_t counter_bytes = 128;  // of a slot set, in GPU memory
constexpr std::size_t blocks_done_offset = 64;
constexpr std::size_t abort_bytes = 4096;
constexpr std::chrono::milliseconds poll_interval{1};
constexpr int polls_per_question = 50;
constexpr int polls_after_abort = 1000;
// CU_STREAM_PER_THREAD means another stream in every thread.
constexpr std::uintptr_t stream_per_thread = 2;

DriverContext current_context(const Driver& driver) {
  DriverContext context = nullptr;
  driver.check(driver.current_context(&context), "cuCtxGetCurrent");
  if (context == nullptr) throw Error("this thread has no CUDA context");
  return context;
}

// Calls of one set follow each other on every rank in the same order.
struct SlotSet {
  KernelPlan plan{};
  DriverEvent event = nullptr;  // after the last call
  std::uint64_t capture = 0;
  std::optional<std::uint64_t> last_stream;  // its number; none: has to be waited for
  bool is_used = false;
};

}  // namespace

class Group::Member {
 public:
  Member(int rank, int ranks, const Gather& gather, const GroupOptions& options)
      : driver_(find_driver()),
        context_(current_context(driver_)),
        functions_(load_kernels(driver_, context_)),
        options_(options),
        ranks_(ranks),
        counters_(make_gpu_memory(driver_, context_,
                                  counter_bytes * static_cast<std::size_t>(1 + options.graphs))),
        abort_(make_pinned_memory(driver_, context_, abort_bytes)),
        meeting_(meet(driver_, context_, rank, ranks, gather, options)) {
    memory_ = {meeting_.place, meeting_.layout.total_bytes, meeting_.layout.area_bytes};
    sets_.resize(static_cast<std::size_t>(1 + options.graphs));
    for (std::size_t set = 0; set < sets_.size(); ++set) make_plan(sets_[set], set, rank);
    try {
      for (SlotSet& set : sets_)
        driver_.check(driver_.create_event(&set.event, event_without_timing), "cuEventCreate");
    } catch (const Error&) {
      destroy_events();
      throw;
    }
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;
  ~Member() { destroy_events(); }

  Taken launch(DriverStream stream, const void* in, void* out, std::uint64_t count, Element element,
               std::optional<Form> wanted, Queued* queued) {
    const std::size_t bytes = count * size_of(element);
    if (count == 0 || bytes > options_.max_bytes) return Taken::declined;
    Form form = wanted.value_or(usual_form(bytes, ranks_, meeting_.place));
    if (form == Form::one_shot_ll && bytes > meeting_.layout.ll_lines * sizeof(std::uint64_t))
      form = Form::one_shot_simple;
    const std::lock_guard lock(mutex_);
    const ContextScope scope(driver_, context_);
    int status = capture_none;
    std::uint64_t capture = 0;
    driver_.check(driver_.capture_of(stream, status, capture), "cuStreamGetCaptureInfo");
    if (status != capture_none && status != capture_active)
      throw Error("the capture of this stream was invalidated before");
    SlotSet* set = status == capture_none ? &sets_.front() : set_of(capture);
    if (set == nullptr) return Taken::declined;
    // A stream that is captured has no number to ask for: asking would end the capture.
    const auto number = status == capture_none ? number_of(stream) : std::nullopt;
    follow_last_call(*set, stream, number);
    void* arguments[] = {&set->plan, &in, &out, &count};
    const auto blocks =
        static_cast<unsigned>(blocks_for(bytes, form, ranks_, meeting_.most_blocks));
    const auto function =
        functions_[static_cast<std::size_t>(form)][static_cast<std::size_t>(element)];
    driver_.check(
        driver_.launch(function, blocks, 1, 1, kernel_threads, 1, 1, 0, stream, arguments, nullptr),
        "cuLaunchKernel");
    driver_.check(driver_.record_event(set->event, stream), "cuEventRecord");
    set->is_used = true;
    set->last_stream = number;
    if (queued != nullptr) *queued = {form, status == capture_active};
    return Taken::done;
  }

  void abort() noexcept {
    std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(abort_->address()))
        .store(1, std::memory_order_release);
  }

  bool drain(const std::function<bool()>& is_hopeless) {
    const ContextScope scope(driver_, context_);
    for (int polls = 1; !is_idle(); ++polls) {
      if (polls % polls_per_question == 0 && is_hopeless()) {
        abort();
        return waits_out_abort();
      }
      std::this_thread::sleep_for(poll_interval);
    }
    // Replays of graphs may still wait for a rank that is gone.
    if (captures_ > 0 && is_hopeless()) abort();
    return true;
  }

  void note_failure(const char* what) {
    const std::lock_guard lock(mutex_);
    failure_ = what;
  }
  [[nodiscard]] std::string failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
  }
  [[nodiscard]] const GroupMemory& memory() const noexcept { return memory_; }

 private:
  void make_plan(SlotSet& set, std::size_t index, int rank) {
    const Layout& layout = meeting_.layout;
    KernelPlan& plan = set.plan;
    std::byte* base = meeting_.memory->address();
    for (int other = 0; other < ranks_; ++other)
      plan.areas[other] = base + layout.offset_of(other, static_cast<int>(index));
    plan.half_bytes = layout.half_bytes;
    plan.data_offset = layout.data_offset;
    plan.sums_offset = layout.sums_offset;
    plan.flags_offset = layout.flags_offset;
    plan.ll_lines = layout.ll_lines;
    std::byte* counters = counters_->address() + counter_bytes * index;
    plan.calls_done = reinterpret_cast<std::uint64_t*>(counters);
    plan.blocks_done = reinterpret_cast<unsigned*>(counters + blocks_done_offset);
    plan.abort = reinterpret_cast<const std::uint64_t*>(abort_->address());
    plan.rank = static_cast<std::uint32_t>(rank);
    plan.ranks = static_cast<std::uint32_t>(ranks_);
  }

  // Each capture has its own, in the order in which captures first use the communicator, which is
  // the same on all ranks. Null where all are given away.
  SlotSet* set_of(std::uint64_t capture) {
    for (std::size_t set = captures_; set > 0; --set)
      if (sets_[set].capture == capture) return &sets_[set];
    if (captures_ + 1 >= sets_.size()) return nullptr;
    SlotSet& fresh = sets_[++captures_];
    fresh.capture = capture;
    return &fresh;
  }

  // Streams are told apart by numbers: a handle may come back for another stream.
  [[nodiscard]] std::optional<std::uint64_t> number_of(DriverStream stream) const {
    unsigned long long number = 0;
    if (reinterpret_cast<std::uintptr_t>(stream) == stream_per_thread) return std::nullopt;
    if (driver_.stream_number == nullptr ||
        driver_.stream_number(stream, &number) != driver_success)
      return std::nullopt;
    return number;
  }

  void follow_last_call(const SlotSet& set, DriverStream stream,
                        std::optional<std::uint64_t> number) const {
    if (!set.is_used || (number && set.last_stream == number)) return;
    driver_.check(driver_.wait_for_event(stream, set.event, 0), "cuStreamWaitEvent");
  }

  [[nodiscard]] bool is_idle() const {
    return !sets_.front().is_used || driver_.query_event(sets_.front().event) != driver_not_ready;
  }
  [[nodiscard]] bool waits_out_abort() const {
    for (int polls = 0; polls < polls_after_abort; ++polls) {
      if (is_idle()) return true;
      std::this_thread::sleep_for(poll_interval);
    }
    return is_idle();
  }

  void destroy_events() noexcept {
    for (SlotSet& set : sets_)
      if (set.event != nullptr) static_cast<void>(driver_.destroy_event(set.event));
  }

  Driver driver_;
  DriverContext context_;
  const KernelFunctions& functions_;
  GroupOptions options_;
  int ranks_;
  std::shared_ptr<SharedMemory> counters_;
  std::shared_ptr<SharedMemory> abort_;
  MeetingPlace meeting_;
  GroupMemory memory_;
  mutable std::mutex mutex_;
  std::vector<SlotSet> sets_;  // the first is that of eager calls
  std::size_t captures_ = 0;
  std::string failure_;
};

Group::Group(int rank, int ranks, const Gather& gather, const GroupOptions& options) {
  if (ranks < 2 || ranks > most_ranks)
    throw Error("a group has 2 to 16 ranks, not " + std::to_string(ranks));
  member_ = std::make_unique<Member>(rank, ranks, gather, options);
}

Group::~Group() = default;

Taken Group::launch(CUstream_st* stream, const void* in, void* out, std::size_t count,
                    Element element, std::optional<Form> form, Queued* queued) noexcept {
  try {
    return member_->launch(stream, in, out, count, element, form, queued);
  } catch (const std::exception& error) {
    member_->note_failure(error.what());
    return Taken::failed;
  }
}

void Group::abort() noexcept { member_->abort(); }

bool Group::drain(const std::function<bool()>& is_hopeless) noexcept {
  try {
    return member_->drain(is_hopeless);
  } catch (const std::exception&) {
    return false;
  }
}

const GroupMemory& Group::memory() const noexcept { return member_->memory(); }

std::string Group::failure() const { return member_->failure(); }

}  // namespace lanewise::direct
