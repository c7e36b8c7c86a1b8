// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include "core/machine/topology.hpp"
#include "doctor_tree.hpp"
#include "host/profile/profile_file.hpp"
#include "made_elf.hpp"

namespace lanewise {
namespace {

constexpr const char* nccl = "/opt/lib/libnccl.so.2";
constexpr const char* ours = "/opt/lanewise/lib/libnccl-tuner-lanewise.so";
constexpr const char* path_to_ours = "LD_LIBRARY_PATH=/opt/lanewise/lib";
constexpr int tuner_pid = 77;

std::string exports(const std::string& symbol) {
  return make_elf(".dynstr", std::string(1, '\0') + symbol + '\0' + "other" + '\0');
}

// As ours does, for every release.
std::string exports_all() {
  std::string names(1, '\0');
  for (const char* version : {"2", "3", "4", "5", "6"})
    names += std::string("ncclTunerPlugin_v") + version + '\0';
  return make_elf(".dynstr", names);
}

struct TunerRank : DoctorTree {
  explicit TunerRank(const std::vector<std::string>& variables,
                     const std::string& release = "2.30.7",
                     const std::vector<std::string>& more = {}) {
    std::vector<std::string> mapped = {nccl};
    mapped.insert(mapped.end(), more.begin(), more.end());
    add_process(tuner_pid, variables, mapped);
    add_nccl(nccl, release);
    add_file(ours, exports_all());
  }
  void add_file(const std::string& path, const std::string& content) {
    write_bytes(path.substr(1), content);
  }
  // The first finding of the tuner's check; empty where it has none.
  [[nodiscard]] std::string finding() const {
    for (const auto& finding : examine(tuner_pid).findings) {
      if (finding.name.starts_with("tuner-")) return finding.name;
    }
    return {};
  }
};

std::string tuner(const std::string& value) { return "NCCL_TUNER_PLUGIN=" + value; }

TEST(DoctorTuner, SaysNothingWhereNcclFindsOurs) {
  EXPECT_EQ(TunerRank({tuner("lanewise"), path_to_ours}).finding(), "");
  EXPECT_EQ(TunerRank({tuner(ours)}).finding(), "");
  EXPECT_EQ(TunerRank({tuner("anything")}, "2.30.7", {ours}).finding(), "") << "it is mapped";
}

TEST(DoctorTuner, SaysWhyOursIsNotLoaded) {
  EXPECT_EQ(TunerRank({}).finding(), "tuner-not-set");
  EXPECT_EQ(TunerRank({tuner("lanewise")}).finding(), "tuner-not-found");
  EXPECT_EQ(TunerRank({tuner("/gone/libx.so")}).finding(), "tuner-not-found");
  EXPECT_EQ(TunerRank({tuner("none")}).finding(), "tuner-off");
  EXPECT_EQ(TunerRank({tuner("static")}).finding(), "tuner-static");
  EXPECT_EQ(TunerRank({tuner("/" + std::string(300, 'x'))}).finding(), "tuner-name-cut");
  EXPECT_EQ(TunerRank({"NCCL_NET_PLUGIN=lanewise"}).finding(), "tuner-as-net");
}

TEST(DoctorTuner, KnowsThatOneReleaseTakesNoPath) {
  EXPECT_EQ(TunerRank({tuner(ours)}, "2.27.3").finding(), "tuner-path-refused");
  EXPECT_EQ(TunerRank({tuner(ours)}, "2.27.5").finding(), "");
  EXPECT_EQ(TunerRank({tuner("lanewise"), path_to_ours}, "2.27.3").finding(), "");
}

TEST(DoctorTuner, NamesAnotherTuner) {
  TunerRank rank({"LD_LIBRARY_PATH=/opt/other"});
  rank.add_file("/opt/other/libnccl-tuner.so", exports("ncclTunerPlugin_v4"));

  EXPECT_EQ(rank.finding(), "tuner-other");
}

TEST(DoctorTuner, FindsFilesByTheLoadersConfiguration) {
  TunerRank rank({tuner("lanewise")});
  rank.write("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf");
  rank.write("etc/ld.so.conf.d/lanewise.conf", "# ours\n/opt/lanewise/lib");

  EXPECT_EQ(rank.finding(), "");
}

TEST(DoctorTuner, RefusesWhatIsNoTunerOfThisRelease) {
  const auto finding_for = [](const std::string& content) {
    TunerRank rank({tuner("lanewise"), path_to_ours}, "2.30.7");
    rank.add_file(ours, content);
    return rank.finding();
  };

  EXPECT_EQ(finding_for(exports("ncclTunerPlugin_v1")), "tuner-unusable");
  EXPECT_EQ(finding_for(exports("ncclNetPlugin_v8")), "tuner-unusable");
  EXPECT_EQ(finding_for(make_elf(".dynstr", "x", EM_PPC64)), "tuner-unusable");
  EXPECT_EQ(finding_for("not a library"), "tuner-unusable");
  EXPECT_EQ(finding_for(""), "tuner-unusable");
}

TEST(DoctorTuner, SaysThatAProfileIsMissingOrCannotBeRead) {
  TunerRank rank({tuner("lanewise"), path_to_ours, "LANEWISE_PROFILE=/opt/profile.json"});

  EXPECT_TRUE(has(rank.examine(tuner_pid), "profile-unusable"));
  EXPECT_TRUE(
      has(TunerRank({tuner("lanewise"), path_to_ours}).examine(tuner_pid), "profile-missing"));
}

// With a profile of this machine, measured with NCCL 2.30.7 and NCCL_MIN_NCHANNELS=16.
std::string finding_of_profile(const std::string& channels, const std::string& release) {
  TunerRank rank({tuner("lanewise"), path_to_ours, "LANEWISE_PROFILE=/opt/profile.json",
                  "NCCL_MIN_NCHANNELS=" + channels},
                 release);
  Profile profile;
  profile.fingerprint = fingerprint(host::examine(rank.request()).topology);
  profile.nccl = parse_nccl_release("2.30.7").value();
  profile.created = "2026-11-29T18:00:00Z";
  profile.environments = {{.variables = {{"NCCL_MIN_NCHANNELS", "16"}},
                           .speedup = 1.876,
                           .groups = {{.ranks = 8, .gpus = {}}}}};
  profile.best_environment = 0;
  host::write_profile((rank.root() / "opt/profile.json").string(), profile);
  for (const auto& finding : rank.examine(tuner_pid).findings)
    if (finding.name.starts_with("profile-")) return finding.name + ": " + finding.title;
  return {};
}

TEST(DoctorTuner, SaysWhatAProfileThatFitsGains) {
  const auto finding = finding_of_profile("16", "2.30.7");

  EXPECT_EQ(finding.substr(0, 13), "profile-fits:");
  EXPECT_NE(finding.find("is 1.88 times stock"), std::string::npos) << finding;
}

TEST(DoctorTuner, SaysWhyAProfileIsNotUsed) {
  const auto environment = finding_of_profile("4", "2.30.7");
  EXPECT_EQ(environment.substr(0, 26), "profile-other-environment:");
  EXPECT_NE(environment.find("NCCL_MIN_NCHANNELS"), std::string::npos) << environment;

  const auto release = finding_of_profile("16", "2.28.9");
  EXPECT_EQ(release.substr(0, 22), "profile-other-release:");
  EXPECT_NE(release.find("with NCCL 2.30.7, here it is 2.28.9"), std::string::npos) << release;
}

}  // namespace
}  // namespace lanewise
