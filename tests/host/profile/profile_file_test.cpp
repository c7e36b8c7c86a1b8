// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/profile/profile_file.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <ostream>

#include "core/error.hpp"

namespace lanewise::host {
namespace {

// A valid profile with one rule at line 14; tests break one word of it.
constexpr std::string_view valid = R"({
  "schema_version": 1,
  "fingerprint": "0123456789abcdef",
  "machine": "8x NVIDIA RTX PRO 6000 on 2 sockets",
  "driver": "580.65.06",
  "nccl": "2.30.7",
  "created": "2026-11-29T18:00:00Z",
  "best_environment": 0,
  "environments": [
    {"variables": {"NCCL_P2P_LEVEL": "SYS"}, "speedup": 1.31, "memory_bytes": 0, "groups": [
      {"ranks": 2, "gpus": [0, 1],
       "ll128_verified": false,
       "rules": [
        {"bytes": [14336, 28672], "choice": "tree/ll/4", "stock_us": 48.9, "us": 22.3, "speedup": 2.19, "ci95": [2.1, 2.25], "samples": 40},
        {"bytes": [57344, 57344], "choice": "ring/ll"}
      ]}
    ]}
  ],
  "unsafe": [{"variables": {"NCCL_PROTO": "LL128"}, "evidence": "wrong sum on GPU 3"}]
}
)";

std::string replace(std::string_view old_text, std::string_view new_text) {
  std::string text(valid);
  const auto place = text.find(old_text);
  EXPECT_NE(place, std::string::npos) << old_text;
  return text.replace(place, old_text.size(), new_text);
}

Profile make_profile() {
  Profile profile = parse_profile(valid, "x");
  Rule rule{{1000, 2000}, {Algorithm::ring, Protocol::ll128, 64}, 1.0 / 3, 0.1, 3.3, 1.1, 3.4, 7};
  profile.environments.push_back(
      {.variables = {},
       .speedup = 1.07,
       .memory_bytes = 1 << 20,
       .groups = {{.ranks = 8, .is_ll128_verified = true, .rules = RuleSet({rule}, {512, 4096})},
                  {.ranks = 3,
                   .link = LinkKind::nvlink,
                   .unsafe = {{{Algorithm::tree, Protocol::ll, 32}, "rank 0 \"waits\""}},
                   .fit = MachineFit{.channels = 4,
                                     .smallest_bytes = 1024,
                                     .largest_bytes = 4 << 20,
                                     .constants = {.largest_tree_bytes = 4 << 20,
                                                   .tree_ll = {5.02, 2.36, 0, 0.6, 1.0 / 3, 0, 1},
                                                   .tree_simple = {11},
                                                   .ring_ll = {6.5, 0.7, 1.1},
                                                   .ring_simple = {0, 0, 0, 0, 0, 1.5}}}}}});
  profile.machine = "a \"quoted\" \\ name";
  profile.best_environment.reset();
  return profile;
}

TEST(ProfileFile, ReadsEachField) {
  const auto profile = parse_profile(valid, "x");

  EXPECT_EQ(profile.fingerprint, "0123456789abcdef");
  EXPECT_EQ(profile.nccl, (NcclRelease{2, 30, 7}));
  EXPECT_EQ(profile.best_environment, 0U);
  ASSERT_EQ(profile.environments.size(), 1U);
  const auto& group = profile.environments[0].groups.at(0);
  EXPECT_EQ(group.gpus, (std::vector<int>{0, 1}));
  const Rule* rule = group.rules.find(20000);
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(
      *rule,
      (Rule{{14336, 28672}, {Algorithm::tree, Protocol::ll, 4}, 48.9, 22.3, 2.19, 2.1, 2.25, 40}));
  EXPECT_EQ(group.rules.find(57344)->samples, 0);
  EXPECT_EQ(profile.unsafe.at(0).evidence, "wrong sum on GPU 3");
}

TEST(ProfileFile, TextRoundTripsToAnEqualProfile) {
  const auto profile = make_profile();

  EXPECT_EQ(parse_profile(format_profile(profile), "x"), profile);
}

