// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <fcntl.h>
#include <hwloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "topology_readers.hpp"

namespace {

// The root folder for the discovery that this thread runs now; null for "/".
constinit thread_local const char* discovery_root = nullptr;

}  // namespace

#ifdef LANEWISE_HWLOC_HAS_HOOK
namespace {

// hwloc reads these for every processor, 20 files each, and its filters throw them away afterwards.
constexpr std::array<std::string_view, 3> unread_files = {"/cache/index", "/cpufreq/",
                                                          "/cpu_capacity"};
// Of /proc/cpuinfo, a block a processor, only the first one's is of use; a few fit in here.
constexpr std::string_view processors_file = "proc/cpuinfo";
constexpr std::size_t first_processors_bytes = 8192;

bool is_unread(std::string_view path) noexcept {
  return std::any_of(unread_files.begin(), unread_files.end(), [&](std::string_view part) {
    return path.find(part) != std::string_view::npos;
  });
}

// A file of whole blocks from the beginning of this one; nullopt where it has none.
std::optional<int> open_first_blocks(int file) noexcept {
  std::array<char, first_processors_bytes> buffer{};
  std::size_t length = 0;
  while (length < buffer.size()) {
    const auto count = ::read(file, buffer.data() + length, buffer.size() - length);
    if (count <= 0) break;
    length += static_cast<std::size_t>(count);
  }
  constexpr std::string_view block_end = "\n\n";
  const auto end = std::string_view(buffer.data(), length).rfind(block_end);
  if (end == std::string_view::npos) return std::nullopt;
  length = end + block_end.size();
  const int copy = ::memfd_create("cpuinfo", MFD_CLOEXEC);
  if (copy < 0) return std::nullopt;
  if (::pwrite(copy, buffer.data(), length, 0) == static_cast<ssize_t>(length)) return copy;
  ::close(copy);
  return std::nullopt;
}

}  // namespace

// scripts/deps.sh builds hwloc with getenv renamed to this. A user's HWLOC_ variable would make one
// rank see another machine than its peers, and hwloc's own way of silencing it is a variable too.
extern "C" char* lanewise_hwloc_getenv(const char* name) {
  static std::array<char, 2> hide_all = {'2', '\0'};
  const std::string_view wanted = name;
  if (wanted == "HWLOC_HIDE_ERRORS") return hide_all.data();
  if (wanted == "HWLOC_FSROOT") return const_cast<char*>(discovery_root);
  return nullptr;
}

// Its openat, too: only ever called to read.
extern "C" int lanewise_hwloc_openat(int folder, const char* path, int flags, ...) {
  if (is_unread(path)) {
    errno = ENOENT;
    return -1;
  }
  const int file = ::openat(folder, path, flags | O_CLOEXEC);
  if (file < 0 || !std::string_view(path).ends_with(processors_file)) return file;
  const auto blocks = open_first_blocks(file);
  if (!blocks) {
    ::lseek(file, 0, SEEK_SET);
    return file;
  }
  ::close(file);
  return *blocks;
}
#endif

