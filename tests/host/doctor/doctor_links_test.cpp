// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// What the doctor makes of a result of `lanewise-bench links`.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "doctor_tree.hpp"

namespace lanewise {
namespace {

std::string pair(int from, int to, const std::string& method, const std::string& rate,
                 const std::string& error = "null") {
  return "{\"from\": " + std::to_string(from) + ", \"to\": " + std::to_string(to) +
         ", \"method\": \"" + method + "\", \"one_way_gbs\": " + rate + ", \"error\": " + error +
         "}";
}

Report judge(const std::string& pairs, const std::string& contention = "") {
  DoctorTree tree;
  tree.write("links.json",
             "{\"schema_version\": 1, \"links\": {\"gpus\": [\"0000:03:00.0\", "
             "\"0000:04:00.0\"],\n\"pairs\": [" +
                 pairs + "],\n\"contention\": [" + contention + "]}}");
  auto request = tree.request();
  request.links = tree.root() / "links.json";
  return host::examine(request).report;
}

TEST(DoctorLinks, SayNothingOfLinksThatWork) {
  const auto report = judge(pair(0, 1, "peer", "50") + "," + pair(1, 0, "peer", "48") + "," +
                                pair(0, 1, "host", "25") + "," + pair(1, 0, "host", "24"),
                            R"({"name": "two writers", "method": "peer", "alone_gbs": [50, 50],
                "together_gbs": [25, 25], "error": null})");

  EXPECT_EQ(exit_status_of(report, Strictness::strict), 0) << names_of(report);
}

TEST(DoctorLinks, FindPeerAccessThatHangsOrLies) {
  const auto report = judge(pair(0, 1, "peer", "null", "\"4096 bytes were not written\"") + "," +
                            pair(1, 0, "peer", "null", "\"it hung\""));

  const auto* finding = find(report, "peer-access-fails");
  ASSERT_NE(finding, nullptr) << names_of(report);
  EXPECT_EQ(finding->severity, Severity::broken);
  EXPECT_EQ(
      finding->title,
      "Peer access of 2 pairs of GPUs does not work: 0000:03:00.0 to 0000:04:00.0: 4096 bytes "
      "were not written");
  EXPECT_FALSE(has(report, "host-memory-fails"));
  EXPECT_TRUE(has(judge(pair(0, 1, "host", "null", "\"it hung\"")), "host-memory-fails"));
}

TEST(DoctorLinks, FindAWayThatIsSlowerThanBackAndThanHostMemory) {
  const auto report = judge(pair(0, 1, "peer", "12.04") + "," + pair(1, 0, "peer", "25") + "," +
                            pair(0, 1, "host", "18.5"));

  const auto* finding = find(report, "peer-access-one-way-slow");
  ASSERT_NE(finding, nullptr) << names_of(report);
  EXPECT_EQ(
      finding->title,
      "1 pairs of GPUs are slower in one direction: 0000:03:00.0 to 0000:04:00.0 carries 12.0 "
      "GB/s by peer access, back 25.0");
  EXPECT_TRUE(has(report, "peer-access-slower-than-host"));
}

TEST(DoctorLinks, FindWritesThatCollapse) {
  const auto report = judge("", R"({"name": "two writers", "method": "peer",
                                    "alone_gbs": [37, 36], "together_gbs": [1.4, 1.3],
                                    "error": null})");

  ASSERT_TRUE(has(report, "writes-collapse")) << names_of(report);
  EXPECT_EQ(find(report, "writes-collapse")->title,
            "two writers: 2.7 GB/s together, where one flow alone has 37.0");
}

TEST(DoctorLinks, OfAFileThatIsNoneAreRefusedWithItsLine) {
  try {
    (void)judge(pair(0, 2, "peer", "50"));
    FAIL() << "GPU 2 is not in the file";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("links.json:2: "), std::string::npos) << error.what();
  }
}

TEST(DoctorLinks, ThatCannotBeMeasuredAreUnknown) {
  const DoctorTree tree;
  auto request = tree.request();
  request.measures_links = true;
  setenv("PATH", tree.root().c_str(), 1);

  EXPECT_TRUE(has(host::examine(request).report, "links-not-measured"));
}

}  // namespace
}  // namespace lanewise