TEST(ProfileFile, KnowsTwoLinksAndTakesNoWordForPcie) {
  const auto with = [](const char* line) {
    return replace("\"ll128_verified\": false,", std::string("\"ll128_verified\": false,") + line);
  };
  const auto link_of = [](const std::string& text) {
    return parse_profile(text, "x").environments[0].groups[0].link;
  };

  EXPECT_EQ(link_of(std::string(valid)), LinkKind::pcie);
  EXPECT_EQ(link_of(with("\"link\": \"nvlink\",")), LinkKind::nvlink);
  EXPECT_THROW((void)link_of(with("\"link\": \"bridge\",")), Error);
}

constexpr std::string_view direct_range =
    R"({"bytes": [1024, 65536], "form": "two-shot", "nccl_us": 20, "us": 8, "speedup": 2.5, )"
    R"("ci95": [2.4, 2.6], "samples": 30})";

TEST(ProfileFile, HoldsTheSizesOfTheDirectLayer) {
  const auto text = replace("\"ring/ll\"}\n      ]", "\"ring/ll\"}\n      ], \"direct\": [" +
                                                         std::string(direct_range) + "]");

  const auto profile = parse_profile(text, "x");

  const DirectRange wanted{{1024, 65536}, "two-shot", 20, 8, 2.5, 2.4, 2.6, 30};
  EXPECT_EQ(profile.environments[0].groups[0].direct, std::vector<DirectRange>{wanted});
  EXPECT_EQ(parse_profile(format_profile(profile), "x"), profile);
}

TEST(ProfileFile, RefusesDirectSizesWithoutEvidenceOrTwice) {
  const auto with = [](std::string ranges) {
    return replace("\"ring/ll\"}\n      ]", "\"ring/ll\"}\n      ], \"direct\": [" + ranges + "]");
  };
  const std::string range(direct_range);
  const auto changed = [&](std::string_view word, std::string_view by) {
    auto text = range;
    return text.replace(text.find(word), word.size(), by);
  };

  for (const auto& broken :
       {range + ", " + range, changed("two-shot", "ring"), changed("65536", "99999999"),
        changed("2.4, 2.6", "1.02, 2.6"), changed(", \"samples\": 30", "")})
    EXPECT_THROW(static_cast<void>(parse_profile(with(broken), "x")), Error) << broken;
}

constexpr std::string_view model =
    R"({"channels": 4, "bytes": [1024, 65536], "largest_tree_bytes": 65536,)"
    R"( "tree_ll": [5, 2, 0, 0.6, 0, 0, 0.1], "tree_simple": [11, 0, 0, 0, 0, 0, 0],)"
    R"( "ring_ll": [6, 1, 1, 0, 0, 0, 0], "ring_simple": [14, 5, 0, 0, 0, 1, 0]})";

std::string with_model(std::string_view old_word, std::string_view word) {
  std::string text(model);
  text.replace(text.find(old_word), old_word.size(), word);
  return replace("\"ring/ll\"}\n      ]", "\"ring/ll\"}\n      ],\n\"model\": " + text);
}

TEST(ProfileFile, HoldsAFitOfTheModel) {
  const auto fit = parse_profile(with_model("4", "4"), "x").environments[0].groups[0].fit;

  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->channels, 4);
  EXPECT_FALSE(fit->covers(1023));
  EXPECT_TRUE(fit->covers(65536));
  EXPECT_EQ(fit->constants.ring_simple, (LatencyTerms{.base_us = 14, .hop_us = 5, .block_us = 1}));
}

TEST(ProfileFile, RefusesABadFitWithItsLine) {
  for (const auto& [old_word, word] : {std::pair("4,", "65,"),
                                       {"[1024, 65536]", "[65536, 1024]"},
                                       {"[1024, 65536]", "[1024]"},
                                       {"[11, 0,", "[-1, 0,"},
                                       {"[11, 0,", "[0, 0,"},
                                       {"[11, 0,", "["},
                                       {"\"ring_ll\": [6", "\"ring\": [6"}})
    try {
      (void)parse_profile(with_model(old_word, word), "p.json");
      ADD_FAILURE() << word;
    } catch (const Error& error) {
      EXPECT_EQ(error.line(), 17) << error.what();
    }
}

