#include <functional>
#include <memory>
#include <set>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "peer/record/disk/posix_disk.h"
#include "peer/sim/trial.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

using Bytes = std::vector<std::byte>;
using Names = std::vector<std::string>;

Bytes bytes(std::size_t count, int seed = 1) {
  Bytes values(count);
  for (std::size_t k = 0; k < count; ++k)
    values[k] = static_cast<std::byte>(k * 31 + k / 256 + static_cast<std::size_t>(seed));
  return values;
}

Bytes read(Disk& disk, const std::string& path) {
  Bytes content;
  EXPECT_EQ(disk.read(path, content), "") << path;
  return content;
}

Names list(Disk& disk, const std::string& folder) {
  Names names;
  EXPECT_EQ(disk.list(folder, names), "") << folder;
  return names;
}

struct Kind {
  const char* name;
  std::unique_ptr<Disk> (*make)();
};

/// The guarantees of every disk while the power is on.
class AnyDisk : public testing::TestWithParam<Kind> {
 protected:
  AnyDisk() { EXPECT_EQ(disk_->make_folder(folder_), ""); }

  ScratchFolder scratch_;
  std::unique_ptr<Disk> disk_ = GetParam().make();
  std::string folder_ = scratch_.path() + "/a/b";
};

TEST_P(AnyDisk, ReadsWhatWasWritten) {
  for (const std::size_t count : {0UL, 1UL, 4095UL, 4096UL, 4097UL, 100'000UL}) {
    ASSERT_EQ(disk_->write(folder_ + "/f", bytes(count)), "");
    ASSERT_EQ(disk_->sync(folder_ + "/f"), "");
    EXPECT_EQ(read(*disk_, folder_ + "/f"), bytes(count));
  }
  ASSERT_EQ(disk_->write(folder_ + "/f", bytes(7)), "");  // shorter: nothing of the old stays
  EXPECT_EQ(read(*disk_, folder_ + "/f"), bytes(7));
}

TEST_P(AnyDisk, RenamesOverAndRemoves) {
  ASSERT_EQ(disk_->write(folder_ + "/old", bytes(10, 1)), "");
  ASSERT_EQ(disk_->write(folder_ + "/new", bytes(10, 2)), "");
  ASSERT_EQ(disk_->write(folder_ + "/a", bytes(1)), "");
  EXPECT_EQ(list(*disk_, folder_), (Names{"a", "new", "old"}));
  ASSERT_EQ(disk_->rename(folder_ + "/new", folder_ + "/old"), "");
  EXPECT_EQ(read(*disk_, folder_ + "/old"), bytes(10, 2));
  ASSERT_EQ(disk_->remove(folder_ + "/a"), "");
  ASSERT_EQ(disk_->sync_folder(folder_), "");
  EXPECT_EQ(list(*disk_, folder_), Names{"old"});
}

TEST_P(AnyDisk, SaysWhatIsMissing) {
  const Verdict missing = "No such file or directory";
  Bytes content;
  EXPECT_EQ(disk_->read(folder_ + "/f", content), missing);
  EXPECT_EQ(disk_->sync(folder_ + "/f"), missing);
  EXPECT_EQ(disk_->rename(folder_ + "/f", folder_ + "/g"), missing);
  EXPECT_EQ(disk_->remove(folder_ + "/f"), missing);
  EXPECT_EQ(disk_->sync_folder(folder_ + "/c"), missing);
  EXPECT_EQ(disk_->write(folder_ + "/c/f", bytes(1)), missing);
  EXPECT_EQ(list(*disk_, folder_ + "/c"), Names{});
}

TEST_P(AnyDisk, AFolderMayBeMadeTwice) {
  ASSERT_EQ(disk_->write(folder_ + "/f", bytes(1)), "");
  EXPECT_EQ(disk_->make_folder(folder_), "");
  EXPECT_EQ(list(*disk_, folder_), Names{"f"});
}

INSTANTIATE_TEST_SUITE_P(
    Every,
    AnyDisk,
    testing::Values(
        Kind{"Posix", [] { return std::unique_ptr<Disk>(std::make_unique<PosixDisk>()); }},
        Kind{"Quick", [] { return std::unique_ptr<Disk>(std::make_unique<QuickDisk>()); }},
        Kind{"Sim", [] { return std::unique_ptr<Disk>(std::make_unique<SimDisk>()); }}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(PosixDisk, SaysWhenItIsFull) {
  struct stat info {};
  if (::stat("/dev/full", &info) != 0 || !S_ISCHR(info.st_mode)) GTEST_SKIP() << "no /dev/full";
  EXPECT_EQ(PosixDisk().write("/dev/full", bytes(5000)), "No space left on device");
}

TEST(PosixDisk, RefusesAFileInPlaceOfAFolder) {
  const ScratchFolder scratch;
  PosixDisk disk;
  ASSERT_EQ(disk.write(scratch.path() + "/f", bytes(1)), "");
  EXPECT_EQ(disk.make_folder(scratch.path() + "/f"), "File exists");
  EXPECT_EQ(disk.make_folder(scratch.path() + "/f/g"), "File exists");
}

TEST(SimDisk, IsFullAtItsCapacity) {
  SimDisk disk(3 * SimDisk::page_bytes);
  ASSERT_EQ(disk.write("a", bytes(1)), "");
  EXPECT_EQ(disk.used_bytes(), SimDisk::page_bytes);
  EXPECT_EQ(disk.write("b", bytes(10'000)), "No space left on device");
  EXPECT_EQ(read(disk, "b"), bytes(8192));
  ASSERT_EQ(disk.remove("a"), "");
  EXPECT_EQ(disk.write("b", bytes(10'000)), "");
}

TEST(SimDisk, FailsOnceOnDemand) {
  SimDisk disk;
  disk.fail_after(1, true);
  EXPECT_EQ(disk.write("a", bytes(10)), "");
  EXPECT_EQ(disk.write("a", bytes(10)), "Input/output error");
  EXPECT_EQ(read(disk, "a").size(), 5U);
  EXPECT_EQ(disk.write("a", bytes(10)), "");
}

TEST(SimDisk, WithoutPowerNothingHappens) {
  SimDisk disk;
  disk.lose_power_after(1);
  EXPECT_EQ(disk.write("a", bytes(10)), "");
  EXPECT_NE(disk.sync("a"), "");
  EXPECT_NE(disk.remove("a"), "");
  disk.crash(1);
  EXPECT_EQ(disk.write("b", bytes(1)), "");
}

std::string text(const Bytes& content) {
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

/// Returns the possible states after `prepare` and a loss of power, over many seeds.
std::set<std::string> outcomes(const std::function<void(SimDisk&)>& prepare,
                               const std::string& path) {
  std::set<std::string> found;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SimDisk disk;
    prepare(disk);
    disk.crash(seed);
    Bytes content;
    const bool there = disk.read(path, content).empty();
    found.insert(there ? text(content) : "gone");
  }
  return found;
}

TEST(SimDisk, WhatIsSyncedSurvives) {
  const auto prepare = [](SimDisk& disk) {
    ASSERT_EQ(disk.write("a", bytes(5000)), "");
    ASSERT_EQ(disk.sync("a"), "");
    ASSERT_EQ(disk.sync_folder("."), "");
  };
  EXPECT_EQ(outcomes(prepare, "a"), std::set<std::string>{text(bytes(5000))});
}

TEST(SimDisk, AFileWhoseFolderIsNotSyncedMayBeGone) {
  const auto prepare = [](SimDisk& disk) {
    ASSERT_EQ(disk.write("a", bytes(5000)), "");
    ASSERT_EQ(disk.sync("a"), "");
  };
  EXPECT_EQ(outcomes(prepare, "a"), (std::set<std::string>{text(bytes(5000)), "gone"}));
}

TEST(SimDisk, ARenameIsAllOrNothing) {
  const auto prepare = [](SimDisk& disk) {
    for (const int version : {1, 2}) {
      ASSERT_EQ(disk.write("new", bytes(5000, version)), "");
      ASSERT_EQ(disk.sync("new"), "");
      ASSERT_EQ(disk.rename("new", "a"), "");
      if (version == 1) {
        ASSERT_EQ(disk.sync_folder("."), "");
      }
    }
  };
  EXPECT_EQ(outcomes(prepare, "a"),
            (std::set<std::string>{text(bytes(5000, 1)), text(bytes(5000, 2))}));
}

TEST(SimDisk, WhatIsNotSyncedIsLostWholePreservedOrGarbage) {
  const auto prepare = [](SimDisk& disk) {
    ASSERT_EQ(disk.write("a", bytes(4096, 1)), "");
    ASSERT_EQ(disk.sync("a"), "");
    ASSERT_EQ(disk.sync_folder("."), "");
    ASSERT_EQ(disk.write("a", bytes(4096, 2)), "");
  };
  const std::set<std::string> found = outcomes(prepare, "a");
  EXPECT_TRUE(found.contains(text(bytes(4096, 1))));
  EXPECT_TRUE(found.contains(text(bytes(4096, 2))));
  EXPECT_TRUE(found.contains(std::string(4096, 0)));
  EXPECT_GT(found.size(), 10U);  // garbage differs each time
}

mode_t mode_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777;
}

/// Other users of the machine cannot read a model, nor redirect its writing by a link.
TEST(PosixDisk, WritesForItsOwnerAloneAndFollowsNoLink) {
  const ScratchFolder scratch;
  PosixDisk disk;
  const std::string folder = scratch.path() + "/a/b";
  const mode_t before = ::umask(0);
  ASSERT_EQ(disk.make_folder(folder), "");
  ASSERT_EQ(disk.write(folder + "/f", bytes(3)), "");
  ::umask(before);
  EXPECT_EQ(mode_of(scratch.path() + "/a"), 0700U);
  EXPECT_EQ(mode_of(folder), 0700U);
  EXPECT_EQ(mode_of(folder + "/f"), 0600U);
  ASSERT_EQ(::symlink((folder + "/f").c_str(), (folder + "/link").c_str()), 0);
  EXPECT_NE(disk.write(folder + "/link", bytes(9)), "");
  EXPECT_EQ(read(disk, folder + "/f"), bytes(3));
  Bytes content;
  EXPECT_NE(disk.read(folder + "/link", content), "");
}

}  // namespace
}  // namespace gv
