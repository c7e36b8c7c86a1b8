// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The sections of a 64-bit ELF file, read as they are wanted: libraries of NCCL have 200 MB.
#include <elf.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise::host {

class ElfFile {
 public:
  explicit ElfFile(const std::filesystem::path& path);

  [[nodiscard]] bool is_open() const noexcept { return is_open_; }
  // EM_X86_64 and its like; none for what is no 64-bit ELF file.
  [[nodiscard]] std::optional<unsigned> machine() const noexcept { return machine_; }
  // The content of all sections whose name starts so, up to a limit in bytes.
  [[nodiscard]] std::string read_sections(std::string_view name, std::size_t limit);
  // From the start of the file.
  [[nodiscard]] std::string read_start(std::size_t limit);

 private:
  std::string read_range(std::size_t offset, std::size_t size);

  std::ifstream file_;
  bool is_open_ = false;
  std::optional<unsigned> machine_;
  std::vector<Elf64_Shdr> sections_;
  std::string names_;
};

}  // namespace lanewise::host
