// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The checks of the doctor, one a file. A new one is named here and in checks.cpp.
#include "doctor/check.hpp"

namespace lanewise::host {

extern const Check acs_check;
extern const Check aer_check;
extern const Check measured_links_check;
extern const Check driver_check;
extern const Check filter_check;
extern const Check graph_file_check;
extern const Check hazard_check;
extern const Check iommu_check;
extern const Check link_check;
extern const Check machine_check;
extern const Check memory_check;
extern const Check nccl_check;
extern const Check numa_check;
extern const Check peer_check;
extern const Check power_check;
extern const Check profile_check;
extern const Check topology_check;
extern const Check tuner_check;
extern const Check variable_check;

}  // namespace lanewise::host
