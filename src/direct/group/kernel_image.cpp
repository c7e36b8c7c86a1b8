// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "group/kernel_image.hpp"

// An assembler reads a file of any size into the library; a compiler would take minutes.
asm(".pushsection .rodata,\"a\",@progbits\n"
    ".balign 64\n"
    ".hidden lanewise_direct_kernel_image\n"
    ".global lanewise_direct_kernel_image\n"
    "lanewise_direct_kernel_image:\n"
    ".incbin \"" LANEWISE_KERNEL_IMAGE
    "\"\n"
    ".byte 0\n"
    ".popsection\n");

extern "C" const char lanewise_direct_kernel_image[] __attribute__((visibility("hidden")));

namespace lanewise::direct {

const void* kernel_image() noexcept { return lanewise_direct_kernel_image; }

}  // namespace lanewise::direct
