// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A small file of this user in shared memory, mapped. It gets its name when its content is
// complete. Private to the agreement and the live counters.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace lanewise::host {

// Identifies a file for as long as somebody has it open or linked.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

// `damaged`: this user's own file, but not of the expected size.
enum class FileAnswer : std::uint8_t { done, missing, exists, damaged, refused };

class SharedFile {
 public:
  SharedFile(std::string path, std::size_t size_bytes);
  ~SharedFile() { release(); }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  // Maps the file of this name. Refuses symbolic links, other users' files, files that others can
  // reach, and everything that is not a regular file; never blocks.
  [[nodiscard]] FileAnswer open() noexcept;
  // Maps a new file full of zeros, without its name yet. Its space is reserved: a full file system
  // is refused here and is no bus error later.
  [[nodiscard]] FileAnswer create() noexcept;
  // Gives a created file its name: done, exists or refused. It never takes another's place.
  [[nodiscard]] FileAnswer publish() noexcept;
  // Unmaps; identity() and note() stay.
  void release() noexcept;
  // Whether the name still means this file.
  [[nodiscard]] bool has_its_name() const noexcept;

  [[nodiscard]] void* memory() const noexcept { return memory_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::optional<FileIdentity>& identity() const noexcept { return identity_; }
  void refuse(const char* action, int error) noexcept;
  // The path, what was tried and why it was refused; empty where nothing was.
  [[nodiscard]] std::string note() const;

 private:
  [[nodiscard]] FileAnswer check() noexcept;
  [[nodiscard]] FileAnswer map() noexcept;
  [[nodiscard]] int open_private() noexcept;
  void drop_private() noexcept;

  const std::string path_;
  const std::size_t size_bytes_;
  std::string private_path_;  // space is reserved up front: naming never allocates
  bool has_private_ = false;
  int file_ = -1;
  void* memory_ = nullptr;
  std::optional<FileIdentity> identity_;
  const char* refused_action_ = nullptr;
  int refused_error_ = 0;
};

// Unlinks `path` if it still is `file`. Every process that frees a name does it under a lock on
// that very file, so the name of a newer one is never freed in its place.
void remove_shared_file(const std::string& path, const FileIdentity& file) noexcept;

}  // namespace lanewise::host
