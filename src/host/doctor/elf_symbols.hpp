// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What a shared library exports, read from the file without loading it.
#include <string>
#include <string_view>

#include "doctor/machine_files.hpp"

namespace lanewise::host {

struct ElfSymbols {
  std::string problem;  // why the loader of this machine would refuse it; empty: it would not
  std::string names;    // its table of dynamic names, each ended by a NUL

  [[nodiscard]] bool exports(std::string_view symbol) const;
};

[[nodiscard]] ElfSymbols read_elf_symbols(const MachineFiles& files, const std::string& path);

}  // namespace lanewise::host