TEST(ProfileFile, AcceptsCarriageReturnsByteOrderMarkAndNoFinalNewline) {
  std::string text = "\xEF\xBB\xBF";
  for (const char letter : valid.substr(0, valid.size() - 1)) {
    if (letter == '\n') text += '\r';
    text += letter;
  }

  EXPECT_EQ(parse_profile(text, "x"), parse_profile(valid, "x"));
}

TEST(ProfileFile, LineOfANumberBeforeALineBreakIsItsOwn) {
  const auto text = replace("\"schema_version\": 1,", "\"schema_version\": 2\n,");
  try {
    (void)parse_profile(text, "p.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "p.json:2: schema_version: expected 1");
  }
}

std::string refusal_of(std::string_view variables) {
  try {
    (void)parse_profile(replace("{\"NCCL_P2P_LEVEL\": \"SYS\"}", variables), "p.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Whatever stands in it is set in a server's process.
TEST(ProfileFile, RefusesAVariableThatLoadsCode) {
  for (const auto* name : {"NCCL_NET_PLUGIN", "NCCL_TUNER_PLUGIN", "NCCL_PROFILER_PLUGIN",
                           "NCCL_ENV_PLUGIN", "NCCL_CONF_FILE", "NCCL_DEBUG"}) {
    const auto refusal = refusal_of("{\"" + std::string(name) + "\": \"/tmp/any.so\"}");

    EXPECT_TRUE(refusal.starts_with("p.json:10: " + std::string(name) + ": expected a variable"))
        << refusal;
  }
}

TEST(ProfileFile, RefusesAValueThatItsVariableDoesNotTake) {
  EXPECT_EQ(refusal_of("{\"NCCL_MIN_NCHANNELS\": \"sixteen\"}"),
            "p.json:10: NCCL_MIN_NCHANNELS: expected a whole number from 1 to 1024");
  EXPECT_EQ(refusal_of("{\"NCCL_GRAPH_FILE\": \"graph.xml\"}"),
            "p.json:10: NCCL_GRAPH_FILE: expected the absolute path of a file");
  EXPECT_NE(refusal_of("{\"NCCL_P2P_LEVEL\": \"SYS\\nLD_PRELOAD=x\"}"), "");
}

TEST(ProfileFile, NeverWritesWhatItWouldRefuse) {
  Profile profile = make_profile();
  profile.environments[0].speedup = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)format_profile(profile), Error);

  profile = make_profile();
  profile.environments[1].groups[0].is_ll128_verified = false;
  EXPECT_THROW(write_profile("/dev/null/none/p.json", profile), Error);
}

struct Malformed {
  const char* name;
  std::string text;
  int line;
  const char* expected;  // a part of the message
};

void PrintTo(const Malformed& malformed, std::ostream* stream) { *stream << malformed.name; }

class MalformedProfile : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedProfile, IsRefusedWholeWithItsLine) {
  const auto& [name, text, line, expected] = GetParam();
  try {
    (void)parse_profile(text, "p.json");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.file(), "p.json");
    EXPECT_EQ(error.line(), line) << error.what();
    EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
    EXPECT_LT(std::string(error.what()).size(), 400U);
  }
}

std::vector<Malformed> broken_syntax() {
  return {
      {"Empty", "", 1, "expected JSON"},
      {"OnlySpace", " \n \n", 2, "expected JSON"},
      {"NotJson", "collective,min,max\n", 1, "expected JSON"},
      {"CutOff", std::string(valid.substr(0, 400)), 12, "expected JSON"},
      {"TextAfterTheEnd", std::string(valid) + "x", 21, "expected JSON"},
      {"TrailingComma", replace("\"ring/ll\"}", "\"ring/ll\"},"), 16, "expected JSON"},
      {"Comment", replace("  \"driver\"", "  // no\n  \"driver\""), 5, "expected JSON"},
      {"NotANumber", replace("1.31", "NaN"), 10, "expected JSON"},
      {"Infinity", replace("1.31", "1e999"), 10, "expected JSON"},
      {"DecimalComma", replace("1.31", "1,31"), 10, "expected JSON"},
      {"NulByte", replace("580", std::string(1, '\0')), 5, "NUL"},
      {"NulAfterTheEnd", std::string(valid) + std::string(1, '\0') + "x", 21, "NUL"},
      {"BadUtf8", replace("RTX", "\xff\xfe"), 4, "expected JSON"},
      {"ControlCharacter", replace("RTX", "\\u001b[2J"), 4, "without control characters"},
      {"LongWord", std::string(1'000'000, 'x'), 1, "expected JSON"},
      {"Deep", std::string(1'000'000, '['), 1, "levels"},
      {"List", "[1]", 1, "an object in { }"},
      {"NameTwice", replace("\"driver\": \"580.65.06\"", "\"machine\": \"\""), 5, "once"},
  };
}

