// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/counters/live_counters.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <mutex>
#include <new>
#include <string_view>

#include "counters_files.hpp"
#include "files/shared_file.hpp"
#include "host/process/fork_lock.hpp"
#include "host/process/process_identity.hpp"
#include "machine/pci_word.hpp"

namespace lanewise::host {
namespace {

// Above this share of the table, a size that is not in it yet is rounded.
constexpr std::uint64_t most_exact_entries = CountersFile::entries_count / 2;
constexpr std::uint32_t shared_record = CountersFile::records_count - 1;
// Another thread of this process makes the same file at the same time, no more.
constexpr int open_attempts = 4;

// A page that the kernel empties in a forked child.
class OwnerPage {
 public:
  OwnerPage() noexcept {
    void* page =
        mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    if (madvise(page, page_bytes(), MADV_WIPEONFORK) != 0) {
      munmap(page, page_bytes());
      return;
    }
    word_ = new (page) std::atomic<std::uint32_t>(1);
  }
  ~OwnerPage() {
    if (word_ != nullptr) munmap(word_, page_bytes());
  }
  OwnerPage(const OwnerPage&) = delete;
  OwnerPage& operator=(const OwnerPage&) = delete;
  [[nodiscard]] const std::atomic<std::uint32_t>* word() const noexcept { return word_; }

