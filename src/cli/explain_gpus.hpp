// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#pragma once

// Which GPUs the ranks of `lanewise explain` take, and what is said about it.
#include <string>
#include <vector>

#include "explain_scene.hpp"

namespace lanewise::cli {

// Sets the ranks of `scene.here`, `scene.used`, `scene.gpus` and `scene.gpu_remarks`. Throws Error
// for options that contradict each other or the machine.
void choose_gpus(ExplainScene& scene, const ExplainOptions& options);

// What other groups of as many GPUs would get, by the same estimate; empty where there are none.
[[nodiscard]] std::string describe_other_groups(const ExplainScene& scene);

}  // namespace lanewise::cli
