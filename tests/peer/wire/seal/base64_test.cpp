#include <gtest/gtest.h>

#include "peer/wire/seal/peer_keys.h"

namespace gv {
namespace {

/// RFC 4648, section 10.
TEST(Base64, AgreesWithItsStandard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(std::string_view("\xff\x00\xfe", 3)), "/wD+");
}

}  // namespace
}  // namespace gv
