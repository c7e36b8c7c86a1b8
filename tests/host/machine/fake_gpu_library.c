// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// Stands for libcuda, libnvidia-ml and their like: whoever loads it is found out at once.
#include <stdlib.h>

__attribute__((constructor)) static void refuse(void) { abort(); }
