#include "peer/launch/child.h"

#include <algorithm>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "peer/launch/hear.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

/// A file that is open in the launcher, as metrics.jsonl is, is none of the program's.
TEST(Child, HasNoFilesOfItsLauncher) {
  const ScratchFolder folder;
  const std::ofstream open(folder.path() + "/metrics.jsonl");
  Child child({"sh", "-c", "ls -l /proc/$$/fd"});
  std::string said;
  hear_out(
      child, [&](const std::string& line) { said += line + "\n"; }, [](const std::string&) {});
  EXPECT_NE(said.find("1 -> pipe:"), std::string::npos) << said;
  EXPECT_EQ(said.find("metrics.jsonl"), std::string::npos) << said;
}

/// A process that never ends its line would otherwise take all memory of who hears it.
TEST(Child, HearsALineWithoutEndInPieces) {
  constexpr std::size_t longest = std::size_t{64} << 20;
  Child child({"sh", "-c", "head -c 70000000 /dev/zero | tr '\\0' a; echo; echo b"});
  std::size_t bytes = 0;
  std::size_t most = 0;
  std::string last;
  hear_out(
      child,
      [&](const std::string& line) {
        bytes += line.size();
        most = std::max(most, line.size());
        last = line;
      },
      [](const std::string&) {});
  EXPECT_EQ(bytes, 70'000'001U);
  EXPECT_LT(most, longest + 100'000);
  EXPECT_EQ(last, "b");
}

}  // namespace
}  // namespace gv
