// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <array>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "gpu/cuda_check.hpp"
#include "session.hpp"

// What a session does to find wrong sums, and the faults that tests inject to see them found.
namespace lanewise::bench {
namespace {

// A whole batch of results in one sentence.
std::string describe_fault(const std::vector<std::uint64_t>& words, const InputCode& code) {
  static constexpr std::array patterns = {"random", "sign", "denormal", "mixed", "coded"};
  const std::string with =
      std::string(" with ") + patterns[static_cast<std::size_t>(code.pattern)] + " data";
  for (std::size_t rank = 0; rank * 4 < words.size(); ++rank) {
    const std::string who = "rank " + std::to_string(rank);
    const auto* const word = words.data() + rank * 4;
    if (word[0] != 0) {
      return who + ": " + std::to_string(word[0]) + " wrong sums, the first at element " +
             std::to_string(word[1]) + with;
    }
    if (word[3] != 0) return who + ": " + std::to_string(word[3]) + " guard bytes touched" + with;
    if (word[2] != words[2]) return who + " has other bits than rank 0" + with;
  }
  return {};
}

}  // namespace

void Session::verify(const Prepared& prepared, std::uint64_t seed, Verification& verification) {
  // Only sums over all ranks have a reference here.
  if (collective_ != Collective::all_reduce) return;
  for (int pattern = 0; pattern < pattern_count; ++pattern) {
    const InputCode code{static_cast<Pattern>(pattern), seed + static_cast<std::uint64_t>(pattern),
                         link_.rank()};
    verify_pattern(prepared, code, verification);
  }
}

void Session::verify_pattern(const Prepared& prepared, const InputCode& code,
                             Verification& verification) {
  begin("checking", prepared);
  const cudaStream_t stream = communicator_->stream();
  const std::size_t count = prepared.bytes / size_of(type_);
  buffers_->arm_guards(prepared.bytes, stream);
  check_cuda(fill_input({buffers_->input(), count, type_}, code, stream), "fill_input");
  communicator_->wait();
  link_.barrier();
  run_calls(prepared);
  begin("waiting for the GPU to check", prepared);
  communicator_->wait();
  link_.barrier();
  if (injection_.kind == FaultInjection::Kind::wrong) inject_fault(prepared);
  buffers_->queue_checks(prepared.bytes, type_, code, link_.ranks(), stream);
  communicator_->wait();
  const CheckResult& found = buffers_->found();
  const std::array<std::uint64_t, 4> mine = {found.wrong, found.first_wrong, found.checksum,
                                             found.touched_guard_bytes};
  const std::string fault = describe_fault(link_.gather(mine), code);
  if (fault.empty()) return;
  ++verification.wrong;
  if (verification.fault.empty()) verification.fault = fault;
}

void Session::inject_fault(const Prepared& prepared) {
  if (injection_.rank != link_.rank() || prepared.candidate.arm != ControlMode::settings) return;
  if (!injection_.candidate.empty() && injection_.candidate != prepared.candidate.name) return;
  switch (injection_.kind) {
    case FaultInjection::Kind::wrong:
      check_cuda(
          cudaMemsetAsync(buffers_->output(), poison_byte, size_of(type_), communicator_->stream()),
          "memset");
      break;
    case FaultInjection::Kind::kill:
      static_cast<void>(std::raise(SIGKILL));
      break;
    case FaultInjection::Kind::hang:
      while (true) std::this_thread::sleep_for(std::chrono::hours(1));
    case FaultInjection::Kind::none:
      break;
  }
}

nlohmann::json Session::soak(const nlohmann::json& request) {
  const Prepared& prepared = find(request.at("id").get<int>());
  const auto seed = request.at("seed").get<std::uint64_t>();
  Verification verification;
  verification.id = prepared.candidate.id;
  if (prepared.mode == CallMode::eager) steer(prepared.candidate);
  for (int round = 0; round < request.at("rounds").get<int>(); ++round) {
    const InputCode code{static_cast<Pattern>(round % pattern_count),
                         seed + static_cast<std::uint64_t>(round), link_.rank()};
    verify_pattern(prepared, code, verification);
  }
  return verification;
}

}  // namespace lanewise::bench
