// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "doctor/elf_symbols.hpp"

#include "doctor/elf_sections.hpp"

namespace lanewise::host {
namespace {

constexpr std::size_t longest_table = std::size_t{16} << 20U;

#if defined(__aarch64__)
constexpr unsigned own_machine = EM_AARCH64;
#else
constexpr unsigned own_machine = EM_X86_64;
#endif

}  // namespace

bool ElfSymbols::exports(std::string_view symbol) const {
  return names.find('\0' + std::string(symbol) + '\0') != std::string::npos;
}

ElfSymbols read_elf_symbols(const MachineFiles& files, const std::string& path) {
  ElfFile file(files.at(path));
  if (!file.is_open()) return {.problem = "it cannot be read", .names = {}};
  if (!file.machine()) return {.problem = "it is no 64-bit library", .names = {}};
  if (*file.machine() != own_machine)
    return {.problem = "it is built for another processor", .names = {}};
  return {.problem = {}, .names = file.read_sections(".dynstr", longest_table)};
}

}  // namespace lanewise::host
