// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "result_file.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "core/error.hpp"
#include "host/files/text_file.hpp"
#include "host/process/settings.hpp"
#include "machine_state.hpp"
#include "table.hpp"

namespace lanewise::bench {
namespace {

constexpr int schema_version = 1;

template <class Value>
nlohmann::json or_null(const std::optional<Value>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json describe_choice(const std::optional<Choice>& choice) {
  if (!choice) return nullptr;
  return {{"algorithm", name_of(choice->algorithm)},
          {"protocol", name_of(choice->protocol)},
          {"channels", choice->channels}};
}

nlohmann::json describe_shape(const std::optional<LaunchShape>& shape) {
  if (!shape) return nullptr;
  return {{"channels", shape->channels}, {"threads", shape->threads}};
}

nlohmann::json describe_arm(const ComparedArm& arm) {
  const auto& answer = arm.verification.answer;
  const auto time = arm.time();
  const auto ratio = arm.ratio();
  const auto part = [](const std::optional<Estimate>& estimate, double Estimate::*member) {
    return estimate ? nlohmann::json((*estimate).*member) : nlohmann::json(nullptr);
  };
  return {{"name", arm.candidate.name},
          {"median_us", part(time, &Estimate::median)},
          {"low_us", part(time, &Estimate::low)},
          {"high_us", part(time, &Estimate::high)},
          {"ratio", part(ratio, &Estimate::median)},
          {"ratio_low", part(ratio, &Estimate::low)},
          {"ratio_high", part(ratio, &Estimate::high)},
          {"choice", describe_choice(arm.verification.choice_in_force())},
          {"launch", describe_shape(arm.verification.shape)},
          {"source", name_of(answer && answer->is_applied ? answer->source : Source::none)},
          {"samples", arm.us.size()},
          {"verdict", name_of(arm.verdict())},
          {"wrong", arm.verification.wrong},
          {"fault", arm.verification.fault.empty() ? nlohmann::json(nullptr)
                                                   : nlohmann::json(arm.verification.fault)},
          {"failure", arm.failure.empty() ? nlohmann::json(nullptr) : nlohmann::json(arm.failure)},
          {"is_available", arm.verification.refusal.empty()}};
}

}  // namespace

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

nlohmann::json start_result(const std::string& command, const Machine& machine) {
  const MachineState state = read_machine_state();
  show_warnings(state.warnings);
  Environment variables;
  for (const auto& [name, value] : host::read_process_environment()) {
    if (name.starts_with("NCCL_")) variables[name] = value;
  }
  return {{"schema_version", schema_version},
          {"command", command},
          {"created", now_utc()},
          {"environment",
           {{"nccl", to_string(machine.nccl)},
            {"driver", or_null(state.driver)},
            {"gpus", machine.gpu_names},
            {"ranks", machine.ranks},
            {"nodes", 1},
            {"fingerprint", or_null(state.fingerprint)},
            {"variables", variables},
            {"clocks_mhz", state.clocks_mhz},
            {"warnings", state.warnings}}}};
}

nlohmann::json describe_size(const SizeComparison& comparison) {
  nlohmann::json arms = nlohmann::json::array();
  for (const ComparedArm& arm : comparison.arms()) arms.push_back(describe_arm(arm));
  return {{"bytes", comparison.bytes()}, {"arms", arms}};
}

void check_writable(const std::string& path) {
  if (path.empty()) return;
  std::error_code error;
  const auto there = std::filesystem::status(path, error);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there)) {
    throw Error(path, 0, "expected a regular file to replace");
  }
  const auto folder = std::filesystem::absolute(path).parent_path();
  if (access(folder.c_str(), W_OK) != 0) {
    throw Error(path, 0, "cannot be written: " + std::string(std::strerror(errno)));
  }
}

void write_result(const std::string& path, const nlohmann::json& result) {
  host::write_text_file(path, result.dump(1) + "\n");
}

}  // namespace lanewise::bench
