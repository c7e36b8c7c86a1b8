// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "rank_group.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>

#include "host/process/settings.hpp"
#include "rank_loop.hpp"
#include "search/variables.hpp"
#include "wait.hpp"

extern char** environ;

namespace lanewise::bench {
namespace {

using Clock = std::chrono::steady_clock;
// Ending NCCL's communicators and CUDA's contexts takes seconds, not tens of them.
constexpr std::chrono::milliseconds patience_at_the_end{10'000};
// Checking costs a system call a rank: some 3 ms apart when napping.
constexpr int looks_between_checks = 50;

// Of all that this process has, not of NCCL's and our own alone.
std::vector<std::string> merged_environment(const Environment& variables) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!variables.contains(text.substr(0, text.find('=')))) merged.push_back(text);
  }
  for (const auto& [name, value] : variables) {
    if (!value.empty()) merged.push_back(name + "=" + value);
  }
  return merged;
}

std::vector<char*> pointers_of(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

RankGroup::RankGroup(RankGroupPlan plan) : plan_(std::move(plan)) { start(); }

Environment RankGroup::environment() const {
  return with_changes(host::read_process_environment(), plan_.variables);
}

void RankGroup::start() {
  const bool is_joined = plan_.kind == RankKind::joined;
  shared_ =
      std::make_unique<SharedBlock>(is_joined ? SharedBlock::create_named(plan_.job, plan_.ranks)
                                              : SharedBlock::create(plan_.ranks));
  is_running_ = true;
  ++starts_;
  try {
    const int each = plan_.kind == RankKind::threads ? plan_.ranks : 1;
    for (int rank = 0; rank < plan_.ranks && !is_joined; rank += each) spawn({0, rank, each});
    if (is_joined) join();
    static_cast<void>(call("open", plan_.opening));
  } catch (const std::exception&) {
    kill_all();
    throw;
  }
}

void RankGroup::start_afresh_if_gone() {
  if (is_running_) return;
  if (plan_.kind == RankKind::joined) throw RankFailure(end_);
  start();
}

void RankGroup::join() {
  const auto deadline = Clock::now() + plan_.timeout;
  Backoff backoff;
  while (block().joined.load() + 1 < static_cast<std::uint32_t>(plan_.ranks)) {
    if (Clock::now() > deadline) {
      SharedBlock::remove_name(plan_.job);
      throw RankFailure("not all ranks have come within " + std::to_string(plan_.timeout.count()) +
                        " s");
    }
    backoff.pause();
  }
  // Rank 0 lives in this process, with a mapping of its own: after a failure nobody waits for it.
  auto own = std::make_shared<SharedBlock>(SharedBlock::attach_named(plan_.job));
  SharedBlock::remove_name(plan_.job);
  own->layout().joined.fetch_add(1);
  std::thread([own] {
    static_cast<void>(serve_rank(own->layout(), {0, 0}));
    own->layout().joined.fetch_sub(1);
  }).detach();
}

RankGroup::~RankGroup() {
  if (!is_running_) return;
  try {
    send("stop", {});
    if (plan_.kind == RankKind::joined) {
      wait_for_the_end();
    } else {
      static_cast<void>(all_ended_within(patience_at_the_end));
    }
  } catch (const std::exception&) {
    // Killed below.
  }
  kill_all();
}

// Joined ranks say by their last barrier that they are ending.
void RankGroup::wait_for_the_end() noexcept {
  const auto deadline = Clock::now() + patience_at_the_end;
  while (block().joined.load() > 0 && Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

void RankGroup::spawn(const Child& place) {
  std::vector<std::string> arguments = {"lanewise-bench",
                                        "rank",
                                        std::to_string(shared_->descriptor()),
                                        std::to_string(place.first_rank),
                                        std::to_string(place.rank_count),
                                        std::to_string(getpid())};
  std::vector<std::string> variables = merged_environment(plan_.variables);
  pid_t pid = 0;
  const int status = posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr,
                                 pointers_of(arguments).data(), pointers_of(variables).data());
  if (status != 0) {
    throw std::runtime_error(std::string("the ranks cannot be started: ") + std::strerror(status));
  }
  children_.push_back({pid, place.first_rank, place.rank_count});
}

void RankGroup::send(std::string_view operation, const nlohmann::json& request) {
  const std::string text = nlohmann::json{{"operation", operation}, {"request", request}}.dump();
  if (text.size() > message_bytes) throw std::runtime_error("the request is too long");
  Message& message = block().request;
  std::memcpy(message.text.data(), text.data(), text.size());
  message.length = static_cast<std::uint32_t>(text.size());
  message.number.fetch_add(1, std::memory_order_release);
}

nlohmann::json RankGroup::call(std::string_view operation, const nlohmann::json& request) {
  if (!is_running_) throw RankFailure("the ranks of " + plan_.label + " are gone");
  Message& answer = block().answer;
  const std::uint32_t last = answer.number.load(std::memory_order_acquire);
  send(operation, request);
  auto deadline = Clock::now() + plan_.timeout;
  std::uint64_t progress = 0;
  Backoff backoff;
  int looks = 0;
  while (answer.number.load(std::memory_order_acquire) == last) {
    if (++looks % looks_between_checks == 0) throw_if_dead();
    // A machine that is merely busy must not make a sound candidate look hung.
    if (const auto now = progress_of_all(); now != progress) {
      progress = now;
      deadline = Clock::now() + plan_.timeout;
    }
    if (Clock::now() > deadline) {
      const auto laggards = find_laggards();
      fail(
          "no answer within " + std::to_string(plan_.timeout.count()) + " s: " + describe(laggards),
          laggards.front());
    }
    backoff.pause();
  }
  return nlohmann::json::parse(answer.text.data(), answer.text.data() + answer.length);
}

void RankGroup::throw_if_dead() {
  const BlockLayout& layout = block();
  if (layout.any_failed.load(std::memory_order_acquire) != 0) {
    // The first to fail sets the flag and then writes its error: let it finish.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (int rank = 0; rank < plan_.ranks; ++rank) {
      const RankSlot& slot = layout.slots[static_cast<std::size_t>(rank)];
      if (slot.has_failed.load(std::memory_order_acquire) == 0) continue;
      fail(describe(rank) + ": " + slot.error.data(), rank);
    }
    fail("a rank failed without a word", 0);
  }
  for (Child& child : children_) {
    int status = 0;
    if (child.pid == 0 || waitpid(child.pid, &status, WNOHANG) != child.pid) continue;
    child.pid = 0;
    const std::string end = WIFSIGNALED(status)
                                ? "was killed by signal " + std::to_string(WTERMSIG(status))
                                : "ended with status " + std::to_string(WEXITSTATUS(status));
    const std::string who = child.rank_count == 1 ? "" : "the process of all ranks, at ";
    fail(who + describe(child.first_rank) + " " + end, child.first_rank);
  }
}

// `rank`: one that shows by its phase what failed.
void RankGroup::fail(const std::string& cause, int rank) {
  const auto candidate = block().slots[static_cast<std::size_t>(rank)].candidate.load();
  kill_all();
  end_ = plan_.label + ": " + cause;
  if (candidate == 0) throw RankFailure(end_);
  throw RankFailure(end_, static_cast<int>(candidate) - 1);
}

std::string RankGroup::describe(int rank) const {
  const char* phase = block().slots[static_cast<std::size_t>(rank)].phase.data();
  return "rank " + std::to_string(rank) + " (" + (*phase != '\0' ? phase : "starting") + ")";
}

std::uint64_t RankGroup::progress_of_all() const {
  std::uint64_t sum = 0;
  for (int rank = 0; rank < plan_.ranks; ++rank)
    sum += block().slots[static_cast<std::size_t>(rank)].progress.load();
  return sum;
}

std::vector<int> RankGroup::find_laggards() const {
  std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
  const auto& slots = block().slots;
  for (int rank = 0; rank < plan_.ranks; ++rank) {
    least = std::min(least, slots[static_cast<std::size_t>(rank)].progress.load());
  }
  std::vector<int> behind;
  for (int rank = 0; rank < plan_.ranks; ++rank) {
    if (slots[static_cast<std::size_t>(rank)].progress.load() <= least) behind.push_back(rank);
  }
  // One may have moved on between the two looks.
  return behind.empty() ? std::vector{0} : behind;
}

std::string RankGroup::describe(const std::vector<int>& laggards) const {
  if (static_cast<int>(laggards.size()) == plan_.ranks) return "no rank goes on, " + describe(0);
  std::string text;
  for (const int rank : laggards) text += (text.empty() ? "" : ", ") + describe(rank);
  return text + (laggards.size() == 1 ? " is behind" : " are behind");
}

bool RankGroup::all_ended_within(std::chrono::milliseconds limit) noexcept {
  const auto deadline = Clock::now() + limit;
  while (true) {
    for (Child& child : children_) {
      if (child.pid != 0 && waitpid(child.pid, nullptr, WNOHANG) != 0) child.pid = 0;
    }
    const auto is_gone = [](const Child& child) { return child.pid == 0; };
    if (std::all_of(children_.begin(), children_.end(), is_gone)) return true;
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

void RankGroup::kill_all() noexcept {
  is_running_ = false;
  // Joined ranks are their launcher's to kill; those that wait see this and end.
  if (plan_.kind == RankKind::joined) block().any_failed.store(1);
  for (const Child& child : children_) {
    if (child.pid != 0) ::kill(child.pid, SIGKILL);
  }
  // A process inside the driver dies only when the driver lets go.
  static_cast<void>(all_ended_within(patience_at_the_end));
  children_.clear();
}

}  // namespace lanewise::bench
