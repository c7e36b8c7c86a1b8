// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "doctor/nvidia_smi.hpp"

#include <algorithm>
#include <chrono>

#include "doctor/bounded_command.hpp"
#include "files/split_text.hpp"

namespace lanewise::host {
namespace {

// A wedged driver never answers; a doctor that waits for it is of no use.
constexpr std::chrono::milliseconds smi_limit{1500};

// "00000000:C1:00.0", as nvidia-smi prints it.
std::optional<PciAddress> parse_smi_address(std::string text) {
  std::ranges::transform(text, text.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'F' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return parse_pci_address(text);
}

std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const auto start = line.find_first_not_of(" \t\r");
    if (start == std::string_view::npos) break;
    const auto end = std::min(line.find_first_of(" \t\r", start), line.size());
    words.emplace_back(line.substr(start, end - start));
    line.remove_prefix(end);
  }
  return words;
}

bool is_peer_code(const std::string& word) {
  constexpr std::string_view codes[] = {"X", "OK", "CNS", "GNS", "TNS", "NS", "DR", "U"};
  return std::ranges::find(codes, word) != std::end(codes);
}

}  // namespace

const SmiGpu* NvidiaSmi::find(const PciAddress& address) const noexcept {
  const auto found = std::ranges::find(gpus, address, &SmiGpu::address);
  return found == gpus.end() ? nullptr : &*found;
}

std::vector<SmiGpu> parse_smi_gpus(std::string_view csv) {
  std::vector<SmiGpu> gpus;
  for (const auto line : split_text(csv, '\n')) {
    const auto fields = split_text(line, ',');
    if (fields.size() < 5) continue;
    const auto address = parse_smi_address(trim(fields[0]));
    if (!address) continue;
    gpus.push_back({.address = *address,
                    .name = trim(fields[1]),
                    .driver = trim(fields[2]),
                    .power_state = trim(fields[3]),
                    .display = trim(fields[4])});
  }
  return gpus;
}

// Rows that start with a GPU's name and hold a code for each GPU; the header row has names alone.
PeerMatrix parse_peer_matrix(std::string_view text) {
  PeerMatrix matrix;
  for (const auto line : split_text(text, '\n')) {
    auto words = split_words(line);
    if (words.size() < 2 || !words[0].starts_with("GPU") || !is_peer_code(words[1])) continue;
    words.erase(words.begin());
    std::erase_if(words, [](const std::string& word) { return !is_peer_code(word); });
    matrix.push_back(std::move(words));
  }
  const auto is_short = [&](const auto& row) { return row.size() != matrix.size(); };
  if (std::ranges::any_of(matrix, is_short)) matrix.clear();
  return matrix;
}

NvidiaSmi run_nvidia_smi() {
  BoundedCommand query({"nvidia-smi",
                        "--query-gpu=pci.bus_id,name,driver_version,pstate,display_active",
                        "--format=csv,noheader"});
  BoundedCommand peers({"nvidia-smi", "topo", "-p2p", "r"});
  const auto end = std::chrono::steady_clock::now() + smi_limit;
  return {.gpus = parse_smi_gpus(query.collect(end)),
          .peers = parse_peer_matrix(peers.collect(end))};
}

NvidiaSmi read_recorded_smi(const MachineFiles& files) {
  return {.gpus = parse_smi_gpus(files.read("/nvidia-smi/query.csv").text),
          .peers = parse_peer_matrix(files.read("/nvidia-smi/topo-p2p.txt").text)};
}

}  // namespace lanewise::host
