#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer/launch/process/launcher_line.h"
#include "peer/launch/process/process.h"
#include "tests/peer/launch/program.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

/// A file that is open in the launcher, such as metrics.jsonl, is not open in the program.
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

/// The help of a script's error is on the lines after it.
TEST(Child, TheLastWordsAreTheErrorAndNotItsHelp) {
  std::string words;
  for (const char* line : {"help: alone it is all there is", "Traceback:", "  File x", "Error: no",
                           "help: do", "", "1 error in fleet.yaml"})
    keep_last_words(words, line);
  EXPECT_EQ(words, "Error: no");
  words.clear();
  keep_last_words(words, "help: alone it is all there is");
  EXPECT_EQ(words, "help: alone it is all there is");
}

/// A process that never ends its line would otherwise fill the memory of its reader.
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

/// A forked process that holds the program's descriptors ends with the program.
TEST(Child, LeavesNobodyBehind) {
  Child child({"sh", "-c", "sleep 1000 & echo $!"});
  pid_t sleeper = 0;
  hear_out(
      child, [&](const std::string& line) { sleeper = std::stoi(line); },
      [](const std::string&) {});
  EXPECT_EQ(child.ending(), "exit 0");
  ASSERT_GT(sleeper, 0);
  EXPECT_TRUE(comes_true([&] { return !alive(sleeper); }));
}

TEST(Child, LeavesNobodyBehindWhenItIsGivenUp) {
  pid_t sleeper = 0;
  {
    Child child({"sh", "-c", "sleep 1000 & echo $!; wait"});
    ASSERT_TRUE(comes_true([&] {
      for (const std::string& line : child.take_output()) sleeper = std::stoi(line);
      return sleeper > 0;
    }));
  }
  EXPECT_TRUE(comes_true([&] { return !alive(sleeper); }));
}

/// Both ends of a channel for vectors, and files in memory that are too large.
class VectorChannel : public testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    ours_ = Descriptor(ends[0]);
    theirs_ = Descriptor(ends[1]);
  }
  void send_file(off_t bytes, std::byte follow) {
    const Descriptor file(::memfd_create("sparse", MFD_CLOEXEC));
    ASSERT_EQ(::ftruncate(file.get(), bytes), 0);
    ASSERT_EQ(send_with_descriptor(theirs_.get(), {&follow, 1}, file.get(), 0), 1);
  }

  Descriptor ours_, theirs_;
};

TEST_F(VectorChannel, TakesNoMemoryForWhatIsTooLong) {
  send_file(off_t{4} << 40, std::byte{0});
  EXPECT_EQ(receive_vector(ours_.get(), 12), nullptr);
  const std::vector<float> three{1, 2, 3};
  send_vector(theirs_.get(), three);
  const Payload x = receive_vector(ours_.get(), 12);
  ASSERT_NE(x, nullptr);
  EXPECT_TRUE(std::ranges::equal(x->floats(), three));
  send_vector(theirs_.get(), three);
  EXPECT_EQ(receive_vector(ours_.get(), 11), nullptr);
}

/// The sum of all sizes overflows to less than one size.
TEST_F(VectorChannel, AddsSizesUpWithoutWrappingAround) {
  constexpr off_t most = std::numeric_limits<off_t>::max();
  send_file(8, std::byte{3});
  send_file(most - 8, std::byte{2});
  send_file(most - 8, std::byte{1});
  send_file(16, std::byte{0});
  EXPECT_EQ(receive_vector(ours_.get(), std::size_t{1} << 20), nullptr);
}

TEST_F(VectorChannel, KeepsNoMoreDescriptorsThanAVectorHas) {
  for (int k = 0; k < 200; ++k) send_file(0, std::byte{1});
  EXPECT_EQ(receive_vector(ours_.get(), 12), nullptr);
}

/// A stopped peer once blocked its launcher as soon as the pipe between the two was full. It must
/// receive the queued lines when it continues.
TEST(Child, StandsStillAndHoldsNobodyUp) {
  Child child({"sh", "-c", "read go; echo $go; exec wc -l"});
  ::kill(child.pid(), SIGSTOP);
  constexpr int lines = 20'000;
  for (int k = 0; k < lines; ++k) child.tell("an order of the launcher");
  ::kill(child.pid(), SIGCONT);
  std::string said;
  while (said.empty()) {
    std::vector<pollfd> fds;
    child.add_to(fds);
    ::poll(fds.data(), fds.size(), -1);
    for (const std::string& line : child.take_output()) said += line;
  }
  EXPECT_EQ(said, "an order of the launcher");
  for (int k = 0; k < 1'000'000; ++k) child.tell("what nobody could keep");
}

}  // namespace
}  // namespace gv
