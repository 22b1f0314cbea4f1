#include <cmath>

#include <gtest/gtest.h>

#include "peer/fleet/json/json.h"

namespace gv {
namespace {

const char* const document =
    R"({"text":"t","yes":true,"port":65535,"more":65536,"less":-1,"real":0.5,"none":null})";

TEST(JsonMember, GivesWhatIsThere) {
  const JsonValue json = parse_json(document, "test");
  EXPECT_EQ(json_text(json, "text"), "t");
  EXPECT_TRUE(json_boolean(json, "yes"));
  EXPECT_EQ(json_integer<std::uint16_t>(json, "port"), 65535);
  EXPECT_EQ(json_integer<std::int64_t>(json, "less"), -1);
  EXPECT_EQ(json_number(json, "real"), 0.5);
  EXPECT_TRUE(std::isnan(json_number(json, "none")));
}

TEST(JsonMember, RefusesWhatIsMissingOfAnotherKindOrOutOfRange) {
  const JsonValue json = parse_json(document, "test");
  EXPECT_THROW(json_member(json, "nowhere"), std::runtime_error);
  EXPECT_THROW(json_text(json, "port"), std::runtime_error);
  EXPECT_THROW(json_boolean(json, "none"), std::runtime_error);
  EXPECT_THROW(json_number(json, "text"), std::runtime_error);
  EXPECT_THROW(json_integer<std::uint16_t>(json, "more"), std::runtime_error);
  EXPECT_THROW(json_integer<std::uint16_t>(json, "less"), std::runtime_error);
  EXPECT_THROW(json_integer<int>(json, "real"), std::runtime_error);
  EXPECT_THROW(json_integer<int>(json, "none"), std::runtime_error);
  EXPECT_THROW(json_integer<int>(json_member(json, "text"), "port"), std::runtime_error);
}

}  // namespace
}  // namespace gv
