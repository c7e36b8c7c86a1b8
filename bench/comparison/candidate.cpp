// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "candidate.hpp"

#include <algorithm>
#include <charconv>

#include "core/error.hpp"

namespace lanewise::bench {
namespace {

nlohmann::json json_of(const std::optional<Choice>& choice) {
  if (!choice) return nullptr;
  return {static_cast<int>(choice->algorithm), static_cast<int>(choice->protocol),
          choice->channels};
}

std::optional<Choice> choice_from(const nlohmann::json& json) {
  if (json.is_null()) return std::nullopt;
  return Choice{static_cast<Algorithm>(json.at(0).get<int>()),
                static_cast<Protocol>(json.at(1).get<int>()), json.at(2).get<int>()};
}

nlohmann::json json_of(const std::optional<Answer>& answer) {
  if (!answer) return nullptr;
  return {{"choice", json_of(answer->choice)},
          {"source", static_cast<int>(answer->source)},
          {"is_applied", answer->is_applied}};
}

std::optional<Answer> answer_from(const nlohmann::json& json) {
  if (json.is_null()) return std::nullopt;
  return Answer{choice_from(json.at("choice")), static_cast<Source>(json.at("source").get<int>()),
                json.at("is_applied").get<bool>()};
}

nlohmann::json json_of(const std::optional<LaunchShape>& shape) {
  if (!shape) return nullptr;
  return {shape->channels, shape->threads};
}

std::optional<LaunchShape> shape_from(const nlohmann::json& json) {
  if (json.is_null()) return std::nullopt;
  return LaunchShape{json.at(0).get<int>(), json.at(1).get<int>()};
}

}  // namespace

std::optional<Choice> Verification::choice_in_force() const {
  if (!answer || !answer->choice) return std::nullopt;
  Choice choice = *answer->choice;
  if (shape) choice.channels = shape->channels;
  return choice;
}

std::string_view name_of(CallMode mode) noexcept {
  return mode == CallMode::graph ? "graph" : "eager";
}

FaultInjection parse_injection(std::string_view word) {
  FaultInjection inject;
  const std::size_t at = std::min(word.find('@'), word.size());
  if (at < word.size()) inject.candidate = word.substr(at + 1);
  word = word.substr(0, at);
  const std::size_t colon = word.find(':');
  const std::string_view kind = word.substr(0, colon);
  if (kind == "wrong") inject.kind = FaultInjection::Kind::wrong;
  if (kind == "hang") inject.kind = FaultInjection::Kind::hang;
  if (kind == "kill") inject.kind = FaultInjection::Kind::kill;
  bool is_good = inject.kind != FaultInjection::Kind::none;
  if (colon != std::string_view::npos) {
    const std::string_view rank = word.substr(colon + 1);
    const auto end = std::from_chars(rank.data(), rank.data() + rank.size(), inject.rank);
    is_good = is_good && end.ec == std::errc() && end.ptr == rank.data() + rank.size();
  }
  if (!is_good)
    throw Error("--inject is wrong, hang or kill, with an optional :RANK and @CANDIDATE");
  return inject;
}

void to_json(nlohmann::json& json, const Candidate& candidate) {
  json = {{"id", candidate.id},
          {"name", candidate.name},
          {"arm", static_cast<int>(candidate.arm)},
          {"forced", json_of(candidate.forced)}};
}

void from_json(const nlohmann::json& json, Candidate& candidate) {
  json.at("id").get_to(candidate.id);
  json.at("name").get_to(candidate.name);
  candidate.arm = static_cast<ControlMode>(json.at("arm").get<int>());
  candidate.forced = choice_from(json.at("forced"));
}

void to_json(nlohmann::json& json, const Batch& batch) {
  json = {{"bytes", batch.bytes},
          {"calls", batch.calls},
          {"mode", static_cast<int>(batch.mode)},
          {"seed", batch.seed},
          {"gap_us", batch.gap_us},
          {"trace", batch.trace},
          {"candidates", batch.candidates}};
}

void from_json(const nlohmann::json& json, Batch& batch) {
  json.at("bytes").get_to(batch.bytes);
  json.at("calls").get_to(batch.calls);
  batch.mode = static_cast<CallMode>(json.at("mode").get<int>());
  json.at("seed").get_to(batch.seed);
  json.at("gap_us").get_to(batch.gap_us);
  json.at("trace").get_to(batch.trace);
  json.at("candidates").get_to(batch.candidates);
}

void to_json(nlohmann::json& json, const Verification& verification) {
  json = {{"id", verification.id},
          {"fault", verification.fault},
          {"wrong", verification.wrong},
          {"refusal", verification.refusal},
          {"answer", json_of(verification.answer)},
          {"shape", json_of(verification.shape)}};
}

void from_json(const nlohmann::json& json, Verification& verification) {
  json.at("id").get_to(verification.id);
  json.at("fault").get_to(verification.fault);
  json.at("wrong").get_to(verification.wrong);
  json.at("refusal").get_to(verification.refusal);
  verification.answer = answer_from(json.at("answer"));
  verification.shape = shape_from(json.at("shape"));
}

}  // namespace lanewise::bench
