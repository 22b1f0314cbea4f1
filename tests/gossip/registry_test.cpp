#include "gossip/registry.h"

#include <gtest/gtest.h>

namespace gv {
namespace {

TEST(Registry, FindsAlgorithmsByKindAndOrder) {
  EXPECT_EQ(find_algorithm("d-psgd", "")->run, d_psgd_lian);
  EXPECT_EQ(find_algorithm("d-psgd", "cta")->run, d_psgd_cta);
  EXPECT_EQ(find_algorithm("d-psgd", "sideways"), nullptr);
  EXPECT_EQ(find_algorithm("gossip", ""), nullptr);
}

}  // namespace
}  // namespace gv
