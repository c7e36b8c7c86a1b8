// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/files/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "core/error.hpp"

namespace lanewise::host {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& action, int code) {
  throw Error(path.string(), 0, action + ": " + std::generic_category().message(code));
}

class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] bool is_open() const noexcept { return number_ >= 0; }

 private:
  int number_;
};

// Removes the temporary file unless it became the real one.
class Temporary {
 public:
  explicit Temporary(fs::path path) : path_(std::move(path)) {}
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  [[nodiscard]] const fs::path& path() const noexcept { return path_; }
  void keep() noexcept { path_.clear(); }

 private:
  fs::path path_;
};

// A missing file is its own target; a link to one is followed.
fs::path resolve(const fs::path& path) {
  std::error_code error;
  auto resolved = fs::weakly_canonical(path, error);
  if (error) fail(path, "cannot resolve", error.value());
  struct stat status {};
  if (::stat(resolved.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    throw Error(path.string(), 0, "expected a regular file to replace");
  return resolved;
}

void write_all(int descriptor, std::string_view content, const fs::path& path) {
  while (!content.empty()) {
    const auto written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path, "cannot write", errno);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string read_all(int descriptor, std::size_t limit, const fs::path& path) {
  std::string content;
  std::string buffer(std::size_t{64} << 10U, '\0');
  while (true) {
    const auto count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path, "cannot read", errno);
    if (count == 0) return content;
    content.append(buffer, 0, static_cast<std::size_t>(count));
    if (content.size() > limit)
      throw Error(path.string(), 0, "expected at most " + std::to_string(limit) + " bytes");
  }
}

// Read-only mounts have such folders, too: Kubernetes makes them for configuration.
bool is_open_to_everyone(const fs::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return false;
  if ((status.st_mode & S_IWOTH) == 0 || (status.st_mode & S_ISVTX) != 0) return false;
  struct statvfs mount {};
  return ::statvfs(folder.c_str(), &mount) != 0 || (mount.f_flag & ST_RDONLY) == 0;
}

}  // namespace

void require_guarded_folder(const fs::path& path) {
  std::error_code error;
  const fs::path named = fs::absolute(path, error).parent_path();
  const fs::path real = fs::weakly_canonical(path, error).parent_path();
  for (const fs::path& folder : {named, real}) {
    if (is_open_to_everyone(folder))
      throw Error(path.string(), 0,
                  "expected a folder where not everyone may replace it (chmod o-w " +
                      folder.string() + ")");
  }
}

namespace {

enum class FileTrust : std::uint8_t { guarded, anyones };

std::string read_file(const fs::path& path, std::size_t limit, FileTrust trust) {
  // NOLINTNEXTLINE(*-vararg): open has no other form.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.is_open()) fail(path, "cannot open", errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail(path, "cannot inspect", errno);
  if (!S_ISREG(status.st_mode)) throw Error(path.string(), 0, "expected a regular file");
  if (trust == FileTrust::guarded && (status.st_mode & S_IWOTH) != 0)
    throw Error(path.string(), 0, "expected a file that not everyone may write (chmod o-w)");
  return read_all(file.get(), limit, path);
}

}  // namespace

std::string read_text_file(const fs::path& path, std::size_t limit) {
  return read_file(path, limit, FileTrust::guarded);
}

std::string view_text_file(const fs::path& path, std::size_t limit) {
  return read_file(path, limit, FileTrust::anyones);
}

void write_text_file(const fs::path& path, std::string_view content) {
  const fs::path target = resolve(path);
  const fs::path folder = target.parent_path();
  Temporary temporary(target.string() + '.' + std::to_string(::getpid()) + ".tmp");
  ::unlink(temporary.path().c_str());  // left by a process of the same number that was killed
  {
    // NOLINTNEXTLINE(*-vararg): open has no other form.
    const Descriptor file(::open(temporary.path().c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!file.is_open()) fail(path, "cannot create a file beside it", errno);
    write_all(file.get(), content, path);
    if (::fsync(file.get()) != 0) fail(path, "cannot write", errno);
  }
  if (::rename(temporary.path().c_str(), target.c_str()) != 0) fail(path, "cannot replace", errno);
  temporary.keep();
  // The name is durable only with its folder; not all file systems can do this, none needs it.
  // NOLINTNEXTLINE(*-vararg): open has no other form.
  const Descriptor names(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (names.is_open()) (void)::fsync(names.get());
}

}  // namespace lanewise::host