std::vector<Malformed> broken_head() {
  return {
      {"NoVersion", replace("  \"schema_version\": 1,\n", ""), 1, "\"schema_version\""},
      {"NewerVersion", replace("\"schema_version\": 1", "\"schema_version\": 2"), 2, "expected 1"},
      {"VersionAsText", replace("\"schema_version\": 1", "\"schema_version\": \"1\""), 2, "whole"},
      {"UnknownWord", replace("\"machine\"", "\"maschine\""), 4, "maschine: expected one of"},
      {"NoFingerprint", replace("  \"fingerprint\": \"0123456789abcdef\",\n", ""), 1,
       "\"fingerprint\""},
      {"ShortFingerprint", replace("9abcdef", "9abcde"), 3, "16 lower-case hex"},
      {"Release", replace("2.30.7", "2.30"), 6, "NCCL release"},
      {"Time", replace("18:00:00Z", "18:00"), 7, "a time"},
      {"BestOutOfRange", replace("\"best_environment\": 0", "\"best_environment\": 1"), 8,
       "0 to 0"},
      {"BestNegative", replace("\"best_environment\": 0", "\"best_environment\": -1"), 8, "whole"},
      {"OtherVariable", replace("NCCL_P2P_LEVEL", "LD_PRELOAD"), 10, "NCCL_"},
      {"VariableAsNumber", replace("\"SYS\"", "5"), 10, "text in quotes"},
      {"SpeedupZero", replace("1.31", "0"), 10, "speedup: expected a number"},
      {"HalfAByte", replace("\"memory_bytes\": 0", "\"memory_bytes\": 0.5"), 10, "whole"},
      {"UnsafeWithoutEvidence", replace(", \"evidence\": \"wrong sum on GPU 3\"", ""), 19,
       "\"evidence\""},
  };
}

