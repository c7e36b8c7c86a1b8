// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "command_line.hpp"

#include <fstream>

namespace lanewise::bench {

std::string command_line() {
  std::ifstream file("/proc/self/cmdline");
  std::string text;
  // Arguments end in NUL; the program's folder is nobody's business.
  for (std::string argument; std::getline(file, argument, '\0');) {
    if (text.empty()) {
      text = argument.substr(argument.rfind('/') + 1);
    } else {
      text += " " + argument;
    }
  }
  return text;
}

}  // namespace lanewise::bench
