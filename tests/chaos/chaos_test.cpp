#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "optim/rng.h"
#include "peer/runtime/ledger.h"
#include "peer/sim/simulation.h"
#include "tests/chaos/chaos_fleet.h"
#include "tests/peer/launch/program.h"
#include "tests/places.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

// Real processes under real signals, with proxies that cut, flip, stall, swallow and slice. After
// each run the ledgers of all peers are audited. GRAPEVINE_CHAOS_SEED chooses the seed.

namespace gv {
namespace {

namespace fs = std::filesystem;

std::uint64_t chaos_seed() {
  const char* text = std::getenv("GRAPEVINE_CHAOS_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
}

class Chaos : public testing::Test {
 protected:
  Chaos() {
    fs::create_directories(folder_ / "run");
    fmt::print("seed {}\n", chaos_seed());
  }

  std::string run_folder() const { return (folder_ / "run").string(); }

  /// Returns a fleet of eight peers on a ring that notice silence within a second.
  std::string fleet(std::uint64_t rounds,
                    const std::string& rate,
                    const std::string& more = "") const {
    const std::string path = (folder_ / "fleet.yaml").string();
    std::ofstream(path) << "version: 1\nname: chaos\nseed: 3\npeers: 8\n"
                           "data: { kind: quadratic, dimension: 50, noise: 1, spread: 1 }\n"
                           "model: quadratic\n"
                        << "train: { optimizer: { kind: sgd, lr: " << rate << " } }\n"
                        << "topology: ring\nstop: { rounds: " << rounds << " }\n"
                        << "faults: { heartbeat: 100 ms, dead_after: 800 ms, ledger: true }\n"
                        << "output: { dir: " << run_folder() << "2 }\n"
                        << more;
    return path;
  }

  /// Returns the audit of the run's ledgers.
  LedgerAudit audited(const std::string& folder) const {
    const LedgerAudit result = audit(read_ledgers(folder));
    for (const LedgerFinding& finding : result.findings) ADD_FAILURE() << to_text(finding);
    EXPECT_TRUE(result.missing.empty()) << fmt::format("{}", fmt::join(result.missing, ", "));
    fmt::print("audit: {} pieces in both books, {} in one (one of the two peers died)\n",
               result.both, result.one_sided);
    return result;
  }

  std::set<std::pair<PeerId, PeerId>> edges_in_books() const {
    std::set<std::pair<PeerId, PeerId>> edges;
    for (const LedgerEntry& entry : read_ledgers(run_folder()).entries)
      edges.emplace(entry.peer, entry.with);
    return edges;
  }

  ScratchFolder scratch_;
  fs::path folder_ = scratch_.path();
  Rng rng_ = Rng(chaos_seed()).derive("chaos");
};

void start_all(ChaosFleet& fleet) {
  for (PeerId i = 0; i < 8; ++i) fleet.start(i);
}

void expect_whole(const ChaosFleet& fleet) {
  for (PeerId i = 0; i < 8; ++i) {
    EXPECT_EQ(fleet.exit_code(i), 0) << fleet.log(i);
    EXPECT_TRUE(fleet.finals().contains(i)) << i;
  }
}

class Proxied : public Chaos, public testing::WithParamInterface<std::pair<const char*, Harm>> {};

TEST_P(Proxied, EveryExchangeStandsInBothBooks) {
  ChaosFleet peers(fleet(300, "0.05"), 8, run_folder(), GetParam().second, chaos_seed());
  start_all(peers);
  ASSERT_TRUE(peers.run_to_end());
  expect_whole(peers);
  fmt::print("{}\n", peers.harm_done());
  EXPECT_NE(peers.harm_done(), "0 cuts, 0 flips, 0 stalls, 0 holes");
  const LedgerAudit books = audited(run_folder());
  EXPECT_GT(books.both, 0U);
  EXPECT_EQ(edges_in_books().size(), 16U) << "each of eight edges, at both of its ends";
  EXPECT_EQ(books.one_sided, 0U);
}

Harm cuts() {
  Harm harm;
  harm.cut_after = 60'000;
  return harm;
}
Harm flips() {
  Harm harm;
  harm.flip_after = 60'000;
  return harm;
}
Harm stalls() {
  Harm harm;
  harm.stall_after = 100'000;
  harm.stall = std::chrono::milliseconds(1200);  // longer than dead_after
  return harm;
}
Harm half_open() {
  Harm harm;
  harm.hole_after = 120'000;
  return harm;
}
Harm one_way() {
  Harm harm;
  harm.hole_after = 120'000;
  harm.hole_one_way = true;
  return harm;
}
Harm slices_and_cuts() {
  Harm harm;
  harm.slice = 37;
  harm.cut_after = 60'000;
  return harm;
}

INSTANTIATE_TEST_SUITE_P(EveryHarm,
                         Proxied,
                         testing::Values(std::pair{"Cuts", cuts()},
                                         std::pair{"Flips", flips()},
                                         std::pair{"Stalls", stalls()},
                                         std::pair{"HalfOpen", half_open()},
                                         std::pair{"OneWay", one_way()},
                                         std::pair{"SlicesAndCuts", slices_and_cuts()}),
                         [](const auto& row) { return std::string(row.param.first); });

using Models = std::map<PeerId, Payload>;

std::vector<double> mean_of(const Models& models) {
  std::vector<double> mean(models.begin()->second->floats().size(), 0);
  for (const auto& [peer, model] : models)
    for (std::size_t k = 0; k < mean.size(); ++k)
      mean[k] += static_cast<double>(model->floats()[k]) / static_cast<double>(models.size());
  return mean;
}

/// Returns the models after the only round with a step, in virtual time, without accidents.
Models after_one_round(const std::string& file) {
  const Assembly fleet(read_fleet(file, {"stop.rounds=1"}, nullptr));
  Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
  simulate(fleet, observer, {});
  Models models;
  for (const auto& [peer, report] : observer.finals()) models[peer] = report.model;
  return models;
}

/// Returns the number of rounds in tests of the mean; GRAPEVINE_CHAOS_ROUNDS changes it.
std::uint64_t averaging_rounds() {
  const char* rounds = std::getenv("GRAPEVINE_CHAOS_ROUNDS");
  return rounds != nullptr ? std::strtoull(rounds, nullptr, 10) : 400;
}

/// One round with a step, then averaging alone, under cuts, flips, stalls and a stop.
class Mean : public Chaos {
 protected:
  /// Returns how far the mean of the fleet has moved, in units of the spread after the step.
  double drift(const std::string& binary) {
    const std::string file =
        fleet(averaging_rounds(), "0.5, schedule: { kind: step, every: 1 step, factor: 0 }");
    const Models first = after_one_round(file);
    const std::vector<double> mean = mean_of(first);
    double spread = 0;
    for (const auto& [peer, model] : first)
      for (std::size_t k = 0; k < mean.size(); ++k)
        spread = std::max(spread, std::abs(static_cast<double>(model->floats()[k]) - mean[k]));
    EXPECT_GT(spread, 0.1);
    const std::vector<double> last = mean_of(run(file, binary));
    double moved = 0;
    for (std::size_t k = 0; k < mean.size(); ++k)
      moved = std::max(moved, std::abs(last[k] - mean[k]));
    fmt::print("drift of the mean: {:.2e} of the spread\n", moved / spread);
    return moved / spread;
  }

 private:
  Models run(const std::string& file, const std::string& binary) {
    Harm harm = cuts();
    harm.flip_after = 90'000;
    harm.stall_after = 40'000;
    ChaosFleet peers(file, 8, run_folder(), harm, chaos_seed());
    peers.use(binary);
    start_all(peers);
    EXPECT_TRUE(peers.reaches(1));
    peers.kill(3, SIGSTOP);
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    peers.kill(3, SIGCONT);
    EXPECT_TRUE(peers.run_to_end());
    expect_whole(peers);
    fmt::print("{}\n", peers.harm_done());
    return peers.finals();
  }
};

TEST_F(Mean, IsKept) {
  EXPECT_LT(drift(grapevine_program()), 1e-5);
  audited(run_folder());
}

/// The planted rule: a late peer uses its own value, which is silently wrong.
TEST_F(Mean, DriftsWithTheNaiveRule) {
  ::setenv("GRAPEVINE_MUTANT", "drop_late_flow", 1);
  EXPECT_GT(drift(canary_program()), 1e-5);
  ::unsetenv("GRAPEVINE_MUTANT");
}

TEST_F(Chaos, KilledPeersComeBackAndTheBooksAgree) {
  const std::string file =
      fleet(4000, "0.05", "launch: { restart: on-failure }\ncheckpoint: { every: 50 rounds }\n");
  Program program({"run", file, "--json"});
  const std::string run = run_folder() + "2";
  // A fleet that has not begun yet cannot lose a member.
  const std::string checkpoints = run + "/peers/000/checkpoints";
  ASSERT_TRUE(comes_true([&] { return fs::exists(checkpoints) && !fs::is_empty(checkpoints); }));
  for (int kill = 0; kill < 3; ++kill) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100 + rng_.below(200)));
    const PeerId victim = static_cast<PeerId>(rng_.below(8));
    pid_t pid = 0;
    std::ifstream(fmt::format("{}/peers/{:03}/pid", run, victim)) >> pid;
    if (pid > 0) ::kill(pid, SIGKILL);
  }
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.summary().at("lost"), 0);
  EXPECT_EQ(ended.summary().at("peers"), 8);
  audited(run);
}

