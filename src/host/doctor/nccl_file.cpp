// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "doctor/nccl_file.hpp"

#include <cctype>

#include "doctor/elf_sections.hpp"

namespace lanewise::host {
namespace {

// libnccl's own are 1 to 10 MB; of a file without sections this much is taken.
constexpr std::size_t largest_texts = std::size_t{64} << 20U;
constexpr std::string_view version_words = "NCCL version ";

std::optional<NcclRelease> find_release(std::string_view texts) {
  for (auto found = texts.find(version_words); found != std::string_view::npos;
       found = texts.find(version_words, found + 1)) {
    const auto text = texts.substr(found + version_words.size(), 32);
    std::size_t length = 0;
    while (length < text.size() &&
           (std::isdigit(static_cast<unsigned char>(text[length])) != 0 || text[length] == '.'))
      ++length;
    if (const auto release = parse_nccl_release(text.substr(0, length))) return release;
  }
  return std::nullopt;
}

}  // namespace

std::optional<bool> NcclFile::knows_variable(std::string_view name) const {
  // Texts that are not NCCL's own constants show nothing.
  if (texts.find("NCCL_DEBUG") == std::string::npos) return std::nullopt;
  return texts.find(std::string(name) + '\0') != std::string::npos;
}

NcclFile read_nccl_file(const MachineFiles& files, const std::string& path) {
  NcclFile nccl{.path = path};
  ElfFile file(files.at(path));
  if (!file.is_open()) return nccl;
  nccl.texts = file.read_sections(".rodata", largest_texts);
  if (nccl.texts.empty()) nccl.texts = file.read_start(largest_texts);
  nccl.release = find_release(nccl.texts);
  return nccl;
}

}  // namespace lanewise::host
