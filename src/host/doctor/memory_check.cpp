// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <sys/statvfs.h>

#include <array>
#include <optional>

#include "doctor/checks.hpp"
#include "files/split_text.hpp"

namespace lanewise::host {
namespace {

// One connection over host memory at NCCL's default buffers: LL 512 KiB, LL128 4800 KiB, Simple
// 4 MiB and a page. NCCL names it when it fails: "/dev/shm/nccl-... (size 9637888)".
constexpr long long connection_bytes = 9'637'888;
constexpr long long fewest_channels = 2;
constexpr long long mebibyte = 1 << 20;

constexpr FindingKind small = {
    .name = "shm-small",
    .severity = Severity::broken,
    .title = "/dev/shm holds {size} MiB; {count} GPUs over host memory need {need} MiB or more",
    .why =
        "Ranks without peer access exchange data there. When it is full, the first all-reduce "
        "fails with 'Error while creating shared memory segment'. 64 MiB is Docker's default.",
    .fix =
        "docker run --shm-size=1g ... (or --ipc=host); Kubernetes: an emptyDir of medium Memory "
        "at /dev/shm; a host: sudo mount -o remount,size=8g /dev/shm",
    .undo = "start it without the option"};

constexpr FindingKind full = {
    .name = "shm-full",
    .severity = Severity::broken,
    .title = "/dev/shm has {size} MiB left; {count} GPUs over host memory need {need} MiB or more",
    .why =
        "Ranks without peer access exchange data there; left-over segments of killed jobs stay "
        "until someone removes them.",
    .fix = "ls -l /dev/shm    # then remove nccl-* files of jobs that have ended",
    .undo = ""};

constexpr FindingKind missing = {
    .name = "shm-missing",
    .severity = Severity::broken,
    .title = "There is no /dev/shm",
    .why =
        "NCCL cannot move data through host memory, and Lanewise's ranks cannot agree: the "
        "plugin stands aside.",
    .fix = "sudo mkdir -p /dev/shm && sudo mount -t tmpfs -o size=8g tmpfs /dev/shm",
    .undo = "sudo umount /dev/shm"};

constexpr FindingKind read_only = {
    .name = "shm-read-only",
    .severity = Severity::broken,
    .title = "/dev/shm is mounted read-only",
    .why =
        "NCCL cannot move data through host memory, and Lanewise's ranks cannot agree: the "
        "plugin stands aside.",
    .fix = "sudo mount -o remount,rw /dev/shm; in Docker: --tmpfs /dev/shm:size=1g",
    .undo = "sudo mount -o remount,ro /dev/shm"};

constexpr FindingKind locked = {
    .name = "memlock-small",
    .severity = Severity::note,
    .title = "Only {size} KiB of memory may be locked, and there is an InfiniBand or RoCE adapter",
    .why =
        "NCCL registers buffers with the adapter where it uses one; it then fails with 'Call to "
        "ibv_reg_mr failed'. On one machine without such traffic it does not matter.",
    .fix = "ulimit -l unlimited; Docker: --ulimit memlock=-1; systemd: LimitMEMLOCK=infinity",
    .undo = "start it without the option"};

constexpr std::array kinds = {small, full, missing, read_only, locked};

std::string process_folder(const Inspection& inspection) {
  return "/proc/" + (inspection.request.pid ? std::to_string(*inspection.request.pid) : "self");
}

struct Mount {
  std::string options;
  std::optional<long long> size_bytes;
};

// "size=65536k" of a tmpfs; also in m, g or percent, which says nothing without the memory's size.
std::optional<long long> size_of(std::string_view option) {
  if (!option.starts_with("size=")) return std::nullopt;
  option.remove_prefix(5);
  int shift = 0;
  if (option.ends_with('k')) shift = 10;
  if (option.ends_with('m')) shift = 20;
  if (option.ends_with('g')) shift = 30;
  if (shift > 0) option.remove_suffix(1);
  const auto number = parse_whole(option);
  return number ? std::optional(*number << shift) : std::nullopt;
}

// The last mount there is the one in force.
std::optional<Mount> find_mount(const Inspection& inspection) {
  std::optional<Mount> mount;
  const auto text = inspection.files.read(process_folder(inspection) + "/mounts").text;
  for (const auto line : split_text(text, '\n')) {
    const auto fields = split_text(line, ' ');
    if (fields.size() < 4 || fields[1] != "/dev/shm") continue;
    mount = Mount{.options = std::string(fields[3]), .size_bytes = std::nullopt};
    for (const auto option : split_text(fields[3], ',')) {
      if (const auto size = size_of(option)) mount->size_bytes = size;
    }
  }
  return mount;
}

// Of the file system that the examined process sees; a recorded machine has none.
std::optional<Space> measure(const Inspection& inspection) {
  if (inspection.request.shm || inspection.request.root != "/") return inspection.request.shm;
  struct statvfs status {};
  if (::statvfs(inspection.process_files.at("/dev/shm").c_str(), &status) != 0) return std::nullopt;
  const auto block = static_cast<long long>(status.f_frsize);
  return Space{.total = static_cast<long long>(status.f_blocks) * block,
               .free = static_cast<long long>(status.f_bavail) * block};
}

void judge_space(const Inspection& inspection, const Mount& mount, Report& report) {
  const auto count = static_cast<long long>(inspection.topology.gpus.size());
  const auto need = count * fewest_channels * connection_bytes;
  const auto space = measure(inspection);
  const auto total = space ? std::optional(space->total) : mount.size_bytes;
  if (!total) return;
  const auto add = [&](const FindingKind& kind, long long size) {
    report.findings.push_back(make_finding(kind,
                                           {{"size", std::to_string(size / mebibyte)},
                                            {"count", std::to_string(count)},
                                            {"need", std::to_string(need / mebibyte + 1)}},
                                           {{"/dev/shm", mount.options}}));
  };
  if (*total < need) {
    add(small, *total);
  } else if (space && space->free < need && !inspection.request.pid) {
    add(full, space->free);  // a running job has its segments already
  }
}

void judge_shm(const Inspection& inspection, Report& report) {
  const auto mounts = process_folder(inspection) + "/mounts";
  if (!inspection.files.read(mounts).is_read()) return;
  const auto mount = find_mount(inspection);
  if (!mount && !inspection.process_files.exists("/dev/shm")) {
    report.findings.push_back(make_finding(missing, {}, {{"/dev/shm", "missing"}}));
  } else if (mount && ("," + mount->options + ",").find(",ro,") != std::string::npos) {
    report.findings.push_back(make_finding(read_only, {}, {{mounts, mount->options}}));
  } else if (mount) {
    judge_space(inspection, *mount, report);
  }
}

// "Max locked memory         65536                65536                bytes".
void judge_memlock(const Inspection& inspection, Report& report) {
  if (inspection.files.names("/sys/class/infiniband").empty()) return;
  const auto file = process_folder(inspection) + "/limits";
  const auto text = inspection.files.read(file).text;
  constexpr std::string_view name = "Max locked memory";
  const auto found = text.find(name);
  if (found == std::string::npos) return;
  const auto words = trim(std::string_view(text).substr(found + name.size(), 60));
  const auto limit = parse_whole(words.substr(0, words.find(' ')));
  if (!limit || *limit >= 64 * mebibyte) return;
  report.findings.push_back(make_finding(locked, {{"size", std::to_string(*limit / 1024)}},
                                         {{file, "Max locked memory " + std::to_string(*limit)}}));
}

void run(const Inspection& inspection, Report& report) {
  if (!inspection.has_several_gpus()) return;
  judge_shm(inspection, report);
  judge_memlock(inspection, report);
}

}  // namespace

const Check memory_check = {"memory", kinds, run};

}  // namespace lanewise::host
