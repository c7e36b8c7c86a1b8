// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What `lanewise doctor` prints: for people, for programs, and the page of all findings.
#include <string>
#include <vector>

#include "host/doctor/doctor.hpp"

namespace lanewise::cli {

[[nodiscard]] std::string doctor_to_text(const host::Examination& examination);

// One object: schema_version, status, machine, gpus, nccl and findings, the costliest first.
[[nodiscard]] std::string doctor_to_json(const host::Examination& examination, int status);

// src/host/doctor/FINDINGS.md.
[[nodiscard]] std::string findings_page(const std::vector<host::CheckDescription>& checks);

}  // namespace lanewise::cli
