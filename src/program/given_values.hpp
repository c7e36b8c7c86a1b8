// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What CLI11 takes without a word though nobody means it: an empty value, an empty item of a list.
#include <span>

#include "program/app.hpp"

namespace lanewise::program {

// `command` has been parsed from `arguments`. Throws Error that names the option.
void refuse_empty_values(const CLI::App& command, std::span<const char* const> arguments);

}  // namespace lanewise::program
