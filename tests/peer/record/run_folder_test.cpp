#include "peer/record/run_folder.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/scratch_folder.h"
#include "tests/text_of.h"

namespace gv {
namespace {

mode_t mode_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777;
}

/// run.json holds the fleet's digest, with which a stranger could pass for a peer.
TEST(RunFolder, IsItsOwnersAlone) {
  const ScratchFolder scratch;
  const RunFolder folder = RunFolder::make(scratch.path() + "/runs/ring8");
  folder.write("run.json", "{}\n");
  EXPECT_EQ(mode_of(folder.path()), 0700U);
  EXPECT_EQ(mode_of(folder.file("run.json")), 0600U);
  ASSERT_EQ(::symlink(folder.file("run.json").c_str(), folder.file("link").c_str()), 0);
  folder.write("link", "x");
  EXPECT_EQ(text_of(folder.file("run.json")), "{}\n") << "what a link points to is not written to";
  EXPECT_FALSE(std::filesystem::is_symlink(folder.file("link")));
}

TEST(RunFolder, TakesTheNextNameWhenThereIsOneAlready) {
  const ScratchFolder scratch;
  const std::string wanted = scratch.path() + "/runs/ring8";
  EXPECT_EQ(RunFolder::make(wanted).path(), wanted);
  EXPECT_EQ(RunFolder::make(wanted).path(), wanted + "-2");
  EXPECT_EQ(RunFolder::open(wanted).path(), wanted);
  EXPECT_THROW(RunFolder::open(wanted + "-3"), std::runtime_error);
  EXPECT_THROW(RunFolder::make("/proc/nowhere/ring8"), std::runtime_error);
}

}  // namespace
}  // namespace gv
