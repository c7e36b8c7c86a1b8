// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The compiled kernels inside this library: machine code of the GPUs that people use, and PTX for
// those that come later. In a build without a CUDA compiler they are a text that no driver loads.
namespace lanewise::direct {

[[nodiscard]] const void* kernel_image() noexcept;

}  // namespace lanewise::direct
