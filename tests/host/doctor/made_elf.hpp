// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The least of an ELF file that has sections: for tests of what reads libraries without loading.
#include <elf.h>

#include <cstring>
#include <string>

namespace lanewise {

// One section `name` with `content`, and the table of names.
inline std::string make_elf(const std::string& name, const std::string& content,
                            unsigned short machine = EM_X86_64) {
  const std::string names = std::string(1, '\0') + name + '\0' + ".shstrtab" + '\0';
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_DYN;
  header.e_machine = machine;
  header.e_shoff = sizeof(header);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  Elf64_Shdr sections[3] = {};
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_PROGBITS;
  sections[1].sh_offset = sizeof(header) + sizeof(sections);
  sections[1].sh_size = content.size();
  sections[2].sh_name = static_cast<Elf64_Word>(name.size() + 2);
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = sections[1].sh_offset + content.size();
  sections[2].sh_size = names.size();
  std::string file(sizeof(header) + sizeof(sections), '\0');
  std::memcpy(file.data(), &header, sizeof(header));
  std::memcpy(file.data() + sizeof(header), sections, sizeof(sections));
  return file + content + names;
}

}  // namespace lanewise
