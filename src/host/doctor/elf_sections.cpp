// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "doctor/elf_sections.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>

namespace lanewise::host {
namespace {

constexpr std::size_t most_sections = 4096;
constexpr std::size_t longest_names = 1U << 20U;

}  // namespace

ElfFile::ElfFile(const std::filesystem::path& path) {
  std::error_code error;
  // A FIFO would wait for a writer.
  if (!std::filesystem::is_regular_file(path, error)) return;
  file_.open(path, std::ios::binary);
  is_open_ = file_.is_open();
  const auto start = read_range(0, sizeof(Elf64_Ehdr));
  Elf64_Ehdr header{};
  if (start.size() < sizeof(header)) return;
  std::memcpy(&header, start.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
    return;
  machine_ = header.e_machine;
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum > most_sections ||
      header.e_shstrndx >= header.e_shnum)
    return;
  const auto table = read_range(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
  if (table.size() != header.e_shnum * sizeof(Elf64_Shdr)) return;
  sections_.resize(header.e_shnum);
  std::memcpy(sections_.data(), table.data(), table.size());
  const auto& naming = sections_[header.e_shstrndx];
  names_ = read_range(naming.sh_offset, std::min<std::size_t>(naming.sh_size, longest_names));
}

std::string ElfFile::read_range(std::size_t offset, std::size_t size) {
  std::string text(size, '\0');
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(offset));
  file_.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file_.gcount(), 0)));
  return text;
}

std::string ElfFile::read_sections(std::string_view name, std::size_t limit) {
  std::string content;
  for (const auto& section : sections_) {
    if (section.sh_type == SHT_NOBITS || section.sh_name >= names_.size()) continue;
    if (!std::string_view(names_.c_str() + section.sh_name).starts_with(name)) continue;
    content += read_range(section.sh_offset,
                          std::min<std::size_t>(section.sh_size, limit - content.size()));
    if (content.size() >= limit) break;
  }
  return content;
}

std::string ElfFile::read_start(std::size_t limit) {
  std::string content = read_range(0, limit);
  return content;
}

}  // namespace lanewise::host
