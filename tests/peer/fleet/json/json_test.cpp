#include "peer/fleet/json/json.h"

#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "optim/rng.h"

namespace gv {
namespace {

// Another library reads the JSON that ours writes.
nlohmann::ordered_json read_back(const Json& json, int indent = 0) {
  return nlohmann::ordered_json::parse(json.dump(indent));
}

TEST(Json, ADocumentReadsBackAsItWasMade) {
  Json json{{"name", "a \"ring\"\n\t\\ of 3"},
            {"none", nullptr},
            {"yes", true},
            {"whole", std::numeric_limits<std::uint64_t>::max()},
            {"negative", std::numeric_limits<std::int64_t>::min()},
            {"real", 0.1},
            {"list", std::vector<int>{1, 2, 3}},
            {"empty", Json::array()},
            {"nothing", Json::object()},
            {"missing", std::optional<double>()}};
  json["added"]["deep"] = 2;
  json["list"].push_back("four");
  for (const int indent : {0, 2}) {
    const auto back = read_back(json, indent);
    EXPECT_EQ(back.at("name"), "a \"ring\"\n\t\\ of 3");
    EXPECT_TRUE(back.at("none").is_null());
    EXPECT_EQ(back.at("yes"), true);
    EXPECT_EQ(back.at("whole"), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(back.at("negative"), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(back.at("real"), 0.1);
    EXPECT_EQ(back.at("list").dump(), "[1,2,3,\"four\"]");
    EXPECT_EQ(back.at("empty").dump(), "[]");
    EXPECT_EQ(back.at("nothing").dump(), "{}");
    EXPECT_TRUE(back.at("missing").is_null());
    EXPECT_EQ(back.at("added").at("deep"), 2);
    EXPECT_EQ(back.begin().key(), "name") << "members keep their order";
    EXPECT_EQ(std::prev(back.end()).key(), "added");
  }
  EXPECT_EQ(json.dump().find('\n'), std::string::npos);
}

TEST(Json, EveryNumberReadsBackToTheBit) {
  Rng rng(5);
  for (int k = 0; k < 20'000; ++k) {
    const std::uint64_t bits = rng.bits();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    const auto back = read_back(Json(value));
    if (std::isfinite(value)) {
      ASSERT_EQ(back.get<double>(), value) << Json(value).dump();
      ASSERT_TRUE(back.is_number_float()) << Json(value).dump();
    } else {
      ASSERT_TRUE(back.is_null());
    }
  }
  EXPECT_EQ(Json(1.0).dump(), "1.0");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).dump(), "null");
}

/// A fleet name that is not UTF-8 once cost the trained model: its summary could not be written.
TEST(Json, TextThatIsNotUtf8IsWrittenAllTheSame) {
  EXPECT_EQ(read_back(Json("gr\xC3\xBC\xC3\x9F \xF0\x9F\x8D\x87")), "gr\u00FC\u00DF \U0001F347");
  for (const char* bad : {"\xFF", "\xC3",
                          "\xC0\xAF",          // overlong
                          "\xED\xA0\x80",      // a surrogate
                          "\xF4\x90\x80\x80",  // above U+10FFFF
                          "\x80"})
    EXPECT_TRUE(
        read_back(Json(std::string("a") + bad + "b")).get<std::string>().starts_with("a\uFFFD"));
  Rng rng(7);
  for (int k = 0; k < 5'000; ++k) {
    std::string bytes;
    for (std::uint64_t n = rng.below(12); n > 0; --n)
      bytes += static_cast<char>(static_cast<unsigned char>(rng.below(256)));
    ASSERT_NO_THROW(read_back(Json{{bytes, bytes}}));
  }
}

TEST(Json, WhatIsAddedIsAMember) {
  Json json;
  json.add("a", 1);
  json.add("b", Json::array());
  json["b"].push_back(2);
  EXPECT_EQ(json.dump(), R"({"a":1,"b":[2]})");
}

TEST(Json, AnUpdateReplacesAndAppends) {
  Json json{{"a", 1}, {"b", 2}};
  json.update({{"b", 3}, {"c", 4}});
  EXPECT_EQ(json.dump(), "{\"a\":1,\"b\":3,\"c\":4}");
}

}  // namespace
}  // namespace gv
