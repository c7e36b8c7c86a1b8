// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// CLI11's command for headers that only name it: reading CLI11 costs a source more than all the
// rest, so only those that add options read it.
namespace CLI {
class App;
}
