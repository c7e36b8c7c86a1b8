// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>

#include "core/doctor/variable_verdict.hpp"
#include "doctor/checks.hpp"

namespace lanewise::host {
namespace {

constexpr std::string_view unset = "{remove}";
constexpr std::string_view set_again = "{restore}";

constexpr FindingKind unknown_word = {
    .name = "filter-unknown-word",
    .severity = Severity::broken,
    .title = "{name}={value}: NCCL does not know {word}",
    .why =
        "Since 2.24 a word that NCCL does not know ends every communicator with an error; "
        "before, the word is passed over.",
    .fix = unset,
    .undo = set_again};

constexpr FindingKind no_ring = {
    .name = "filter-without-ring",
    .severity = Severity::broken,
    .title = "NCCL_ALGO={value} leaves all-gather and others without an algorithm",
    .why =
        "Since 2.24 the list counts for all collectives, and those that Ring alone serves fail "
        "with 'no algorithm/protocol available': servers gather logits so.",
    .fix = "export NCCL_ALGO='allreduce:{value}'",
    .undo = set_again};

constexpr FindingKind too_new = {
    .name = "filter-too-new",
    .severity = Severity::slow,
    .title =
        "{name}={value}: lists by collective are known from NCCL 2.24 on, here it is {release}",
    .why = "The release takes the text for names that it does not know and passes over them.",
    .fix = unset,
    .undo = set_again};

constexpr FindingKind turned_on = {
    .name = "filter-turns-ll128-on",
    .severity = Severity::slow,
    .title = "NCCL_PROTO={value} switches LL128 on for PCI Express",
    .why =
        "A list with ^ sets every protocol that it does not name to on, past the check that "
        "keeps LL128 off PCI Express: stores of 128 bytes may be split there and sums be wrong.",
    .fix = "export NCCL_PROTO={value},LL128",
    .undo = set_again};

constexpr FindingKind named = {
    .name = "filter-names-ll128",
    .severity = Severity::note,
    .title = "NCCL_PROTO={value} switches LL128 on",
    .why =
        "It wins from 512 KiB to 2 MiB on some machines; over PCI Express NVIDIA calls it "
        "unsafe. Lanewise chooses it only where a profile was soak-tested with it.",
    .fix = unset,
    .undo = set_again};

constexpr FindingKind set = {
    .name = "filter-set",
    .severity = Severity::note,
    .title = "{name}={value}: your choice wins",
    .why =
        "A fixed algorithm or protocol is right for some sizes and wrong for others; only the "
        "channels are left to Lanewise.",
    .fix = "{remove}    # and compare: lanewise-bench compare",
    .undo = set_again};

constexpr std::array kinds = {unknown_word, no_ring, too_new, turned_on, named, set};

constexpr NcclRelease assumed_release{2, 30, 7};

void judge(const Inspection& inspection, const Variable& variable, FilterKind filter,
           Report& report) {
  const auto release = inspection.nccl.value_or(assumed_release);
  const auto verdict = judge_filter(variable.value, filter, release);
  Places places = places_of(variable);
  places.emplace("word", verdict.unknown_word);
  places.emplace("release", to_string(release));
  const bool has_nvlink = inspection.topology.has_nvlink();
  const bool turns_on = filter == FilterKind::protocol && verdict.is_negated &&
                        variable.value.find("128") == std::string::npos;
  const FindingKind& kind = verdict.needs_newer                  ? too_new
                            : !verdict.unknown_word.empty()      ? unknown_word
                            : verdict.lacks_ring                 ? no_ring
                            : turns_on && !has_nvlink            ? turned_on
                            : verdict.names_ll128 && !has_nvlink ? named
                                                                 : set;
  report.findings.push_back(make_finding(kind, places, {observe(variable)}));
}

void run(const Inspection& inspection, Report& report) {
  const auto* algorithm = inspection.find_variable("NCCL_ALGO");
  if (algorithm != nullptr) judge(inspection, *algorithm, FilterKind::algorithm, report);
  const auto* protocol = inspection.find_variable("NCCL_PROTO");
  if (protocol != nullptr) judge(inspection, *protocol, FilterKind::protocol, report);
}

}  // namespace

const Check filter_check = {"algorithm and protocol filters", kinds, run};

}  // namespace lanewise::host
