// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <string_view>

#include "host/counters/counters_report.hpp"
#include "host/files/json.hpp"

namespace lanewise::host {
namespace {

constexpr int schema_version = 1;

std::string_view name_of_state(Liveness liveness) noexcept {
  constexpr std::array<std::string_view, 3> names = {"alive", "dead", "unknown"};
  return names[static_cast<std::size_t>(liveness)];
}

std::string_view yes_or_no(bool is_true) noexcept { return is_true ? "true" : "false"; }

std::string in_hex(std::uint64_t number) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(number));
  return digits.data();
}

// `items` in brackets, each by `write`, with commas between.
template <typename Items, typename Write>
std::string list(const Items& items, Write write) {
  std::string text = "[";
  for (const auto& item : items) {
    if (text.size() > 1) text += ',';
    text += write(item);
  }
  return text + ']';
}

std::string size_to_json(const CountedSize& size) {
  const auto& call = size.call;
  const auto choice = choice_of(call);
  return "{\"bytes\":" + std::to_string(call.bytes) +
         ",\"is_exact\":" + std::string(yes_or_no(size.exactness == SizeExactness::exact)) +
         ",\"calls\":" + std::to_string(size.calls) + ",\"source\":" + quote_json(source_of(call)) +
         ",\"choice\":" + (choice.empty() ? "null" : quote_json(choice)) +
         ",\"is_applied\":" + std::string(yes_or_no(call.effect == CallEffect::applied)) +
         ",\"is_captured\":" + std::string(yes_or_no(call.buffers == CallBuffers::captured)) + '}';
}

std::string communicator_to_json(const CountedCommunicator& communicator) {
  const auto& id = communicator.communicator;
  return "{\"id\":" + (id ? quote_json(in_hex(*id)) : "null") +
         ",\"ranks\":" + std::to_string(communicator.ranks) +
         ",\"gpu\":" + (communicator.gpu ? quote_json(to_string(*communicator.gpu)) : "null") +
         ",\"mode\":" + quote_json(name_of(communicator.mode)) +
         ",\"is_open\":" + std::string(yes_or_no(communicator.state == RecordState::open)) +
         ",\"calls\":" + list(communicator.sizes, size_to_json) + '}';
}

std::string process_to_json(const CountedProcess& process) {
  return "\n{\"pid\":" + std::to_string(process.process.pid) +
         ",\"user\":" + std::to_string(process.user) +
         ",\"state\":" + quote_json(name_of_state(process.liveness)) +
         ",\"program\":" + quote_json(process.program) +
         ",\"nccl\":" + quote_json(to_string(process.release)) +
         ",\"started\":" + std::to_string(process.started_seconds) +
         ",\"lost_calls\":" + std::to_string(process.lost_calls) + ",\"refusals\":" +
         list(process.refusals, [](const std::string& why) { return quote_json(why); }) +
         ",\"communicators\":" + list(process.communicators, communicator_to_json) + '}';
}

bool is_direct(const CountedCommunicator& communicator) noexcept {
  return communicator.mode == CountedMode::direct;
}

std::map<std::size_t, std::uint64_t> sum_by_size(std::span<const CountedProcess> processes) {
  std::map<std::size_t, std::uint64_t> calls;
  for (const auto& process : processes) {
    const bool has_plugin = std::any_of(process.communicators.begin(), process.communicators.end(),
                                        [](const auto& one) { return !is_direct(one); });
    for (const auto& communicator : process.communicators)
      for (const auto& size : communicator.sizes)
        if (!has_plugin || !is_direct(communicator) || size.call.direct != DirectForm::none)
          calls[size.call.bytes] += size.calls;
  }
  return calls;
}

std::string to_sample(const CountedProcess& process, const CountedCommunicator& communicator,
                      const CountedSize& size) {
  const auto& call = size.call;
  return "lanewise_calls_total{pid=\"" + std::to_string(process.process.pid) +
         "\",program=" + quote_json(process.program) + ",ranks=\"" +
         std::to_string(communicator.ranks) + "\",communicator=\"" +
         (communicator.communicator ? in_hex(*communicator.communicator) : "") + "\",bytes=\"" +
         std::to_string(call.bytes) + "\",source=\"" + std::string(source_of(call)) +
         "\",choice=\"" + choice_of(call) + "\",applied=\"" +
         std::string(yes_or_no(call.effect == CallEffect::applied)) + "\",captured=\"" +
         std::string(yes_or_no(call.buffers == CallBuffers::captured)) + "\"} " +
         std::to_string(size.calls) + '\n';
}

}  // namespace

std::string choice_of(const CountedCall& call) {
  constexpr std::array<const char*, 4> forms = {"", "direct/one-shot-ll", "direct/one-shot-simple",
                                                "direct/two-shot"};
  return call.decision ? to_string(call.decision->choice)
                       : forms[static_cast<std::size_t>(call.direct)];
}

std::string_view source_of(const CountedCall& call) noexcept {
  if (call.direct != DirectForm::none) return "direct";
  return name_of(call.decision ? call.decision->source : Source::none);
}

std::string format_counters_json(std::span<const CountedProcess> processes) {
  const auto size_sum = [](const auto& sum) {
    return "{\"bytes\":" + std::to_string(sum.first) + ",\"calls\":" + std::to_string(sum.second) +
           '}';
  };
  return "{\"schema_version\":" + std::to_string(schema_version) +
         ",\n\"sizes\":" + list(sum_by_size(processes), size_sum) +
         ",\n\"processes\":" + list(processes, process_to_json) + "}\n";
}

std::string format_counters_prometheus(std::span<const CountedProcess> processes) {
  std::string text =
      "# HELP lanewise_calls_total All-reduces that NCCL asked about or the direct layer saw.\n"
      "# TYPE lanewise_calls_total counter\n";
  for (const auto& process : processes)
    for (const auto& communicator : process.communicators)
      for (const auto& size : communicator.sizes) text += to_sample(process, communicator, size);
  text +=
      "# HELP lanewise_lost_calls_total All-reduces that found no room to be counted.\n"
      "# TYPE lanewise_lost_calls_total counter\n";
  for (const auto& process : processes)
    text += "lanewise_lost_calls_total{pid=\"" + std::to_string(process.process.pid) + "\"} " +
            std::to_string(process.lost_calls) + '\n';
  return text;
}

}  // namespace lanewise::host
