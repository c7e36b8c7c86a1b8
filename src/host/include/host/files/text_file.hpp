// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Small text files that a setting or a user names: read with distrust, written whole or not at all.
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace lanewise::host {

// A profile of 64 environments with 100 rules each is under 2 MiB.
inline constexpr std::size_t largest_text_file_bytes = std::size_t{4} << 20U;

// The whole content. Throws Error with the path: missing, unreadable, not a regular file (never
// blocks on a FIFO), writable by everyone, or above `limit` bytes.
[[nodiscard]] std::string read_text_file(const std::filesystem::path& path,
                                         std::size_t limit = largest_text_file_bytes);

// The same for what only shows a file and decides nothing, and of a file that NCCL reads in any
// case: everyone may have written it.
[[nodiscard]] std::string view_text_file(const std::filesystem::path& path,
                                         std::size_t limit = largest_text_file_bytes);

// Throws Error with the path where everyone may put another file in its place: a folder that all
// may write, without the sticky bit and not mounted read-only; of a symbolic link and of its
// target.
void require_guarded_folder(const std::filesystem::path& path);

// Replaces `path` in one step, mode 0644 less the umask: a reader sees the old or the new content,
// also after a crash. Throws Error with the path; then the old file is untouched and no temporary
// file is left. Symbolic links are followed.
void write_text_file(const std::filesystem::path& path, std::string_view content);

}  // namespace lanewise::host