TEST_F(Chaos, StoppedPeersAreMissedAndComeBack) {
  ChaosFleet peers(fleet(3000, "0.05"), 8, run_folder(), Harm{}, chaos_seed());
  start_all(peers);
  for (int stop = 0; stop < 3; ++stop) {
    ASSERT_TRUE(peers.reaches(1));
    const PeerId victim = static_cast<PeerId>(rng_.below(8));
    peers.kill(victim, SIGSTOP);
    std::this_thread::sleep_for(std::chrono::milliseconds(rng_.below(1500)));
    peers.pump();
    peers.kill(victim, SIGCONT);
  }
  ASSERT_TRUE(peers.run_to_end());
  expect_whole(peers);
  EXPECT_EQ(audited(run_folder()).one_sided, 0U);
}

/// Returns every process that was started with this fleet file, even if its pid was not written.
std::vector<pid_t> processes_of(const std::string& file) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string words = text_of(entry.path() / "cmdline");
    const pid_t pid = std::stoi(name);
    if (words.find(file) != std::string::npos && alive(pid)) found.push_back(pid);
  }
  return found;
}

/// Peers end with their launcher, however early or late it dies.
TEST_F(Chaos, KilledLaunchersLeaveNothingBehind) {
  const std::string file = fleet(1'000'000, "0.05");
  for (int kill = 0; kill < 50; ++kill) {
    fs::remove_all(run_folder() + "2");
    Program program({"run", file, "--json", "--set", "peers=3"});
    std::this_thread::sleep_for(std::chrono::milliseconds(rng_.below(200)));
    program.kill(SIGKILL);
    program.wait();
    EXPECT_TRUE(comes_true([&] { return processes_of(file).empty(); })) << kill;
  }
}

