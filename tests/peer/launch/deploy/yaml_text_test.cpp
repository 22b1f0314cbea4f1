#include <gtest/gtest.h>

#include "peer/fleet/file/source.h"
#include "peer/launch/deploy/deploy.h"

namespace gv {
namespace {

std::string read_back(const std::string& scalar) {
  Source source("text");
  const Value root = source.parse_text("a:\n  b: " + scalar + "\n  c: 1\n");
  EXPECT_TRUE(source.diagnostics().empty()) << scalar;
  const Value::Entry* const a = root.find("a");
  return a->value.find("b")->value.text;
}

TEST(YamlText, ABlockIsReadBackToTheByte) {
  for (const char* text : {"", "a", "a\n", "a\n\n", "\na\n", "  begins: with spaces\nb: 1\n",
                           "version: 1\n# über\n--- \n- \"x\"\n", "a: |\n  b\n"}) {
    ASSERT_TRUE(fits_yaml_block(text));
    EXPECT_EQ(read_back(yaml_block(text, 2)), text);
  }
}

TEST(YamlText, AWordIsReadBackToTheByte) {
  for (const char* text : {"", "yes", "012", "a: b", "#", "\"q\" \\ $(X)", "- a", "{id}.ü"})
    EXPECT_EQ(read_back(yaml_word(text)), text);
}

TEST(YamlText, BytesThatAreNoTextAreNoBlock) {
  for (const char* text : {"a\tb", "a\r\n", "\x93NUMPY", "\xC3"})
    EXPECT_FALSE(fits_yaml_block(text));
}

}  // namespace
}  // namespace gv
