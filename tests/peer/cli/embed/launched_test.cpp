#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer/fleet/json/json.h"
#include "peer/launch/process/control.h"
#include "peer/launch/process/launcher_line.h"
#include "peer/launch/program/program_words.h"
#include "peer/wire/socket/descriptor.h"

// examples/c/train.c as a launcher starts it: it writes to descriptor 5, reads from 4, and sends
// vectors on 3.

namespace gv {
namespace {

const std::string text =
    "version: 1\nseed: 7\npeers: 2\nalgorithm: d-psgd\ntopology: ring\nstop: { rounds: 400 }\n";

class LaunchedProgram {
 public:
  LaunchedProgram(PeerId id, const std::string& task) {
    std::array<int, 2> to{}, from{}, vectors{};
    EXPECT_EQ(::pipe2(to.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(from.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, vectors.data()), 0);
    const std::string peer =
        Json{{"format", "grapevine.peer/1"}, {"text", text},  {"id", id},
             {"listen", "127.0.0.1:0"},      {"log", "none"}, {"control", true}}
            .dump();
    // Numbers above the final ones, so that dup2 closes no descriptor too early.
    const std::array<int, 3> own{::fcntl(vectors[1], F_DUPFD, 20), ::fcntl(to[0], F_DUPFD, 20),
                                 ::fcntl(from[1], F_DUPFD, 20)};
    child_ = ::fork();
    if (child_ == 0) {
      for (int k = 0; k < 3; ++k) ::dup2(own[static_cast<std::size_t>(k)], 3 + k);
      for (const int fd : own) ::close(fd);
      ::setenv("GRAPEVINE_PEER", peer.c_str(), 1);
      ::setenv("GRAPEVINE_TASK", task.c_str(), 1);
      ::execl(GV_TRAIN_IN_C, GV_TRAIN_IN_C, nullptr);
      ::_exit(127);
    }
    for (const int fd : own) ::close(fd);
    ::close(vectors[1]);
    ::close(to[0]);
    ::close(from[1]);
    to_ = Descriptor(to[1]);
    from_ = Descriptor(from[0]);
    vectors_ = Descriptor(vectors[0]);
  }
  ~LaunchedProgram() {
    to_.close();
    if (child_ > 0) wait();
  }

  void tell(const std::string& line) {
    const std::string whole = line + "\n";
    EXPECT_EQ(::write(to_.get(), whole.data(), whole.size()), static_cast<ssize_t>(whole.size()));
  }
  /// Returns its next line, or "" at the end.
  std::string hear() {
    std::string line;
    char c = 0;
    while (::read(from_.get(), &c, 1) == 1 && c != '\n') line += c;
    return line;
  }
  std::vector<float> take_vector() {
    const Payload x = receive_vector(vectors_.get(), std::size_t{1} << 20);
    if (!x) return {};
    return {x->floats().begin(), x->floats().end()};
  }
  void hang_up() { to_.close(); }
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(child_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
  }

 private:
  ::pid_t child_ = 0;
  Descriptor to_, from_, vectors_;
};

/// Reads all messages of the program until it ends, and takes the vectors of its reports.
std::vector<control::PeerSays> hear_out(LaunchedProgram& program, std::vector<float>& last) {
  std::vector<control::PeerSays> all;
  for (std::string line = program.hear(); !line.empty(); line = program.hear()) {
    all.push_back(control::parse_peer(line));
    if (std::holds_alternative<control::Reported>(all.back())) last = program.take_vector();
  }
  return all;
}

TEST(LaunchedProgram, HearsWhereTheOthersAreAndReports) {
  LaunchedProgram zero(0, "peer"), one(1, "peer");
  control::Addresses addresses;
  for (LaunchedProgram* const program : {&zero, &one}) {
    const control::PeerSays says = control::parse_peer(program->hear());
    const auto* const listening = std::get_if<control::Listening>(&says);
    ASSERT_NE(listening, nullptr);
    const auto id = static_cast<PeerId>(addresses.list.size());
    addresses.list.push_back({id, "127.0.0.1", listening->port});
  }
  zero.tell(control::line(addresses));
  one.tell(control::line(addresses));
  for (LaunchedProgram* const program : {&zero, &one}) {
    std::vector<float> x;
    const std::vector<control::PeerSays> all = hear_out(*program, x);
    ASSERT_FALSE(all.empty());
    EXPECT_TRUE(std::holds_alternative<control::Ready>(all.front()));
    // A peer that waits for the other's goodbye may send its progress after its last report.
    const auto reported = std::find_if(all.rbegin(), all.rend(), [](const control::PeerSays& says) {
      return std::holds_alternative<control::Reported>(says);
    });
    ASSERT_NE(reported, all.rend());
    const auto* const end = std::get_if<control::Reported>(&*reported);
    EXPECT_TRUE(end->report.last);
    EXPECT_EQ(end->report.round, 400U);
    ASSERT_EQ(x.size(), 3U);
    EXPECT_NEAR(x[0], 3, 0.05);
    EXPECT_NEAR(x[1], -2, 0.05);
    EXPECT_EQ(program->wait(), 0);
  }
}

TEST(LaunchedProgram, EndsWhenItsLauncherHasGone) {
  LaunchedProgram alone(0, "peer");
  EXPECT_NE(alone.hear(), "");
  alone.hang_up();
  EXPECT_EQ(alone.hear(), "");
  EXPECT_EQ(alone.wait(), 0);
}

TEST(LaunchedProgram, SaysWhatItTrainsWhenItIsAsked) {
  LaunchedProgram scout(0, "ask");
  const asked::ProgramSays says = asked::parse_program(scout.hear());
  const auto* const introduction = std::get_if<asked::Introduction>(&says);
  ASSERT_NE(introduction, nullptr);
  EXPECT_EQ(introduction->parameters,
            (std::vector<asked::Tensor>{{.name = "x", .shape = {3}, .strides = {1}}}));
  EXPECT_FALSE(introduction->evaluates);
  EXPECT_EQ(scout.take_vector(), (std::vector<float>{0, 0, 0}));
  scout.tell(asked::line(asked::Stop{}));
  EXPECT_EQ(scout.hear(), "");
  EXPECT_EQ(scout.wait(), 0);
}

TEST(LaunchedProgram, SaysHowLongAStepTakes) {
  LaunchedProgram measured(0, "measure");
  const asked::ProgramSays says = asked::parse_program(measured.hear());
  const auto* const introduction = std::get_if<asked::Introduction>(&says);
  ASSERT_NE(introduction, nullptr);
  EXPECT_GT(introduction->seconds_per_step.value_or(0), 0);
  EXPECT_EQ(measured.wait(), 0);
}

}  // namespace
}  // namespace gv
