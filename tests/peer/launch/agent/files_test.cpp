#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "optim/printable.h"
#include "peer/launch/agent/transport/agent_frame.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

class AgentFiles : public testing::Test {
 protected:
  AgentFiles() {
    fs::create_directories(from_ / "peers/003/checkpoints");
    fs::create_directories(to_);
  }
  void write(const fs::path& path, const std::string& text) const { std::ofstream(path) << text; }
  FileTaker taker(std::uint64_t most = 1'000'000'000) const {
    return {to_.string(), [](const std::string&) { return true; }, most};
  }
  static std::string piece(const std::string& name, char place, const std::string& bytes) {
    return name + '\0' + place + bytes;
  }

  ScratchFolder scratch_;
  fs::path from_ = fs::path(scratch_.path()) / "from";
  fs::path to_ = fs::path(scratch_.path()) / "to";
};

TEST_F(AgentFiles, ComeHomeWithTheirFolders) {
  const std::string large(3 * agent_piece_bytes / 2, 'x');
  write(from_ / "peers/003/rounds.0.npy", "rounds");
  write(from_ / "peers/003/checkpoints/10", large);
  write(from_ / "peers/003/empty", "");
  fs::create_symlink("/etc/passwd", from_ / "peers/003/link");
  FileTaker taker = this->taker();
  send_files(from_.string(), "peers", [&](const AgentFrame& frame) { taker.take(frame.body); });
  EXPECT_EQ(text_of(to_ / "peers/003/rounds.0.npy"), "rounds");
  EXPECT_EQ(text_of(to_ / "peers/003/checkpoints/10"), large);
  EXPECT_TRUE(fs::exists(to_ / "peers/003/empty"));
  EXPECT_FALSE(fs::exists(to_ / "peers/003/link")) << "links stay where they are";
  const auto mode = fs::status(to_ / "peers/003/empty").permissions();
  EXPECT_EQ(mode, fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(AgentFiles, OfALaterTimeTakeThePlaceOfEarlierOnes) {
  FileTaker taker = this->taker();
  const auto give = [&](const AgentFrame& frame) { taker.take(frame.body); };
  send_text("fleet.yaml", "a long text", give);
  send_text("fleet.yaml", "short", give);
  EXPECT_EQ(text_of(to_ / "fleet.yaml"), "short");
  send_text("fleet.yaml", "", give);
  EXPECT_EQ(text_of(to_ / "fleet.yaml"), "");
}

TEST_F(AgentFiles, DoNotLeaveTheFolder) {
  FileTaker taker = this->taker();
  const std::string long_name(2000, 'a');
  for (const std::string& name :
       std::vector<std::string>{"/etc/x", "../x", "a/../../x", "", "a//b", "a/", ".", long_name}) {
    SCOPED_TRACE(name);
    EXPECT_FALSE(is_below(name));
    EXPECT_THROW(taker.take(piece(name, 3, "x")), std::runtime_error);
  }
  EXPECT_THROW(taker.take("no zero"), std::runtime_error);
  EXPECT_THROW(taker.take(std::string("name\0", 5)), std::runtime_error);
  EXPECT_TRUE(fs::is_empty(to_));
  EXPECT_TRUE(is_below("a/b.c/..d"));
}

/// A link that existed before, instead of a folder or of the file.
TEST_F(AgentFiles, DoNotFollowLinks) {
  fs::create_directory_symlink(from_, to_ / "peers");
  fs::create_symlink(from_ / "victim", to_ / "file");
  FileTaker taker = this->taker();
  EXPECT_THROW(taker.take(piece("peers/x", 3, "x")), std::runtime_error);
  EXPECT_THROW(taker.take(piece("file", 3, "x")), std::runtime_error);
  EXPECT_FALSE(fs::exists(from_ / "x"));
  EXPECT_FALSE(fs::exists(from_ / "victim"));
}

TEST_F(AgentFiles, AreNoMoreThanIsAllowed) {
  FileTaker small = taker(10);
  small.take(piece("a", 3, "12345678"));
  EXPECT_THROW(small.take(piece("b", 3, "123")), std::runtime_error);
  FileTaker picky(
      to_.string(), [](const std::string& name) { return name == "a"; }, 100);
  EXPECT_THROW(picky.take(piece("b", 3, "x")), std::runtime_error);
}

/// Refusals are printed, so a name that an agent chose must not move the cursor.
TEST_F(AgentFiles, NamesInRefusalsArePrintable) {
  FileTaker small = taker(1);
  try {
    small.take(piece("a\x1b[2J", 3, "12"));
    ADD_FAILURE() << "more bytes than are expected";
  } catch (const std::runtime_error& refusal) {
    EXPECT_TRUE(is_printable(refusal.what())) << refusal.what();
  }
}

}  // namespace
}  // namespace gv
