// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/engines/models_file.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace lanewise::host {
namespace {

TEST(Models, KnowTheModelOfTheMission) {
  const auto model = find_model("deepseek-v3");

  EXPECT_EQ(model.hidden, 7168U);
  EXPECT_EQ(model.calls(), 122);
}

TEST(Models, NameThoseThereAreForOneThatIsNot) {
  try {
    (void)find_model("gpt-9");
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with("model gpt-9: expected one of ")) << text;
    EXPECT_NE(text.find("deepseek-v3, "), std::string::npos) << text;
  }
}

TEST(Models, AreRefusedWithTheirLine) {
  try {
    (void)parse_models("{\"schema_version\": 1, \"models\": [\n{\"name\": \"x\", \"hidden\": 0}]}",
                       "models.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("models.json:2: "), 0U) << error.what();
  }
}

}  // namespace
}  // namespace lanewise::host
