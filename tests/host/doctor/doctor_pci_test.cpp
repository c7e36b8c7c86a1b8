// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include "doctor_tree.hpp"

namespace lanewise {
namespace {

TEST(DoctorPci, FindsNothingToMendOnAHealthyMachineThatIdles) {
  const DoctorTree tree;

  const auto report = tree.examine();

  EXPECT_EQ(exit_status_of(report, Strictness::strict), 0) << names_of(report);
  EXPECT_EQ(report.count(Severity::note), static_cast<int>(report.findings.size()));
}

TEST(DoctorPci, NamesTheSwitchesThatMayCollapseAsANote) {
  const auto report = DoctorTree().examine();

  ASSERT_TRUE(has(report, "switch-collapse"));
  EXPECT_EQ(find(report, "switch-collapse")->severity, Severity::note);
  EXPECT_TRUE(has(report, "shared-uplink"));
}

TEST(DoctorPci, FindsAcsRedirectByItsControlAndNamesTheGpusBelow) {
  for (const std::uint16_t control : std::vector<std::uint16_t>{0x0015, 0x0019, 0x001d}) {
    DoctorTree tree;
    tree.set_acs(tree.port(2, 2), control);  // the switch above GPU2 and GPU3

    const auto report = tree.examine();

    const auto* finding = find(report, "acs-redirect");
    ASSERT_NE(finding, nullptr) << control;
    EXPECT_NE(finding->title.find("GPU2, GPU3"), std::string::npos) << finding->title;
    EXPECT_NE(finding->why.find("2-3"), std::string::npos) << finding->why;
    EXPECT_EQ(finding->fix.substr(0, 48), "sudo setpci -s 0000:21:00.0 ECAP_ACS+6.w=0011   ");
    EXPECT_EQ(exit_status_of(report, Strictness::lenient), 1);
  }
}

TEST(DoctorPci, LeavesRedirectAtARootPortAloneWhereNoPairTurnsThere) {
  DoctorTree tree;
  tree.set_acs(tree.port(0, 3), 0x001d);

  EXPECT_FALSE(has(tree.examine(), "acs-redirect"));
}

TEST(DoctorPci, NotesEgressControl) {
  DoctorTree tree;
  tree.set_acs(tree.port(0, 1), 0x0031);

  EXPECT_TRUE(has(tree.examine(), "acs-egress-control"));
}

TEST(DoctorPci, SaysUnknownWhereOnlyRootMayReadAcs) {
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{256}, std::size_t{0}}) {
    DoctorTree tree;
    tree.set_acs(tree.port(0, 1), 0x001d, bytes);

    const auto report = tree.examine();

    EXPECT_FALSE(has(report, "acs-redirect"));
    ASSERT_TRUE(has(report, "acs-unknown")) << bytes;
    EXPECT_EQ(find(report, "acs-unknown")->fix, "sudo lanewise doctor");
    EXPECT_EQ(exit_status_of(report, Strictness::lenient), 0);
    EXPECT_EQ(exit_status_of(report, Strictness::strict), 1);
  }
}

TEST(DoctorPci, FindsTranslationByGroupTypeWhateverTheCommandLineSays) {
  for (const std::string type : {"DMA", "DMA-FQ"}) {
    DoctorTree tree;
    tree.set_iommu(0, type);
    tree.set_iommu(1, type);

    const auto report = tree.examine();

    const auto* finding = find(report, "iommu-translates");
    ASSERT_NE(finding, nullptr) << type;
    EXPECT_NE(finding->title.find("GPU0, GPU1"), std::string::npos);
    EXPECT_NE(finding->fix.find("NCCL_P2P_DISABLE=1"), std::string::npos);
    EXPECT_EQ(exit_status_of(report, Strictness::lenient), 2);
  }
}

