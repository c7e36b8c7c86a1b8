// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "doctor/measured_links.hpp"

#include <stdlib.h>

#include <filesystem>
#include <system_error>

#include "core/error.hpp"
#include "doctor/bounded_command.hpp"
#include "host/files/json.hpp"
#include "host/files/text_file.hpp"

namespace lanewise::host {
namespace {

namespace fs = std::filesystem;

constexpr double most_gbs = 1e6;

std::vector<std::string> read_addresses(const JsonField& gpus) {
  std::vector<std::string> addresses;
  for (const auto& gpu : gpus.items()) addresses.push_back(gpu.text());
  return addresses;
}

std::string read_error(const JsonField& result) {
  const auto error = result.at("error");
  return error.is_null() ? std::string() : error.text();
}

std::vector<double> read_rates(const JsonField& rates) {
  std::vector<double> numbers;
  for (const auto& rate : rates.items()) numbers.push_back(rate.number(0, most_gbs));
  return numbers;
}

MeasuredPair read_pair(const JsonField& pair, const std::vector<std::string>& gpus) {
  const auto gpu = [&](const char* end) {
    return gpus[static_cast<std::size_t>(
        pair.at(end).whole(0, static_cast<long long>(gpus.size()) - 1))];
  };
  MeasuredPair result{.from = gpu("from"), .to = gpu("to")};
  result.is_peer = pair.at("method").text() == "peer";
  const auto rate = pair.at("one_way_gbs");
  if (!rate.is_null()) result.one_way_gbs = rate.number(0, most_gbs);
  result.error = read_error(pair);
  return result;
}

fs::path path_of_bench() {
  std::error_code error;
  const auto beside = fs::read_symlink("/proc/self/exe", error).parent_path() / "lanewise-bench";
  return fs::exists(beside, error) ? beside : fs::path("lanewise-bench");
}

}  // namespace

MeasuredLinks parse_measured_links(std::string_view text, const std::string& file) {
  const auto root = parse_json(text, file);
  const auto links = JsonField(file, "result", root).at("links");
  const auto gpus = read_addresses(links.at("gpus"));
  MeasuredLinks measured;
  for (const auto& pair : links.at("pairs").items())
    measured.pairs.push_back(read_pair(pair, gpus));
  for (const auto& result : links.at("contention").items())
    measured.contention.push_back({.name = result.at("name").text(),
                                   .alone_gbs = read_rates(result.at("alone_gbs")),
                                   .together_gbs = read_rates(result.at("together_gbs")),
                                   .error = read_error(result)});
  return measured;
}

MeasuredLinks measure_links(std::chrono::seconds limit) {
  auto pattern = (fs::temp_directory_path() / "lanewise-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr)
    return {.failure = pattern + ": expected a folder that can be written"};
  const fs::path folder = pattern;
  const auto file = folder / "links.json";
  BoundedCommand bench({path_of_bench().string(), "links", "--json", file.string()});
  (void)bench.collect(std::chrono::steady_clock::now() + limit);
  MeasuredLinks measured;
  std::error_code error;
  if (!fs::exists(file, error)) {
    measured.failure = "lanewise-bench is not there, failed, or took longer than " +
                       std::to_string(limit.count()) + " s";
  } else {
    try {
      measured = parse_measured_links(read_text_file(file), file.string());
    } catch (const Error& failure) {
      measured.failure = failure.what();
    }
  }
  fs::remove_all(folder, error);
  return measured;
}

}  // namespace lanewise::host
