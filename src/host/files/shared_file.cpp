// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "shared_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <system_error>
#include <utility>

namespace lanewise::host {
namespace {

constexpr mode_t private_to_user = 0600;
constexpr mode_t others_bits = 077;
constexpr int shared_flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
// A private name is taken only where another pid namespace shares the folder.
constexpr int private_name_attempts = 16;
constexpr std::size_t private_suffix_space = 64;

bool is_same(const struct stat& status, const FileIdentity& file) noexcept {
  return FileIdentity{status.st_dev, status.st_ino} == file;
}

// Another process holds it for microseconds; a stopped one must not stop us.
bool lock(int file) noexcept {
  constexpr int attempts = 100;
  constexpr timespec pause{0, 200'000};
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (flock(file, LOCK_EX | LOCK_NB) == 0) return true;
    nanosleep(&pause, nullptr);
  }
  return false;
}

}  // namespace

SharedFile::SharedFile(std::string path, std::size_t size_bytes)
    : path_(std::move(path)), size_bytes_(size_bytes) {
  private_path_.reserve(path_.size() + private_suffix_space);
}

void SharedFile::release() noexcept {
  drop_private();
  if (memory_ != nullptr) munmap(memory_, size_bytes_);
  if (file_ >= 0) close(file_);
  memory_ = nullptr;
  file_ = -1;
}

bool SharedFile::has_its_name() const noexcept {
  struct stat named {};
  return identity_ && lstat(path_.c_str(), &named) == 0 && is_same(named, *identity_);
}

void SharedFile::drop_private() noexcept {
  if (has_private_) unlink(private_path_.c_str());
  has_private_ = false;
}

void SharedFile::refuse(const char* action, int error) noexcept {
  refused_action_ = action;
  refused_error_ = error;
}

std::string SharedFile::note() const {
  if (refused_action_ == nullptr) return {};
  return path_ + ": " + refused_action_ + ": " + std::generic_category().message(refused_error_);
}

FileAnswer SharedFile::map() noexcept {
  void* memory = mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (memory == MAP_FAILED) {
    refuse("mapping it", errno);
    return FileAnswer::refused;
  }
  memory_ = memory;
  // The mapping keeps the file; a process of many communicators is short of descriptors.
  close(file_);
  file_ = -1;
  return FileAnswer::done;
}

FileAnswer SharedFile::check() noexcept {
  struct stat status {};
  if (fstat(file_, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
      (status.st_mode & others_bits) != 0) {
    refuse("it must be this user's own file of mode 0600", EPERM);
    return FileAnswer::refused;
  }
  identity_ = FileIdentity{status.st_dev, status.st_ino};
  return static_cast<std::size_t>(status.st_size) == size_bytes_ ? FileAnswer::done
                                                                 : FileAnswer::damaged;
}

FileAnswer SharedFile::open() noexcept {
  release();
  file_ = ::open(path_.c_str(), O_RDWR | shared_flags);
  if (file_ < 0) {
    if (errno == ENOENT) return FileAnswer::missing;
    refuse("opening it", errno);
    return FileAnswer::refused;
  }
  const auto answer = check();
  return answer == FileAnswer::done ? map() : answer;
}

int SharedFile::open_private() noexcept {
  for (int attempt = 0; attempt < private_name_attempts; ++attempt) {
    std::array<char, private_suffix_space> suffix{};
    std::snprintf(suffix.data(), suffix.size(), ".%d.%ld.%d", getpid(), syscall(SYS_gettid),
                  attempt);
    private_path_.assign(path_).append(suffix.data());
    const int file =
        ::open(private_path_.c_str(), O_RDWR | O_CREAT | O_EXCL | shared_flags, private_to_user);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

FileAnswer SharedFile::create() noexcept {
  release();
  file_ = open_private();
  if (file_ < 0) {
    refuse("creating it", errno);
    return FileAnswer::refused;
  }
  has_private_ = true;
  // A umask may have taken the owner's own bits away.
  if (fchmod(file_, private_to_user) != 0) {
    refuse("creating it", errno);
    return FileAnswer::refused;
  }
  if (const int error = posix_fallocate(file_, 0, static_cast<off_t>(size_bytes_)); error != 0) {
    refuse("reserving its space", error);
    return FileAnswer::refused;
  }
  return check() == FileAnswer::done ? map() : FileAnswer::refused;
}

FileAnswer SharedFile::publish() noexcept {
  const int result = link(private_path_.c_str(), path_.c_str());
  const int error = errno;
  drop_private();
  if (result == 0) return FileAnswer::done;
  if (error == EEXIST) return FileAnswer::exists;
  refuse("giving it its name", error);
  return FileAnswer::refused;
}

void remove_shared_file(const std::string& path, const FileIdentity& file) noexcept {
  const int opened = open(path.c_str(), O_RDONLY | shared_flags);
  if (opened < 0) return;
  struct stat status {};
  if (fstat(opened, &status) == 0 && is_same(status, file) && lock(opened)) {
    struct stat named {};
    if (lstat(path.c_str(), &named) == 0 && is_same(named, file)) unlink(path.c_str());
    flock(opened, LOCK_UN);
  }
  close(opened);
}

}  // namespace lanewise::host
