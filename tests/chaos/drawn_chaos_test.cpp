#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "optim/rng.h"
#include "peer/runtime/ledger.h"
#include "peer/sim/drawn/fleet_draw.h"
#include "peer/sim/swarm.h"
#include "tests/from_environment.h"
#include "tests/peer/launch/program.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

// Real fleets of drawn methods, graphs and codecs, of built-in peers and of programs, with
// overlapping accidents: members die, stand still, are slow or cut off at drawn moments.
// GRAPEVINE_CHAOS_FLEETS is the number of fleets, GRAPEVINE_CHAOS_SEED the first seed;
// GRAPEVINE_CHURN_SECONDS is the duration of the churn test.

namespace gv {
namespace {

namespace fs = std::filesystem;

std::string simulated_hash(const Assembly& fleet) {
  Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
  simulate(fleet, observer, {});
  return observer.params_hash();
}

enum class Trains : std::uint8_t { peers, programs };

/// A fleet that is determined by its number.
class RealFleet {
 public:
  RealFleet(std::uint64_t number, Trains trains)
      : rng_(Rng(number).derive("real")), number_(number), trains_(trains) {
    for (std::uint64_t attempt = 0; !fleet_; ++attempt) {
      if (attempt == most_attempts)
        throw std::logic_error(fmt::format("nobody takes fleet {}:\n{}", number, refused_.back()));
      keys_ = draw(number, attempt, rows(trains)).keys;
      make_real();
      fleet_ = read();
    }
    draw_accidents();
    std::ofstream(file()) << fleet_text(keys_);
  }

  std::string text() const { return fleet_text(keys_); }
  std::string file() const { return scratch_.path() + "/fleet.yaml"; }
  std::string run_folder() const { return scratch_.path() + "/run"; }
  const Assembly& fleet() const { return *fleet_; }

  /// Returns the hash of the peers' models after a run without accidents.
  std::string undisturbed_hash() const {
    if (trains_ == Trains::peers) return simulated_hash(*fleet_);
    const std::string apart = "output.dir=" + scratch_.path() + "/undisturbed";
    return Program({"run", file(), "--json", "--set", apart}).wait().summary().at("params_hash");
  }
  Ended run() { return Program({"run", file(), "--json"}).wait(); }
  int kills() const { return kills_; }
  /// Returns whether no peer ran ahead of its pace and no edge stayed silent.
  static bool is_steady(const Ended& ended) {
    return !ended.summary().contains("ran_ahead") && !ended.summary().contains("silent");
  }
  /// Returns whether a program's loss rose, and nothing else was wrong. Each program reaches the
  /// minimum of its own objective within a few steps, so that the fleet's loss moves if a member is
  /// away or trains alone.
  bool moves(const Ended& ended) const {
    return trains_ == Trains::programs && ended.code == 4 && !ended.summary().contains("uneven") &&
           is_steady(ended);
  }

 private:
  static constexpr std::uint64_t most_attempts = 1000;

  /// Returns all methods except those that need several machines or take no programs.
  static std::vector<const AlgorithmRow*> rows(Trains trains) {
    std::vector<const AlgorithmRow*> rows;
    for (const AlgorithmRow* row : algorithms())
      if (row->order != "hierarchical" &&
          (trains == Trains::peers || row->program.objection.empty()))
        rows.push_back(row);
    return rows;
  }

  /// Makes the fleet run for seconds, on one machine, over links whose times other load cannot
  /// change.
  void make_real() {
    erase_keys(keys_, "hosts");
    erase_keys(keys_, "network");
    set_key(keys_, "peers", peers());
    set_key(keys_, "network.latency", "1 ms");
    set_key(keys_, "network.emulate", "true");
    set_key(keys_, "stop.rounds", "1000");
    set_key(keys_, "evaluate.every", "10 rounds");
    set_key(keys_, "faults.heartbeat", "100 ms");
    set_key(keys_, "faults.dead_after", "800 ms");
    set_key(keys_, "faults.ledger", "true");
    if (value_of(keys_, "faults.deadline") != "0 s") set_key(keys_, "faults.deadline", "1 s");
    set_key(keys_, "output.dir", run_folder());
    if (trains_ == Trains::programs) make_programs();
  }
  /// Makes each peer a program with the gradients of quadratic_peer.
  void make_programs() {
    for (const char* brings : {"data", "model", "agent", "attackers", "parallel"})
      erase_keys(keys_, brings);
    for (const char* brings : {"class_weights", "peer_weights", "batch", "objective"})
      erase_keys(keys_, std::string("train.") + brings);
    if (!find_row().servers) erase_keys(keys_, "train.optimizer");
    set_key(keys_, "program", fmt::format("[{}]", GV_QUADRATIC_PEER));
  }
  const AlgorithmRow& find_row() const {
    return *find_algorithm(value_of(keys_, "algorithm.kind"), value_of(keys_, "algorithm.order"));
  }
  /// Returns null if the reader refuses the fleet, or if it diverges by itself. For programs, it
  /// supplies the description of the model that a scout would give.
  std::unique_ptr<Assembly> read() {
    if (trains_ == Trains::peers) {
      std::unique_ptr<Assembly> drawn = read_drawn(fleet_text(keys_), refusals_);
      return drawn && stays_small(*drawn) ? std::move(drawn) : nullptr;
    }
    try {
      ProgramModel model{.parameters = {{"fc.weight", {2, 3}}, {"fc.bias", {}}}};
      model.evaluates = true;
      return std::make_unique<Assembly>(read_fleet_text(fleet_text(keys_)), std::nullopt,
                                        std::move(model));
    } catch (const FleetError& refused) {
      refused_.push_back(refused.what());
      return nullptr;
    }
  }

