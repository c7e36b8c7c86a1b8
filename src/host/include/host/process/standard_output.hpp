// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A program's standard output as something that can fail: a full disk, a closed descriptor, a
// reader that has gone.
namespace lanewise::host {

// Before anything is opened: a standard descriptor that is closed would be taken by the first file,
// and what is printed would go into it. Children see it as closed as before.
void hold_standard_descriptors() noexcept;

// Writes out what is printed so far. Throws Error where it did not all arrive; where the reader of
// a pipe has gone, which is no news to it, Exit with the status that a shell shows for SIGPIPE.
void flush_standard_output();

}  // namespace lanewise::host