TEST(DoctorPci, TakesIdentityGroupsAsHarmlessAndUnreadableTypesAsUnknown) {
  DoctorTree identity;
  identity.write("proc/cmdline", "intel_iommu=on iommu=pt");
  identity.set_iommu(0, "identity");
  DoctorTree hidden;
  hidden.set_iommu(0, "");

  EXPECT_EQ(exit_status_of(identity.examine(), Strictness::strict), 0);
  EXPECT_TRUE(has(hidden.examine(), "iommu-unknown"));
}

TEST(DoctorPci, DoesNotCallTranslationBrokenWherePeerAccessIsNotThere) {
  DoctorTree tree("0x2684");  // GeForce RTX 4090
  tree.set_iommu(0, "DMA");

  const auto report = tree.examine();

  EXPECT_FALSE(has(report, "iommu-translates"));
  EXPECT_TRUE(has(report, "iommu-translates-host-memory"));
  EXPECT_TRUE(has(report, "peer-access-geforce"));
}

TEST(DoctorPci, FindsALinkThatLostLanes) {
  DoctorTree tree;
  tree.write(tree.gpu(5) + "/current_link_width", "8");

  const auto report = tree.examine();

  const auto* finding = find(report, "link-narrow");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->title.find("8 lanes of 16"), std::string::npos) << finding->title;
  EXPECT_EQ(finding->devices.front(), tree.address(tree.gpu(5)));
}

TEST(DoctorPci, TellsASlotOfEightLanesFromALinkThatLostThem) {
  DoctorTree tree;
  tree.write(tree.port(5, 1) + "/max_link_width", "8");
  tree.write(tree.port(5, 1) + "/current_link_width", "8");
  tree.write(tree.gpu(5) + "/current_link_width", "8");

  const auto report = tree.examine();

  EXPECT_FALSE(has(report, "link-narrow"));
  EXPECT_TRUE(has(report, "link-by-design"));
  EXPECT_EQ(exit_status_of(report, Strictness::strict), 0) << names_of(report);
}

TEST(DoctorPci, CallsALowGenerationStuckOnlyAtWork) {
  const auto examine_in = [](const std::string& state) {
    DoctorTree tree;
    tree.write("nvidia-smi/query.csv",
               "00000000:03:00.0, NVIDIA RTX PRO 6000, 595.58.03, " + state + ", Disabled");
    return tree.examine();
  };

  EXPECT_TRUE(has(examine_in("P0"), "link-stuck"));
  EXPECT_FALSE(has(examine_in("P8"), "link-stuck"));
  EXPECT_FALSE(has(DoctorTree().examine(), "link-stuck"));
}

TEST(DoctorPci, NamesTheFirstNarrowHopAboveAGpu) {
  DoctorTree tree;
  tree.write(tree.port(0, 2) + "/max_link_width", "4");
  tree.write(tree.port(0, 2) + "/current_link_width", "4");

  const auto report = tree.examine();

  const auto* finding = find(report, "link-narrow-hop");
  ASSERT_NE(finding, nullptr) << names_of(report);
  EXPECT_NE(finding->title.find("0000:01:00.0 can do Gen5 x4"), std::string::npos)
      << finding->title;
  EXPECT_FALSE(has(report, "link-narrow"));
}

// As H100 machines with PEX890xx switches and machines with a ConnectX-8 switch at each GPU have
// it: full width, and nothing to mend.
TEST(DoctorPci, NotesAGenerationBelowTheGpusAndNamesNoFault) {
  DoctorTree tree;
  for (int above : {2, 3}) tree.write(tree.port(0, above) + "/max_link_speed", "5.0 GT/s PCIe");

  const auto report = tree.examine();

  EXPECT_EQ(exit_status_of(report, Strictness::strict), 0) << names_of(report);
  const auto* finding = find(report, "link-older-hop");
  ASSERT_NE(finding, nullptr) << names_of(report);
  EXPECT_NE(finding->title.find("0000:01:00.0 says Gen2 x16"), std::string::npos) << finding->title;
}