  /// Returns the number of peers: 3 to 8, or those of 1 to 3 chains; if stages are divided further,
  /// the number that was drawn.
  std::string peers() const {
    Rng rng = Rng(number_).derive("peers");
    const std::string stages = value_of(keys_, "parallel.stages");
    if (stages.empty()) return std::to_string(rng.below(6) + 3);
    if (stages.starts_with("[") || !value_of(keys_, "parallel.copies").empty())
      return value_of(keys_, "peers");
    return std::to_string((rng.below(3) + 1) * std::stoull(stages));
  }

  std::uint64_t between(std::uint64_t least, std::uint64_t most) {
    return least + rng_.below(most - least + 1);
  }
  /// Draws one to three accidents; each begins before the one before is over.
  void draw_accidents() {
    constexpr std::uint64_t soonest_ms = 300, latest_ms = 1000, longest_ms = 2000;
    std::vector<std::string> list;
    std::uint64_t from = soonest_ms, until = latest_ms;
    for (std::uint64_t k = 1 + rng_.below(3); k > 0; --k) {
      from = between(from, until);
      until = from + between(50, longest_ms);
      for (std::string& part : accident(from, until)) list.push_back(std::move(part));
    }
    set_key(keys_, "faults.inject", fmt::format("[{}]", fmt::join(list, ", ")));
  }
  static std::string stop(PeerId peer, std::uint64_t at, std::uint64_t length) {
    return fmt::format("{{ at: {} ms, stop: {}, for: {} ms }}", at, peer, length);
  }
  /// Draws an accident: a peer stands still, is slow, or is cut off from some or all neighbours. At
  /// most one peer dies, so that there is a fleet to judge.
  std::vector<std::string> accident(std::uint64_t from, std::uint64_t until) {
    constexpr std::uint64_t slice_ms = 50;
    const auto peer = static_cast<PeerId>(rng_.below(fleet_->fleet.size()));
    const std::vector<PeerId> links = links_of(fleet_->plan(peer));
    std::vector<std::string> parts;
    switch (rng_.below(5)) {
      case 0:
        if (kills_++ == 0) return {fmt::format("{{ at: {} ms, kill: {} }}", from, peer)};
        return {stop(peer, from, until - from)};
      case 1:
        return {stop(peer, from, until - from)};
      case 2:
        for (; from < until; from += slice_ms) parts.push_back(stop(peer, from, slice_ms * 9 / 10));
        return parts;
      default:
        const std::size_t one = links.empty() ? 0 : rng_.below(2 * links.size());
        for (std::size_t k = 0; k < links.size(); ++k)
          if (one >= links.size() || one == k)
            parts.push_back(fmt::format("{{ at: {} ms, cut: [{}, {}], for: {} ms }}", from, peer,
                                        links[k], until - from));
        return parts;
    }
  }

