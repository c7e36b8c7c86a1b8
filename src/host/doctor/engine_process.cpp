// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/doctor/engine_process.hpp"

#include "core/error.hpp"
#include "doctor/process_view.hpp"
#include "files/split_text.hpp"

namespace lanewise::host {

EngineProcess read_engine_process(int pid) {
  const MachineFiles files("/");
  const auto folder = "/proc/" + std::to_string(pid);
  const auto line = files.read(folder + "/cmdline");
  const auto own = files.read(folder + "/environ");
  if (line.state == ReadState::missing)
    throw Error("--pid " + std::to_string(pid) + ": expected a running process");
  if (!line.is_read() || !own.is_read())
    throw Error(folder + "/environ: " + std::string(name_of(own.state)) +
                "; expected rights to read it (sudo)");
  EngineProcess process{.words = {}, .variables = parse_environ(own.text)};
  for (const auto word : split_text(line.text, '\0')) {
    if (!word.empty()) process.words.emplace_back(word);
  }
  return process;
}

}  // namespace lanewise::host
