// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// Replaced by the first real host source.
namespace lanewise::host {}
