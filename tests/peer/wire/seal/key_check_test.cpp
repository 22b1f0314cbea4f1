#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "peer/wire/seal/tls_context.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

class CheckedKeys : public testing::Test {
 protected:
  CheckedKeys() { write_key_files(folder_, make_keys(4)); }
  std::string path(PeerId id) const { return folder_ + "/" + key_file_name(id); }

  ScratchFolder scratch_;
  const std::string folder_ = scratch_.path() + "/keys";
};

TEST_F(CheckedKeys, OfOneFleetAreFine) {
  const KeyCheck check = check_key_files(folder_, 4);
  EXPECT_EQ(check.good, (std::vector<PeerId>{0, 1, 2, 3}));
  EXPECT_TRUE(check.findings.empty());
  EXPECT_EQ(check.fleet.size(), 32U);
}

TEST_F(CheckedKeys, MayLieOnOtherMachines) {
  fs::remove(path(1));
  const KeyCheck check = check_key_files(folder_, 4);
  EXPECT_EQ(check.missing, std::vector<PeerId>{1});
  EXPECT_TRUE(check.findings.empty());
  EXPECT_TRUE(check_key_files(scratch_.path() + "/none", 4).good.empty());
}

TEST_F(CheckedKeys, ThatOthersMayReadAreFound) {
  fs::permissions(path(2), fs::perms::group_read, fs::perm_options::add);
  const KeyCheck check = check_key_files(folder_, 4);
  ASSERT_EQ(check.findings.size(), 1U);
  EXPECT_NE(check.findings[0].find("peer-2.pem: others may read it"), std::string::npos);
  EXPECT_NE(check.findings[0].find("help:  chmod 600"), std::string::npos);
}

TEST_F(CheckedKeys, OfAnotherFleetAndOfAnotherPeerAreFound) {
  const std::string other = scratch_.path() + "/other";
  write_key_files(other, make_keys(4));
  fs::copy_file(other + "/peer-3.pem", path(3), fs::copy_options::overwrite_existing);
  fs::copy_file(path(0), path(1), fs::copy_options::overwrite_existing);
  const KeyCheck check = check_key_files(folder_, 4);
  EXPECT_EQ(check.good, (std::vector<PeerId>{0, 2}));
  ASSERT_EQ(check.findings.size(), 2U);
  EXPECT_NE(check.findings[0].find("holds the keys of peer 0, and this is peer 1"),
            std::string::npos)
      << check.findings[0];
  EXPECT_NE(check.findings[1].find("peer-3.pem: holds keys of another fleet"), std::string::npos)
      << check.findings[1];
  EXPECT_NE(check.findings[1].find("help:"), std::string::npos);
}

TEST_F(CheckedKeys, ThatAreNoneAreFound) {
  std::ofstream(path(0), std::ios::trunc) << "nothing";
  const KeyCheck check = check_key_files(folder_, 4);
  ASSERT_EQ(check.findings.size(), 1U);
  EXPECT_NE(check.findings[0].find("does not hold a private key"), std::string::npos);
}

}  // namespace
}  // namespace gv
