// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The kernels of kernels.cu, which this library carries, loaded into a context. Private to the
// group.
#include <array>

#include "direct/forms.hpp"
#include "group/driver.hpp"

namespace lanewise::direct {

using KernelFunctions = std::array<std::array<DriverFunction, element_count>, form_count>;

// Loaded once a context and never unloaded: unloading may wait for whatever runs there. Throws
// Error.
[[nodiscard]] const KernelFunctions& load_kernels(const Driver& driver, DriverContext context);

}  // namespace lanewise::direct