  Rng rng_;
  std::uint64_t number_;
  Trains trains_;
  std::vector<std::string> refused_{""};
  ScratchFolder scratch_;
  FlatKeys keys_;
  Refusals refusals_;
  std::unique_ptr<Assembly> fleet_;
  int kills_ = 0;
};

std::string findings_in(const LedgerAudit& books) {
  std::string lines;
  for (const LedgerFinding& finding : books.findings) lines += to_text(finding) + "\n";
  return lines;
}

/// If the method waits for all peers, a stop changes no bit; otherwise a peer may be left out.
void judge(RealFleet& real) {
  SCOPED_TRACE(real.text());
  const Ended ended = real.run();
  const bool stops_count = real.fleet().fleet.faults.deadline > Time{0};
  const bool may_lose = real.kills() > 0 || stops_count;
  EXPECT_TRUE(ended.code == 0 || (may_lose && ended.code == 3) || real.moves(ended))
      << ended.code << "\n"
      << ended.err;
  EXPECT_TRUE(RealFleet::is_steady(ended)) << ended.output();
  const LedgerAudit books = audit(read_ledgers(real.run_folder()));
  EXPECT_EQ(findings_in(books), "");
  fmt::print("{}: exit {}, {} kills, {} pieces in both books, {} in one\n",
             real.fleet().fleet.algorithm, ended.code, real.kills(), books.both, books.one_sided);
  const bool keeps_bits = judgement_of(real.fleet()) == Judgement::bits;
  if (!keeps_bits || ended.code != 0 || real.kills() > 0) return;
  EXPECT_EQ(ended.summary().at("params_hash"), real.undisturbed_hash());
}

class DrawnChaos : public testing::TestWithParam<Trains> {};

TEST_P(DrawnChaos, EverybodyEndsAndTheBooksAgree) {
  const std::uint64_t first = from_environment("GRAPEVINE_CHAOS_SEED", 1);
  const std::uint64_t fleets = from_environment("GRAPEVINE_CHAOS_FLEETS", 5);
  for (std::uint64_t number = first; number < first + fleets; ++number) {
    SCOPED_TRACE(fmt::format("GRAPEVINE_CHAOS_FLEETS=1 GRAPEVINE_CHAOS_SEED={}", number));
    RealFleet real(number, GetParam());
    judge(real);
  }
}

INSTANTIATE_TEST_SUITE_P(Of,
                         DrawnChaos,
                         testing::Values(Trains::peers, Trains::programs),
                         [](const auto& which) {
                           return std::string(which.param == Trains::peers ? "Peers" : "Programs");
                         });

/// A member dies or stands still every second, and comes back: no peer is lost, and every exchange
/// is in both ledgers.
TEST(Churn, MembersComeAndGo) {
  const std::uint64_t seconds = from_environment("GRAPEVINE_CHURN_SECONDS", 8);
  const ScratchFolder scratch;
  const std::string file = scratch.path() + "/fleet.yaml";
  const std::string run = scratch.path() + "/run";
  std::ofstream(file) << "version: 1\nname: churn\npeers: 8\n"
                         "data: { kind: quadratic, dimension: 50, noise: 1, spread: 1 }\n"
                         "topology: ring\nnetwork: { latency: 10 ms, emulate: true }\n"
                      << "stop: { time: " << seconds << " s }\nevaluate: { every: 1 s }\n"
                      << "checkpoint: { every: 20 rounds }\nlaunch: { restart: on-failure }\n"
                         "faults: { heartbeat: 100 ms, dead_after: 800 ms, ledger: true }\n"
                      << "output: { dir: " << run << " }\n";
  Rng rng = Rng(from_environment("GRAPEVINE_CHAOS_SEED", 1)).derive("churn");
  Program program({"run", file, "--json"});
  const std::string checkpoints = run + "/peers/000/checkpoints";
  ASSERT_TRUE(comes_true([&] { return fs::exists(checkpoints) && !fs::is_empty(checkpoints); }));
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds) -
                     std::chrono::milliseconds(2500);
  int accidents = 0;
  while (std::chrono::steady_clock::now() < until && alive(program.pid())) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300 + rng.below(1000)));
    program.errors();
    pid_t pid = 0;
    std::ifstream(fmt::format("{}/peers/{:03}/pid", run, rng.below(8))) >> pid;
    if (pid <= 0 || !alive(pid)) continue;
    ++accidents;
    const bool dies = rng.below(2) == 0;
    ::kill(pid, dies ? SIGKILL : SIGSTOP);
    std::this_thread::sleep_for(std::chrono::milliseconds(rng.below(1200)));
    if (!dies) ::kill(pid, SIGCONT);
  }
  const Ended ended = program.wait();
  EXPECT_GE(accidents, 2);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.summary().at("peers"), 8);
  const LedgerAudit books = audit(read_ledgers(run));
  EXPECT_EQ(findings_in(books), "");
  EXPECT_GT(books.both, 100U);
  fmt::print("{} accidents, {} pieces in both books, {} in one\n", accidents, books.both,
             books.one_sided);
}

}  // namespace
}  // namespace gv