/// Strangers take all of the few descriptors.
TEST_F(Chaos, StrangersAndFewDescriptorsHurtNobody) {
  ChaosFleet peers(fleet(3000, "0.05"), 8, run_folder(), Harm{}, chaos_seed());
  start_all(peers);
  ASSERT_TRUE(peers.reaches(1));
  const rlimit few{24, 24};
  ASSERT_EQ(::prlimit(peers.pid(2), RLIMIT_NOFILE, &few, nullptr), 0);
  asio::io_context io;
  std::vector<asio::ip::tcp::socket> strangers;
  for (int k = 0; k < 60; ++k) {
    asio::error_code ignored;
    strangers.emplace_back(io);
    strangers.back().connect({asio::ip::make_address("127.0.0.1"), peers.port(2)}, ignored);
    asio::write(strangers.back(), asio::buffer("GET / HTTP/1.0\r\n"), ignored);
  }
  ASSERT_TRUE(peers.run_to_end());
  expect_whole(peers);
  audited(run_folder());
}

/// The canary: the audit must find a deliberate bug in this fleet.
TEST_F(Chaos, TheAuditFindsAPlantedBug) {
  const std::string file = fleet(200, "0.05");
  const Ended ended =
      run({"run", file, "--json", "--set", "topology=star", "--peer-binary", canary_program()});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const LedgerAudit books = audit(read_ledgers(run_folder() + "2"));
  EXPECT_FALSE(books.findings.empty()) << "both ends must have used the same weight";
}

}  // namespace
}  // namespace gv