 private:
  static std::size_t page_bytes() noexcept {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }
  std::atomic<std::uint32_t>* word_ = nullptr;
};

void read_program_name(char (&name)[16]) noexcept {
  const int file = ::open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const auto length = read(file, name, sizeof name - 1);
  close(file);
  const auto end = length > 0 ? static_cast<std::size_t>(length) : 0;
  name[end] = '\0';
  if (end > 0 && name[end - 1] == '\n') name[end - 1] = '\0';
}

void begin_file(void* memory, const ProcessIdentity& process,
                const CountersRequest& request) noexcept {
  auto& header = static_cast<CountersFile*>(memory)->header;
  header.process = process.word();
  header.pid_namespace = process.pid_namespace;
  header.started_seconds = static_cast<std::uint64_t>(time(nullptr));
  header.release = static_cast<std::uint64_t>(request.release.major) << 32 |
                   static_cast<std::uint64_t>(request.release.minor) << 16 |
                   static_cast<std::uint64_t>(request.release.patch);
  read_program_name(header.program);
  header.magic = counters_magic;
}

bool is_of(const void* memory, const ProcessIdentity& process) noexcept {
  const auto& header = static_cast<const CountersFile*>(memory)->header;
  return header.magic == counters_magic && header.process == process.word() &&
         header.pid_namespace == process.pid_namespace;
}

// A file that an earlier process of the same number left is replaced.
FileAnswer join_file(SharedFile& file, const ProcessIdentity& process,
                     const CountersRequest& request) {
  for (int attempt = 0; attempt < open_attempts; ++attempt) {
    auto answer = file.open();
    if (answer == FileAnswer::refused) return answer;
    if (answer == FileAnswer::done && is_of(file.memory(), process)) return answer;
    if (answer != FileAnswer::missing) remove_shared_file(file.path(), *file.identity());
    limit_dead_counters(request.folder);
    answer = file.create();
    if (answer != FileAnswer::done) return answer;
    begin_file(file.memory(), process, request);
    answer = file.publish();
    if (answer != FileAnswer::exists) return answer;
  }
  file.refuse("sharing it", EAGAIN);
  return FileAnswer::refused;
}

// Of the record that stands for many: what is true of all of them.
void join_last_record(CommunicatorRecord& record, std::uint32_t ranks) noexcept {
  auto state = RecordState::free;
  if (record.state.compare_exchange_strong(state, RecordState::closed))
    record.ranks = ranks;
  else if (record.ranks != ranks)
    record.ranks = 0;
}

constinit ForkLock mapping_lock;

}  // namespace

struct LiveCounters::Mapping {
  explicit Mapping(std::string path) : file(std::move(path), sizeof(CountersFile)) {}
  // In a forked child it is still the parent's.
  [[nodiscard]] bool is_own() const noexcept { return owner.word()->load() != 0; }
  SharedFile file;
  OwnerPage owner;
  std::size_t users = 0;
};

constinit LiveCounters::Mapping* LiveCounters::current_ = nullptr;

std::string_view name_of(CountedMode mode) noexcept {
  constexpr std::array<std::string_view, 4> names = {"inert", "observes", "applies", "direct"};
  const auto index = static_cast<std::size_t>(mode);
  return index < names.size() ? names[index] : "damaged";
}

// One descriptor and one mapping a process would be enough; the descriptor is closed, too.
LiveCounters::Mapping* LiveCounters::share_mapping(const CountersRequest& request,
                                                   std::string& note) {
  const auto process = this_process();
  const auto path = counters_path(request.folder, process);
  const std::lock_guard lock(mapping_lock);
  if (current_ != nullptr && current_->is_own() && current_->file.path() == path &&
      current_->file.has_its_name()) {
    ++current_->users;
    return current_;
  }
  auto mapping = std::make_unique<Mapping>(path);
  if (mapping->owner.word() == nullptr)
    mapping->file.refuse("telling a forked child apart", ENOSYS);
  if (mapping->owner.word() == nullptr ||
      join_file(mapping->file, process, request) != FileAnswer::done) {
    note = mapping->file.note();
    return nullptr;
  }
  mapping->users = 1;
  current_ = mapping.release();
  return current_;
}

std::unique_ptr<LiveCounters> LiveCounters::open(const CountersRequest& request,
                                                 std::string& note) {
  std::unique_ptr<LiveCounters> counters(new LiveCounters);
  counters->mapping_ = share_mapping(request, note);
  if (counters->mapping_ == nullptr) return nullptr;
  counters->file_ = static_cast<CountersFile*>(counters->mapping_->file.memory());
  counters->is_owner_ = counters->mapping_->owner.word();
  counters->claim_record(request);
  return counters;
}

bool LiveCounters::take_record(bool (*is_takable)(const CommunicatorRecord&)) noexcept {
  for (std::uint32_t i = 0; i < shared_record; ++i) {
    auto& record = file_->records[i];
    auto state = record.state.load();
    if (state == RecordState::open || !is_takable(record)) continue;
    if (!record.state.compare_exchange_strong(state, RecordState::open)) continue;
    record_index_ = i;
    return true;
  }
  return false;
}

// A closed communicator's entries name its record, so one that counted nothing is taken first.
void LiveCounters::claim_record(const CountersRequest& request) noexcept {
  const auto ranks = static_cast<std::uint32_t>(request.ranks);
  const bool is_unused = take_record([](const auto& record) { return !record.has_calls.load(); });
  if (!is_unused && !take_record([](const auto&) { return true; })) return share_last_record(ranks);
  if (!is_unused) hand_over_counts();
  auto& record = file_->records[record_index_];
  record.ranks = ranks;
  record.communicator = request.communicator.value_or(0);
  record.is_identified = request.communicator.has_value();
  record.gpu = to_word(request.gpu);
  record.mode = CountedMode::inert;
}

void LiveCounters::share_last_record(std::uint32_t ranks) noexcept {
  record_index_ = shared_record;
  is_shared_ = true;
  file_->records[shared_record].users.fetch_add(1);
  join_last_record(file_->records[shared_record], ranks);
}

// What the record's last communicator counted becomes the last record's. The entries stay: this
// communicator will most likely count the same calls.
void LiveCounters::hand_over_counts() noexcept {
  auto& record = file_->records[record_index_];
  join_last_record(file_->records[shared_record], record.ranks);
  for (auto& entry : file_->entries) {
    const auto key = entry.key.load(std::memory_order_relaxed);
    if (key == 0 || read_counter_key(key).record != record_index_) continue;
    const auto calls = entry.calls.exchange(0);
    if (calls == 0) continue;
    const auto shared_key = with_record(key, shared_record);
    auto* shared = claim_entry(shared_key);
    if (shared == nullptr) shared = claim_entry(coarse_counter_key(shared_key));
    auto& sum = shared == nullptr ? file_->header.lost : shared->calls;
    sum.fetch_add(calls, std::memory_order_relaxed);
  }
}

// A process that counted nothing leaves no file; the counts of others outlive them.
LiveCounters::~LiveCounters() {
  if (is_owner_ == nullptr || is_owner_->load() == 0) return;
  auto& record = file_->records[record_index_];
  if (is_shared_)
    record.users.fetch_sub(1);
  else
    record.state = RecordState::closed;
  release_mapping();
}

void LiveCounters::release_mapping() noexcept {
  const std::lock_guard lock(mapping_lock);
  if (--mapping_->users > 0) return;
  const bool is_open = std::any_of(std::begin(file_->records), std::end(file_->records),
                                   [](const auto& record) { return is_open_record(record); });
  if (!is_open && file_->header.used == 0)
    remove_shared_file(mapping_->file.path(), *mapping_->file.identity());
  if (current_ == mapping_) current_ = nullptr;
  delete mapping_;
}

void LiveCounters::set_mode(CountedMode mode) noexcept {
  file_->records[record_index_].mode = mode;
}

void LiveCounters::set_refusal(RefusedPart part, std::string_view why) noexcept {
  const auto index = static_cast<std::size_t>(part);
  const auto bit = std::uint32_t{1} << index;
  const std::lock_guard lock(mapping_lock);
  if ((file_->header.refusals_said & bit) != 0) return;
  auto& text = file_->header.refusals[index];
  text[why.copy(text, sizeof text - 1)] = '\0';
  file_->header.refusals_said |= bit;
}

CounterEntry* LiveCounters::claim_entry(std::uint64_t key) noexcept {
  auto index = first_index(key);
  for (int probe = 0; probe < most_probes; ++probe) {
    auto& entry = file_->entries[index];
    std::uint64_t found = 0;
    if (entry.key.compare_exchange_strong(found, key)) {
      file_->header.used.fetch_add(1, std::memory_order_relaxed);
      found = key;
    }
    if (found == key) return &entry;
    index = next_index(index);
  }
  return nullptr;
}

CounterEntry* LiveCounters::try_count(std::uint64_t key) noexcept {
  auto* entry = claim_entry(key);
  if (entry == nullptr) return nullptr;
  file_->records[record_index_].has_calls.store(true, std::memory_order_relaxed);
  return increment(*entry);
}

CounterEntry* LiveCounters::record_new(std::uint64_t key) noexcept {
  const bool is_crowded = file_->header.used.load(std::memory_order_relaxed) >= most_exact_entries;
  auto* entry = is_crowded ? nullptr : try_count(key);
  if (entry == nullptr) entry = try_count(coarse_counter_key(key));
  if (entry == nullptr) file_->header.lost.fetch_add(1, std::memory_order_relaxed);
  return entry;
}

}  // namespace lanewise::host