std::vector<Malformed> broken_rules() {
  return {
      {"OneRank", replace("\"ranks\": 2", "\"ranks\": 1"), 11, "2 to 1024"},
      {"RanksAndGpusDiffer", replace("[0, 1],", "[0, 1, 2],"), 11, "one position a rank"},
      {"GpusOutOfOrder", replace("[0, 1],", "[1, 0],"), 11, "in order"},
      {"GpuNegative", replace("[0, 1],", "[-1, 1],"), 11, "whole"},
      {"VerifiedAsNumber", replace("false", "0"), 12, "true or false"},
      {"UnknownAlgorithm", replace("tree/ll/4", "ring2/ll/4"), 14, "ALGORITHM"},
      {"UnknownProtocol", replace("tree/ll/4", "tree/llx/4"), 14, "ALGORITHM"},
      {"NoProtocol", replace("tree/ll/4", "tree"), 14, "ALGORITHM"},
      {"ChannelsNegative", replace("tree/ll/4", "tree/ll/-1"), 14, "channels 1 to 64"},
      {"ChannelsZero", replace("tree/ll/4", "tree/ll/0"), 14, "channels 1 to 64"},
      {"Channels65", replace("tree/ll/4", "tree/ll/65"), 14, "channels 1 to 64"},
      {"Channels127", replace("tree/ll/4", "tree/ll/127"), 14, "channels 1 to 64"},
      {"Channels256", replace("tree/ll/4", "tree/ll/256"), 14, "channels 1 to 64"},
      {"Channels300", replace("tree/ll/4", "tree/ll/300"), 14, "channels 1 to 64"},
      {"ChannelsHuge", replace("tree/ll/4", "tree/ll/2147483648"), 14, "channels 1 to 64"},
      {"ChannelsWord", replace("tree/ll/4", "tree/ll/abc"), 14, "channels 1 to 64"},
      {"ChannelsEmpty", replace("tree/ll/4", "tree/ll/"), 14, "channels 1 to 64"},
      {"ChannelsSpace", replace("tree/ll/4", "tree/ll/4 "), 14, "channels 1 to 64"},
      {"Ll128NotVerified", replace("tree/ll/4", "tree/ll128/4"), 14, "LL128"},
      {"BytesNegative", replace("14336,", "-14336,"), 14, "whole"},
      {"BytesZero", replace("14336,", "0,"), 14, "whole"},
      {"BytesInverted", replace("28672]", "14335]"), 14, "lower end first"},
      {"BytesThree", replace("28672]", "28672, 3]"), 14, "[low, high]"},
      {"Overlap", replace("28672]", "57344]"), 15, "in one rule at most"},
      {"HalfTheEvidence", replace(", \"samples\": 40", ""), 14, "\"samples\""},
      {"NoSamples", replace("\"samples\": 40", "\"samples\": 0"), 14, "samples"},
      {"NegativeTime", replace("\"us\": 22.3", "\"us\": -22.3"), 14, "us: expected a number"},
      {"IntervalInverted", replace("[2.1, 2.25]", "[2.25, 2.1]"), 14, "inside its interval"},
      {"GainNotShown", replace("[2.1, 2.25]", "[1.02, 2.25]"), 14, "above 1.03"},
      {"ChoiceMissing", replace(", \"choice\": \"ring/ll\"", ""), 15, "\"choice\""},
      {"StockWhereARuleIs",
       replace("\"ring/ll\"}\n      ]}", "\"ring/ll\"}\n      ], \"stock_stays\": [20000]}"), 16,
       "a size without a rule"},
      {"StockAtNoSize",
       replace("\"ring/ll\"}\n      ]}", "\"ring/ll\"}\n      ], \"stock_stays\": [0]}"), 16,
       "whole"},
      {"UnsafeWhereARuleIs",
       replace("\"ring/ll\"}\n      ]}",
               R"("ring/ll"}
      ], "unsafe": [{"choice": "tree/ll/4", "evidence": "hung"}]})"),
       16, "a choice that no rule of the group asks for"},
      {"UnsafeIsNoChoice",
       replace("\"ring/ll\"}\n      ]}",
               R"("ring/ll"}
      ], "unsafe": [{"choice": "tree", "evidence": "hung"}]})"),
       16, "ALGORITHM/PROTOCOL/CHANNELS"},
      {"UnknownWordInARule", replace("\"us\": 22.3", "\"ms\": 22.3"), 14, "ms: expected one of"},
      {"GroupTwice",
       replace("      ]}\n", R"(      ]}, {"ranks": 2, "gpus": [0, 1], "ll128_verified": true,
       "rules": []}
)"),
       16, "once in an environment"},
      {"EnvironmentTwice", replace("    ]}\n  ],", R"(    ]},
    {"variables": {"NCCL_P2P_LEVEL": "SYS"}, "speedup": 1, "memory_bytes": 0, "groups": []}
  ],)"),
       18, "each environment once"},
  };
}

std::string name_case(const testing::TestParamInfo<Malformed>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Syntax, MalformedProfile, ::testing::ValuesIn(broken_syntax()), name_case);
INSTANTIATE_TEST_SUITE_P(Head, MalformedProfile, ::testing::ValuesIn(broken_head()), name_case);
INSTANTIATE_TEST_SUITE_P(Rules, MalformedProfile, ::testing::ValuesIn(broken_rules()), name_case);

TEST(ProfileFile, ChannelsAbove32NeedNccl225) {
  const auto old_release = [](const char* channels) {
    return replace("2.30.7", "2.24.3")
        .replace(replace("2.30.7", "2.24.3").find("ll/4"), 4, channels);
  };

  EXPECT_NO_THROW((void)parse_profile(old_release("ll/32"), "x"));
  EXPECT_THROW((void)parse_profile(old_release("ll/33"), "x"), Error);
}

TEST(ProfileFile, EveryPrefixOfAFileIsRefused) {
  const auto end = valid.rfind('}');
  for (std::size_t length = 0; length <= end; ++length)
    EXPECT_THROW((void)parse_profile(valid.substr(0, length), "x"), Error) << length;
}

}  // namespace
}  // namespace lanewise::host
