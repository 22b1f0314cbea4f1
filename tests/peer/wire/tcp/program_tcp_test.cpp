#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "peer/runtime/tcp_peer.h"
#include "peer/wire/tcp/lent_thread.h"
#include "tests/peer/sim/method_runs.h"
#include "tests/peer/sim/program_peers.h"

// Programs over TCP, each of which lends its training thread.

namespace gv {
namespace {

using std::chrono::milliseconds;

/// Asks /proc, because another thread may close the descriptor during a system call.
bool is_inherited_socket(int fd) {
  const std::string number = std::to_string(fd);
  std::error_code none;
  const auto what = std::filesystem::read_symlink("/proc/self/fd/" + number, none);
  if (!what.string().starts_with("socket:")) return false;
  std::ifstream info("/proc/self/fdinfo/" + number);
  std::string word;
  while (info >> word && word != "flags:") {
  }
  unsigned flags = O_CLOEXEC;
  info >> std::oct >> flags;
  return (flags & O_CLOEXEC) == 0;
}

/// Returns the number of sockets that a program started by this process would inherit. A socket
/// accepted at this moment is marked a little later.
int inherited_sockets() {
  int inherited = 0;
  for (int fd = 3; fd < 1024; ++fd) {
    if (!is_inherited_socket(fd)) continue;
    std::this_thread::sleep_for(milliseconds(20));
    if (is_inherited_socket(fd)) ++inherited;
  }
  return inherited;
}

/// A program that trains as a built-in replica does, and its peer, whose loop has its own thread.
class TcpProgram {
 public:
  TcpProgram(const Assembly& fleet, PeerId id, std::function<void(Report)> on_report)
      : trains_(id < fleet.fleet.trainers()) {
    TcpPeerOptions options;
    options.log = [](const std::string&) {};
    options.on_report = std::move(on_report);
    if (trains_) {
      program_ = std::make_unique<InnerProgram>(fleet.host_replica(id));
      held_.done(program_->begun());
      lent_ = std::make_shared<LentThread>(held_);
      options.home = lent_;
      options.parts.replica = [this](std::unique_ptr<Replica>) {
        auto replica = std::make_unique<ProgramReplica>(program_->x(), held_, program_->flops());
        replica->point_gradients(program_->g());
        return replica;
      };
    }
    peer_ = std::make_unique<TcpPeer>(fleet, id, std::move(options));
    address_ = {id, "127.0.0.1", peer_->listen()};
  }

  const PeerAddress& address() const { return address_; }
  void use_token(const std::shared_ptr<RunToken>& token) { peer_->use_token(token); }
  void start(const std::vector<PeerAddress>& all) {
    loop_ = std::thread([this, all] {
      peer_->run(all);
      peer_.reset();  // ends the arithmetic
    });
    if (trains_) own_ = std::thread([this] { train(); });
  }
  void join() {
    loop_.join();
    if (trains_) own_.join();
  }
  std::uint64_t turns() const { return turns_; }
  /// Returns the number of sockets that a child would inherit, as of the last turn.
  int inherited() const { return inherited_; }

 private:
  void train() {
    for (;;) {
      const Turn turn = lent_->lend(std::chrono::seconds(5));
      if (turn == Turn::over) return;
      if (turn == Turn::none) continue;
      if (++turns_ % 4 == 0) inherited_ = inherited_sockets();
      held_.done(program_->take(turn));
    }
  }

  bool trains_;
  std::unique_ptr<InnerProgram> program_;
  HeldTurns held_;
  std::shared_ptr<LentThread> lent_;
  std::unique_ptr<TcpPeer> peer_;
  PeerAddress address_;
  std::uint64_t turns_ = 0;
  int inherited_ = 0;
  std::thread loop_, own_;
};

/// Returns the hash of the last models. Expects each peer to have its turns.
std::string hash_over_tcp(const Assembly& fleet) {
  std::mutex mutex;
  Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
  const auto take = [&](Report report) {
    const auto copy = std::make_shared<Buffer>(report.model->size());
    std::ranges::copy(report.model->floats(), copy->floats().begin());
    report.model = copy;
    const std::lock_guard lock(mutex);
    observer.take(std::move(report), Time{0});
  };
  std::vector<std::unique_ptr<TcpProgram>> programs;
  std::vector<PeerAddress> addresses;
  const auto token = std::make_shared<RunToken>();
  for (PeerId i = 0; i < fleet.fleet.size(); ++i) {
    programs.push_back(std::make_unique<TcpProgram>(fleet, i, take));
    programs.back()->use_token(token);
    addresses.push_back(programs.back()->address());
  }
  for (const auto& program : programs) program->start(addresses);
  for (const auto& program : programs) program->join();
  for (const auto& program : programs) EXPECT_EQ(program->inherited(), 0);
  for (PeerId i = 0; i < fleet.fleet.trainers(); ++i)
    EXPECT_GE(programs[i]->turns(), *fleet.fleet.stop.rounds) << i;
  return observer.params_hash();
}

class ProgramOverTcp : public testing::TestWithParam<const AlgorithmRow*> {};

TEST_P(ProgramOverTcp, EndsWithTheBitsOfSimulatedBuiltInPeers) {
  Fleet fleet = row_fleet(*GetParam(), 4);
  fleet.data.quadratic.noise = 1;
  fleet.evaluate_every = 5;
  const Assembly assembly(fleet);
  EXPECT_EQ(hash_over_tcp(assembly), run(fleet).hash);
}

std::vector<const AlgorithmRow*> rows() {
  std::vector<const AlgorithmRow*> rows;
  std::ranges::copy_if(synchronous_rows(), std::back_inserter(rows),
                       [](const AlgorithmRow* row) { return row->program.objection.empty(); });
  return rows;
}

INSTANTIATE_TEST_SUITE_P(EveryRow, ProgramOverTcp, testing::ValuesIn(rows()), [](const auto& row) {
  return name_of(*row.param);
});

}  // namespace
}  // namespace gv
