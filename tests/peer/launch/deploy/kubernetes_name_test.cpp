#include <set>

#include <gtest/gtest.h>

#include "peer/launch/deploy/deploy.h"

namespace gv {
namespace {

TEST(KubernetesName, KeepsWhatFits) {
  for (const char* name :
       {"a", "ring8", "fashion-ring8", "a23456789012345678901234567890123456789"})
    EXPECT_EQ(object_name(name), name);
  EXPECT_EQ(object_name("Ring8"), "ring8");
}

TEST(KubernetesName, OfAnyTextIsOneAndOfTwoTextsAreTwo) {
  std::set<std::string> names;
  const std::string long_name(80, 'x');
  const std::vector<std::string> texts = {"",           "-",
                                          "7",          "8 peers",
                                          "a_b",        "a.b",
                                          "a b",        "a--b",
                                          "-a",         "a-",
                                          "über",       "\xF0\x9F\x8D\x87",
                                          "it's $(rm)", "\nkind: Secret",
                                          long_name,    long_name + "y"};
  for (const std::string& text : texts) {
    const std::string name = object_name(text);
    EXPECT_TRUE(is_object_name(name)) << text << " -> " << name;
    EXPECT_TRUE(names.insert(name).second) << text << " -> " << name;
  }
}

TEST(KubernetesName, RefusesWhatAServiceRefuses) {
  for (const char* name : {"", "8a", "-a", "a-", "A", "a.b", "a b", "ü"})
    EXPECT_FALSE(is_object_name(name)) << name;
  EXPECT_TRUE(is_object_name(std::string(longest_object_name, 'a')));
  EXPECT_FALSE(is_object_name(std::string(longest_object_name + 1, 'a')));
  for (const char* name : {"8a", "a.b", "data"}) EXPECT_TRUE(is_claim_name(name)) << name;
  for (const char* name : {"", ".a", "a..b", "a/b", "A"}) EXPECT_FALSE(is_claim_name(name)) << name;
}

TEST(KubernetesName, KnowsQuantitiesAndImages) {
  for (const char* text : {"1", "500m", "1.5Gi", "64Mi"}) EXPECT_TRUE(is_quantity(text)) << text;
  for (const char* text : {"", "Gi", "1.", ".5", "1GB", "-1", "1 Gi", "1.2.3", "1e3\n"})
    EXPECT_FALSE(is_quantity(text)) << text;
  EXPECT_TRUE(is_image("registry.example:5000/team/grapevine:0.2@sha256:00ff"));
  for (const char* text : {"", "a b", "-a", "a\"", "a\nb"}) EXPECT_FALSE(is_image(text)) << text;
}

}  // namespace
}  // namespace gv
