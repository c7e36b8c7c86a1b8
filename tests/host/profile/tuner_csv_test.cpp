// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/profile/tuner_csv.hpp"

#include <gtest/gtest.h>

#include <clocale>

#include "core/error.hpp"

namespace lanewise::host {
namespace {

std::string refusal(std::string_view text) {
  try {
    (void)parse_tuner_csv(text, "t.conf");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(TunerCsv, ReadsFieldsAndWildcards) {
  const auto rows = parse_tuner_csv(
      "# made by hand\n"
      "\n"
      "allreduce,0,65536,tree,simple,2,1,-1,-1,1\n"
      "broadcast,32769,4294967295,nvls_tree,LL128,-1,-1,8,4\n"
      " allreduce , 1,2,ring,ll,64,4,32 ",
      "t.conf");

  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0], (TunerRow{.bytes = {0, 65536},
                               .choice = {Algorithm::tree, Protocol::simple, 2},
                               .nodes = 1,
                               .is_registered = true,
                               .line = 3}));
  EXPECT_EQ(rows[1], (TunerRow{.collective = Collective::broadcast,
                               .bytes = {32769, 4294967295},
                               .choice = {Algorithm::nvls_tree, Protocol::ll128, 0},
                               .ranks = 8,
                               .pipe_ops = 4,
                               .line = 4}));
  EXPECT_EQ(rows[2].ranks, 32);
}

TEST(TunerCsv, ReadsWhatASpreadsheetWrites) {
  const auto rows = parse_tuner_csv(
      "\xEF\xBB\xBF"
      "collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks\r\n"
      "allreduce,1,2,ring,ll,4,1,8\r\n",
      "t.conf");

  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].line, 2);
}

TEST(TunerCsv, AFileOfCommentsHasNoRows) {
  EXPECT_TRUE(parse_tuner_csv("", "t").empty());
  EXPECT_TRUE(parse_tuner_csv("# a\n\n  \n#b", "t").empty());
}

TEST(TunerCsv, RoundTrips) {
  const std::vector<TunerRow> rows = {{.bytes = {14336, 28672},
                                       .choice = {Algorithm::tree, Protocol::ll, 4},
                                       .nodes = 1,
                                       .ranks = 8},
                                      {.collective = Collective::reduce_scatter,
                                       .bytes = {0, 4294967295},
                                       .choice = {Algorithm::collnet_direct, Protocol::simple, 0},
                                       .pipe_ops = 2,
                                       .is_registered = false}};

  auto again = parse_tuner_csv(format_tuner_csv(rows), "t");
  for (auto& row : again) row.line = 0;

  EXPECT_EQ(again, rows);
}

TEST(TunerCsv, RefusesTheWholeFileWithItsLine) {
  EXPECT_EQ(refusal("allreduce,1,2,ring,ll,4,1,8\nallreduce,1,2,ring2,ll,4,1,8\n"),
            "t.conf:2: algorithm: expected tree, ring, collnet_direct, collnet_chain, nvls, "
            "nvls_tree or pat");
}

TEST(TunerCsv, RefusesWhatTheExampleTunerGuesses) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {",,,,", "8 to 10 fields"},
      {",,,,,,,", "collective"},
      {"allreduce,1,2,ring,ll,4,1", "8 to 10 fields"},
      {"allreduce,1,2,ring,ll,4,1,8,1,0,9", "8 to 10 fields"},
      {"all_reduce,1,2,ring,ll,4,1,8", "collective"},
      {"allreduce,-1,2,ring,ll,4,1,8", "min"},
      {"allreduce,,2,ring,ll,4,1,8", "min"},
      {"allreduce,1,1M,ring,ll,4,1,8", "max"},
      {"allreduce,1,1.5,ring,ll,4,1,8", "max"},
      {"allreduce,1,99999999999999999999,ring,ll,4,1,8", "max"},
      {"allreduce,3,2,ring,ll,4,1,8", "max: expected no less than min"},
      {"allreduce,1,2,ring,lll,4,1,8", "protocol"},
      {"allreduce,1,2,ring,ll,0,1,8", "channels"},
      {"allreduce,1,2,ring,ll,65,1,8", "channels"},
      {"allreduce,1,2,ring,ll,127,1,8", "channels"},
      {"allreduce,1,2,ring,ll,128,1,8", "channels"},
      {"allreduce,1,2,ring,ll,256,1,8", "channels"},
      {"allreduce,1,2,ring,ll,300,1,8", "channels"},
      {"allreduce,1,2,ring,ll,2147483648,1,8", "channels"},
      {"allreduce,1,2,ring,ll,-2,1,8", "channels"},
      {"allreduce,1,2,ring,ll,abc,1,8", "channels"},
      {"allreduce,1,2,ring,ll,,1,8", "channels"},
      {"allreduce,1,2,ring,ll,4,0,8", "nodes"},
      {"allreduce,1,2,ring,ll,4,1,0", "ranks"},
      {"allreduce,1,2,ring,ll,4,1,8,0", "pipe_ops"},
      {"allreduce,1,2,ring,ll,4,1,8,1,2", "registered"},
      {"\"allreduce\",1,2,ring,ll,4,1,8", "collective"},
      {"allreduce;1;2;ring;ll;4;1;8", "8 to 10 fields"},
      {std::string("allreduce,1,2,ring,l\0l,4,1,8", 28), "protocol"},
      {std::string(1'000'000, 'x'), "8 to 10 fields"},
      {std::string(1'000'000, ','), "8 to 10 fields"},
      {"allreduce,1,2,ring,ll,4,1,8\ncollective,min,max,algo,proto,channels,nodes,ranks",
       "t.conf:2"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_NE(refusal(text).find(expected), std::string::npos)
        << text.substr(0, 80) << " -> " << refusal(text);
}

TEST(TunerCsv, NumbersDoNotDependOnTheLocale) {
  const char* const before = std::setlocale(LC_ALL, nullptr);
  const std::string saved = before;
  if (std::setlocale(LC_ALL, "de_DE.UTF-8") == nullptr) (void)std::setlocale(LC_ALL, "");

  const std::vector<TunerRow> rows = {{.bytes = {1000000, 2000000}}};
  EXPECT_NE(format_tuner_csv(rows).find("allreduce,1000000,2000000,"), std::string::npos);
  EXPECT_EQ(parse_tuner_csv(format_tuner_csv(rows), "t").size(), 1U);

  (void)std::setlocale(LC_ALL, saved.c_str());
}

}  // namespace
}  // namespace lanewise::host
