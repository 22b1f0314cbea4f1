#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/peer/sim/injecting.h"
#include "tests/peer/sim/method_runs.h"

// Samples that another peer than their owner trains on: FlexRR and training-data servers.

namespace gv {
namespace {

using std::chrono::milliseconds;

Fleet learning(PeerId n, const std::string& algorithm, const std::string& order = "") {
  Fleet fleet = quadratic_fleet(n, "ring", algorithm, order);
  fleet.data.kind = "blobs";
  fleet.data.train = 400;
  fleet.data.test = 40;
  fleet.model.kind = "softmax";
  for (PeerSpec& peer : fleet.peers) peer.batch = 16;
  fleet.flops = 1e6;
  fleet.network.latency = std::chrono::microseconds(100);
  fleet.stop.rounds = 12;
  return fleet;
}

struct Ended {
  std::string model;
  SimulationResult result;
  std::map<PeerId, Report> finals;
};

Ended end_of(const Fleet& fleet, const SimulationOptions& options = {}) {
  const Assembly assembly(fleet);
  Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
  Ended ended{.model = {}, .result = simulate(assembly, observer, options), .finals = {}};
  ended.model = observer.hashes().model;
  ended.finals = observer.finals();
  return ended;
}

Fleet flexible(std::vector<double> speeds) {
  Fleet fleet = learning(static_cast<PeerId>(speeds.size()), "flexrr");
  for (PeerId i = 0; i < speeds.size(); ++i) fleet.peers[i].speed = speeds[i];
  return fleet;
}

TEST(FlexRr, WhoeverIsSlowTheBitsAreTheSame) {
  const std::string even = end_of(flexible({1, 1, 1, 1})).model;
  EXPECT_EQ(end_of(flexible({0.2, 1, 1, 1})).model, even);
  EXPECT_EQ(end_of(flexible({1, 0.1, 0.5, 1})).model, even);
  EXPECT_EQ(end_of(flexible({0.1, 0.1, 0.1, 1})).model, even);
}

TEST(FlexRr, InOneSliceIsASynchronousParameterServer) {
  Fleet fleet = flexible({1, 1, 1});
  fleet.settings["slices"] = 1;
  EXPECT_EQ(end_of(fleet).model, end_of(learning(3, "parameter-server", "sync")).model);
  fleet.settings["servers"] = 3;
  EXPECT_EQ(end_of(fleet).model, end_of(learning(3, "parameter-server", "sync")).model);
}

/// Four workers, the slowest with a fifth of the speed. Gradients cost more than additions.
TEST(FlexRr, ASlowWorkerIsHelped) {
  const auto seconds = [](Fleet fleet) {
    fleet.peers[0].speed = 0.2;
    for (PeerSpec& peer : fleet.peers) peer.batch = 64;
    return in_seconds(end_of(fleet).result.virtual_time);
  };
  const double alone = seconds(learning(4, "parameter-server", "sync"));
  const double helped = seconds(flexible({1, 1, 1, 1}));
  EXPECT_LT(helped, 0.7 * alone);
}

/// The owner repeats the samples that a dead helper had taken.
TEST(FlexRr, AHelperMayDie) {
  for (int at = 2; at < 40; at += 6) {
    SCOPED_TRACE(at);
    const Ended left =
        end_of(flexible({0.2, 1, 1, 1}),
               injecting({{.at = milliseconds(at), .kind = Injection::Kind::kill, .peer = 2}}));
    EXPECT_EQ(left.result.violations, std::vector<std::string>{});
    for (const PeerId i : {0U, 1U, 3U}) EXPECT_EQ(left.finals.at(i).round, 12U) << i;
  }
}

TEST(DataServers, HandOutTheMinibatchesThatEachWouldDraw) {
  for (const auto& [kind, order] :
       std::vector<std::pair<std::string, std::string>>{{"d-psgd", "lian"},
                                                        {"d-psgd", "atc"},
                                                        {"all-reduce", "ring"},
                                                        {"d2", ""},
                                                        {"extra", ""},
                                                        {"nids", ""},
                                                        {"led", ""},
                                                        {"proxskip", ""},
                                                        {"aug-dgm", ""},
                                                        {"momentum-tracking", ""},
                                                        {"beer", ""},
                                                        {"motef", ""},
                                                        {"gt-adam", ""},
                                                        {"gut", ""},
                                                        {"sparta", ""},
                                                        {"k-gt", ""},
                                                        {"decentlam", ""},
                                                        {"noloco", ""},
                                                        {"isolated", ""},
                                                        {"local-sgd", ""},
                                                        {"sparse-loco", ""},
                                                        {"decoupled-diloco", ""},
                                                        {"parameter-server", "sync"}}) {
    SCOPED_TRACE(kind + " " + order);
    Fleet fleet = learning(4, kind, order);
    if (kind == "d2" || kind == "led") fleet.weights = "lazy";
    if (kind == "local-sgd") {
      fleet.local_steps = 3;
      fleet.own_steps = {6, 3, 2, 1};
    }
    const std::string own = end_of(fleet).model;
    for (const PeerId servers : {1U, 3U}) {
      fleet.data.servers = servers;
      const Ended supplied = end_of(fleet);
      EXPECT_EQ(supplied.model, own) << servers;
      EXPECT_EQ(supplied.result.broken_by, std::set<PeerId>{});
    }
  }
}

/// Cropped pictures, a text and the quadratic oracle.
TEST(DataServers, HandOutSamplesOfEveryForm) {
  Fleet pictures = learning(2, "d-psgd");
  pictures.data.kind = "digits";
  pictures.data.augment = {.crop = true, .flip = true};
  Fleet sparse = learning(2, "d-psgd");
  sparse.data.kind = "sparse";
  sparse.data.features = 50;
  sparse.model.kind = "logistic";
  const Fleet oracle = restless(4, "d-psgd");
  for (Fleet fleet : {pictures, sparse, oracle}) {
    SCOPED_TRACE(fleet.data.kind);
    const std::string own = end_of(fleet).model;
    fleet.data.servers = 1;
    EXPECT_EQ(end_of(fleet).model, own);
  }
}

TEST(DataServers, GoOnFromAnyRoundAsIfTheyHadNotStopped) {
  Fleet fleet = learning(4, "d-psgd");
  fleet.data.servers = 2;
  expect_it_resumes(fleet);
}

TEST(DataServers, TheirDeathEndsThoseWhomTheyServeByName) {
  Fleet fleet = learning(4, "all-reduce", "ring");
  fleet.data.servers = 2;
  fleet.stop.rounds = 500;
  const Ended left = end_of(
      fleet, injecting({{.at = milliseconds(20), .kind = Injection::Kind::kill, .peer = 5}}));
  EXPECT_TRUE(left.result.broken_by.contains(5));
  EXPECT_EQ(left.result.violations, std::vector<std::string>{});
  for (PeerId i = 0; i < 4; ++i) EXPECT_LT(left.finals.at(i).round, 500U) << i;
}

/// A dead server never answers open requests. Without a deadline its peers once waited for ever.
/// The successor must give the minibatches that the dead server would have given.
TEST(DataServers, ASuccessorIsAskedForWhatTheDeadOneHasNotSent) {
  using Kind = Injection::Kind;
  for (const char* kind : {"d-psgd", "clipped-gossip"})
    for (const std::uint32_t local_steps : {1U, 3U})
      for (int at = 1; at < 60; at += 11) {
        SCOPED_TRACE(fmt::format("{}, {} local steps, at {} ms", kind, local_steps, at));
        Fleet fleet = learning(4, kind);
        fleet.weights = "lazy";
        fleet.data.servers = 2;
        fleet.local_steps = local_steps;
        fleet.faults.deadline = Time{0};
        fleet.restart = true;
        const Ended ended = end_of(
            fleet, injecting({{.at = milliseconds(at), .kind = Kind::kill, .peer = 5},
                              {.at = milliseconds(at + 20), .kind = Kind::start, .peer = 5}}));
        EXPECT_EQ(ended.result.violations, std::vector<std::string>{});
        EXPECT_EQ(ended.result.broken_by, std::set<PeerId>{});
        for (PeerId i = 0; i < 4; ++i) EXPECT_EQ(ended.finals.at(i).round, 12U) << i;
      }
}

/// A server once ended with the only peer that it served, and the successor found no samples.
TEST(DataServers, GoOnWithWhoTakesThePlaceOfTheOnlyOneTheyServe) {
  using Kind = Injection::Kind;
  for (const PeerId n : {2U, 3U})
    for (int at = 1; at < 60; at += 11) {
      SCOPED_TRACE(fmt::format("{} peers, at {} ms", n, at));
      Fleet fleet = learning(n, "d-psgd");
      fleet.weights = "lazy";
      fleet.data.servers = n;
      fleet.faults.deadline = Time{0};
      fleet.restart = true;
      const Ended ended =
          end_of(fleet, injecting({{.at = milliseconds(at), .kind = Kind::kill, .peer = 0},
                                   {.at = milliseconds(at + 20), .kind = Kind::start, .peer = 0}}));
      EXPECT_EQ(ended.result.violations, std::vector<std::string>{});
      EXPECT_EQ(ended.result.broken_by, std::set<PeerId>{});
      for (PeerId i = 0; i < n; ++i) EXPECT_EQ(ended.finals.at(i).round, 12U) << i;
    }
}

/// Servers that stand still: too briefly to count as away, or longer.
struct StandingServer {
  Time dead_after, length;
};

/// A peer with all rounds done waited ten seconds for a neighbour's half, while the neighbour
/// waited at least as long for its samples. The first gave up, and their flow counted at one end,
/// although both were alive and continued.
TEST(DataServers, WhoWaitsForThemIsWaitedFor) {
  using std::chrono::seconds;
  for (const auto& [dead_after, length] :
       {StandingServer{seconds(60), seconds(40)}, StandingServer{seconds(1), seconds(90)}})
    for (const auto& [kind, order] : {std::pair{"d-psgd", "atc"}, {"d2", ""}, {"nids", ""}})
      for (const PeerId n : {3U, 4U, 7U}) {
        SCOPED_TRACE(fmt::format("{} {}, {} peers, {} s", kind, order, n, length / seconds(1)));
        Fleet fleet = learning(n, kind, order);
        fleet.weights = "lazy";
        fleet.data.servers = 2;
        fleet.faults.deadline = milliseconds(20);
        fleet.faults.dead_after = dead_after;
        LinkTimes times = swarm_times();
        times.dead_after = dead_after;
        const Ended ended = end_of(
            fleet, injecting({{milliseconds(10), Injection::Kind::stop, n + 1, 0, length}}, times));
        EXPECT_EQ(ended.result.violations, std::vector<std::string>{});
        EXPECT_GT(ended.result.virtual_time, length);
        for (PeerId i = 0; i < n; ++i) EXPECT_EQ(ended.finals.at(i).round, 12U) << i;
      }
}

/// A wait for samples is watched in long intervals. A wait for a neighbour's half that began within
/// one once lasted to its end, whatever `faults.deadline` was.
TEST(DataServers, HoldUpOthersForADeadline) {
  for (const char* kind : {"d-psgd", "extra", "gradient-tracking"})
    for (const PeerId n : {3U, 4U, 7U}) {
      SCOPED_TRACE(fmt::format("{}, {} peers", kind, n));
      Fleet fleet = learning(n, kind);
      fleet.weights = "lazy";
      fleet.data.servers = 2;
      fleet.faults.deadline = milliseconds(20);
      fleet.faults.dead_after = std::chrono::seconds(60);
      LinkTimes times = swarm_times();
      times.dead_after = fleet.faults.dead_after;
      const Injection stop{milliseconds(10), Injection::Kind::stop, n + 1, 0, milliseconds(9000)};
      const Ended ended = end_of(fleet, injecting({stop}, times));
      EXPECT_EQ(ended.result.violations, std::vector<std::string>{});
      for (PeerId i = 0; i < n; ++i) {
        const Time longest = ended.finals.at(i).costs.longest_wait;
        const bool by_who_stands = i % 2 == 1;
        EXPECT_EQ(longest > milliseconds(8000), by_who_stands) << i;
        EXPECT_EQ(longest > milliseconds(40), by_who_stands) << i;
      }
    }
}

TEST(DataServers, AreRefusedWhereTheyMakeNoSense) {
  for (const char* kind : {"fedavg", "scaffold", "flexrr"}) {
    Fleet fleet = learning(4, kind);
    fleet.data.servers = 1;
    EXPECT_NE(refusal(fleet).find("samples of their own"), std::string::npos) << kind;
  }
  Fleet fleet = learning(4, "d-psgd");
  fleet.data.servers = 5;
  EXPECT_NE(refusal(fleet).find("5 servers for 4 peers"), std::string::npos);
  fleet.data.servers = 1;
  fleet.peers[0].device = "cuda:0";
  EXPECT_NE(refusal(fleet).find("take `device: cpu`"), std::string::npos);
}

/// A peer that hands out samples takes part in no averaging. relay-sgd once pushed its sums to the
/// data servers too, which refused them, and ad-psgd drew these servers as partners.
TEST(DataServers, AreNobodysPartners) {
  for (const auto& [kind, graph] : {std::pair{"relay-sgd", "star"}, {"ad-psgd", "ring"}}) {
    SCOPED_TRACE(kind);
    Fleet fleet = learning(5, kind);
    fleet.topology = parse_schedule(graph).topology;
    fleet.data.servers = 2;
    const Ended ended = end_of(fleet);
    EXPECT_EQ(ended.result.violations, std::vector<std::string>{});
    for (PeerId i = 0; i < 5; ++i) EXPECT_EQ(ended.finals.at(i).round, 12U) << i;
  }
}

}  // namespace
}  // namespace gv
