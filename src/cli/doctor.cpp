// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/doctor/doctor.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "commands.hpp"
#include "core/error.hpp"
#include "doctor_picture.hpp"
#include "doctor_report.hpp"
#include "host/files/text_file.hpp"

namespace lanewise::cli {
namespace {

struct DoctorOptions {
  std::string root = "/";
  std::string hazards;
  std::string nccl;
  std::string svg;
  std::string links;
  bool measures_links = false;
  int pid = 0;
  bool wants_json = false;
  bool is_strict = false;
  bool wants_list = false;
};

// All of them: the loader's and CUDA's matter too.
Environment read_whole_environment() {
  Environment variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string_view::npos && equals > 0)
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

host::DoctorRequest request_of(const DoctorOptions& options) {
  host::DoctorRequest request{.root = options.root, .hazards = options.hazards};
  if (options.measures_links && options.root != "/")
    throw Error("--measure: expected without --root: it measures this machine");
  request.links = options.links;
  request.measures_links = options.measures_links;
  if (options.pid > 0) request.pid = options.pid;
  // This shell's variables say nothing of another machine.
  if (options.root == "/" && !request.pid) request.own = read_whole_environment();
  if (options.nccl.empty()) return request;
  request.nccl = parse_nccl_release(options.nccl);
  if (!request.nccl) throw Error("--nccl " + options.nccl + ": expected a release such as 2.28.9");
  return request;
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void show(const DoctorOptions& options) {
  if (options.wants_list) return print(findings_page(host::check_descriptions()));
  const auto examination = host::examine(request_of(options));
  const int status = exit_status_of(examination.report,
                                    options.is_strict ? Strictness::strict : Strictness::lenient);
  if (!options.svg.empty())
    host::write_text_file(options.svg,
                          picture_to_svg(make_picture(examination.topology, examination.report)));
  print(options.wants_json ? doctor_to_json(examination, status) : doctor_to_text(examination));
  if (status != 0) throw Exit{status};
}

}  // namespace

void add_doctor(CLI::App& app) {
  const auto options = std::make_shared<DoctorOptions>();
  auto* command = app.add_subcommand(
      "doctor",
      "Find what makes all-reduces slow or break here; ends with 0 clean, 1 slow, 2 broken");
  command->add_option("--pid", options->pid, "Examine this server's process: one of its ranks")
      ->check(CLI::PositiveNumber);
  command->add_option("--root", options->root,
                      "A folder that holds another machine's sys, proc and etc");
  command->add_option("--nccl", options->nccl,
                      "The release to judge by, not the one that is found");
  command->add_option("--hazards", options->hazards,
                      "A file of more faults of NCCL, in the form of hazards.json");
  auto* links = command->add_option("--links", options->links,
                                    "Judge the links by this result of lanewise-bench links");
  command
      ->add_flag("--measure", options->measures_links,
                 "Measure the links with lanewise-bench, up to two minutes: does peer access work?")
      ->excludes(links);
  command->add_option("--svg", options->svg, "Write the tree with the findings on it, a picture");
  command->add_flag("--strict", options->is_strict, "What could not be read counts as slow");
  command->add_flag("--json", options->wants_json, "Write JSON");
  command->add_flag("--list", options->wants_list, "List all findings that there are, as Markdown");
  command->callback([options] { show(*options); });
}

}  // namespace lanewise::cli