TEST(DoctorPci, CountsLinkErrors) {
  DoctorTree few;
  few.write(few.gpu(0) + "/aer_dev_correctable", "RxErr 3\nTOTAL_ERR_COR 3");
  DoctorTree many;
  many.write(many.port(0, 1) + "/aer_dev_correctable",
             "RxErr 0\nBadTLP 40000\nTOTAL_ERR_COR 40000");
  DoctorTree fatal;
  fatal.write(fatal.gpu(0) + "/aer_dev_fatal", "DLP 1\nTOTAL_ERR_FATAL 1");

  EXPECT_EQ(exit_status_of(few.examine(), Strictness::strict), 0);
  EXPECT_TRUE(has(many.examine(), "aer-corrected"));
  EXPECT_TRUE(has(fatal.examine(), "aer-uncorrected"));
}

TEST(DoctorPci, LooksAtManagedMemoryWhereLinksHaveErrors) {
  const std::string parameter = "sys/module/nvidia_uvm/parameters/uvm_disable_hmm";
  DoctorTree tree;
  tree.write(parameter, "N");
  EXPECT_FALSE(has(tree.examine(), "uvm-hmm")) << "no errors";
  tree.write(tree.gpu(0) + "/aer_dev_fatal", "TOTAL_ERR_FATAL 1");

  EXPECT_TRUE(has(tree.examine(), "uvm-hmm"));
  tree.write(parameter, "Y");
  EXPECT_FALSE(has(tree.examine(), "uvm-hmm"));
  std::filesystem::remove(tree.root() / parameter);
  EXPECT_TRUE(has(tree.examine(), "uvm-hmm-unknown"));
}

TEST(DoctorPci, FindsAWindowThatCouldBeLarger) {
  DoctorTree tree;
  tree.write(tree.gpu(0) + "/resource",
             "0x00000000a0000000 0x00000000a0ffffff 0x0000000000040200\n"
             "0x0000200000000000 0x000020000fffffff 0x000000000014220c");
  tree.write(tree.gpu(0) + "/resource1_resize", "000000000003ffc0");

  const auto report = tree.examine();

  const auto* finding = find(report, "bar1-small");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->title.find("256 MiB"), std::string::npos) << finding->title;
  EXPECT_NE(finding->title.find("131072 MiB"), std::string::npos) << finding->title;
}

TEST(DoctorPci, ReadsTheDriversCodesOfPeerAccess) {
  DoctorTree tree;
  tree.write("nvidia-smi/topo-p2p.txt",
             " \tGPU0\tGPU1\n GPU0\tX\tCNS\n GPU1\tCNS\tX\n\nLegend:\n  X = Self\n");

  const auto report = tree.examine();

  const auto* finding = find(report, "peer-access-refused");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->title.find("1 pairs of GPUs: CNS, the chipset"), std::string::npos)
      << finding->title;
}

TEST(DoctorPci, ExplainsWhyRankCountsTakeDifferentWaysOnAmd) {
  EXPECT_TRUE(has(DoctorTree().examine(), "peer-access-by-rank-count"));

  DoctorTree tree;
  tree.write("etc/nccl.conf", "NCCL_P2P_LEVEL=SYS");

  EXPECT_FALSE(has(tree.examine(), "peer-access-by-rank-count"));
}

// They go by NVLink, at every rank count.
TEST(DoctorPci, SaysNothingOfRankCountsForGpusWithNvlink) {
  EXPECT_FALSE(has(DoctorTree("0x20b2").examine(), "peer-access-by-rank-count"));
}

TEST(DoctorPci, WarnsOfADisplayWherePeerAccessIsForced) {
  DoctorTree tree;
  tree.write("proc/driver/nvidia/params", "RegistryDwords: \"ForceP2P=0x11;RMForceP2PType=1\"");
  tree.write("nvidia-smi/query.csv", "00000000:03:00.0, NVIDIA RTX, 595.58.03, P8, Enabled");

  const auto report = tree.examine();

  EXPECT_TRUE(has(report, "driver-forced-peer"));
  EXPECT_TRUE(has(report, "display-on-forced-peer"));
}

}  // namespace
}  // namespace lanewise