namespace lanewise::host {

namespace {

// hwloc locks its list of components for a moment when a topology is made and when it is destroyed.
// A child that is forked in such a moment would wait for ever: it says so and reads no machine.
constinit std::atomic<pid_t> process_inside{0};

class InsideHwloc {
 public:
  InsideHwloc() {
    const pid_t other = process_inside.exchange(::getpid());
    if (other != 0 && other != ::getpid()) {
      process_inside = other;
      throw Error("hwloc: forked while it started: the machine is not read");
    }
  }
  ~InsideHwloc() { process_inside = 0; }
  InsideHwloc(const InsideHwloc&) = delete;
  InsideHwloc& operator=(const InsideHwloc&) = delete;
};

struct TopologyCloser {
  void operator()(hwloc_topology* topology) const noexcept {
    process_inside = ::getpid();
    hwloc_topology_destroy(topology);
    process_inside = 0;
  }
};
using TopologyHandle = std::unique_ptr<hwloc_topology, TopologyCloser>;

class RootScope {
 public:
  explicit RootScope(const char* root) { discovery_root = root; }
  ~RootScope() { discovery_root = nullptr; }
  RootScope(const RootScope&) = delete;
  RootScope& operator=(const RootScope&) = delete;
};

// GPU libraries must not be started by a look at the machine (a later fork would break CUDA), the
// x86 backend binds to every processor in turn, and pciaccess needs a library of its own.
constexpr std::array unwanted_components = {"cuda",      "nvml", "opencl", "gl",
                                            "levelzero", "rsmi", "x86",    "pci"};

void check(int result, const char* action) {
  if (result < 0) throw Error(std::string("hwloc: ") + action + ": " + std::strerror(errno));
}

TopologyHandle load(const std::filesystem::path& root) {
  const bool is_this_machine = root == "/";
  const RootScope scope(is_this_machine ? nullptr : root.c_str());
  hwloc_topology_t raw = nullptr;
  {
    const InsideHwloc inside;
    check(hwloc_topology_init(&raw), "init");
  }
  TopologyHandle topology(raw);
  for (const char* component : unwanted_components) {
    // Fails where this hwloc was built without the component, which is as good.
    (void)hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  }
  // Groups hold NUMA nodes smaller than a package.
  check(hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE), "filter");
  check(hwloc_topology_set_type_filter(raw, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_STRUCTURE),
        "filter groups");
  check(hwloc_topology_set_type_filter(raw, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL),
        "filter packages");
  check(hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED), "flags");
  check(hwloc_topology_load(raw), "load");
  return topology;
}

int number_of(const char* text) {
  int number = 0;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), number);
  return number;
}

std::optional<int> package_of(hwloc_obj_t object) {
  while (object != nullptr && object->type != HWLOC_OBJ_PACKAGE) object = object->parent;
  if (object == nullptr || object->os_index == HWLOC_UNKNOWN_INDEX) return std::nullopt;
  return static_cast<int>(object->os_index);
}

std::vector<bool> members_of(hwloc_const_bitmap_t set) {
  const int last = hwloc_bitmap_last(set);
  std::vector<bool> members(last < 0 ? 0 : static_cast<std::size_t>(last) + 1);
  for (int cpu = hwloc_bitmap_first(set); cpu >= 0 && cpu <= last;
       cpu = hwloc_bitmap_next(set, cpu))
    members[static_cast<std::size_t>(cpu)] = true;
  return members;
}

}  // namespace

Processors read_processors(const std::filesystem::path& root) {
#ifndef LANEWISE_HWLOC_HAS_HOOK
  if (root != "/") throw Error("another root than / needs the hwloc that scripts/deps.sh builds");
#endif
  const auto topology = load(root);
  Processors processors;
  hwloc_obj_t node = nullptr;
  std::map<int, std::vector<bool>> cpus;
  while ((node = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    const int number = static_cast<int>(node->os_index);
    processors.numa_nodes.push_back({.number = number, .socket = package_of(node)});
    cpus.emplace(number, members_of(node->cpuset));
  }
  std::ranges::sort(processors.numa_nodes, {}, &NumaNode::number);
  for (auto& [number, members] : cpus) processors.cpus_of_node.push_back(std::move(members));
  auto* place = hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_PACKAGE, 0);
  if (place == nullptr) place = hwloc_get_root_obj(topology.get());
  const char* vendor = hwloc_obj_get_info_by_name(place, "CPUVendor");
  if (vendor != nullptr) processors.vendor = vendor;
  processors.family = number_of(hwloc_obj_get_info_by_name(place, "CPUFamilyNumber"));
  processors.model = number_of(hwloc_obj_get_info_by_name(place, "CPUModelNumber"));
  return processors;
}

}  // namespace lanewise::host
