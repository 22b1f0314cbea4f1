#include "peer/cli/lobby/lobby_start.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/scratch_folder.h"

namespace gv::cli {
namespace {

std::vector<PeerId> shares(std::vector<unsigned> cores, PeerId peers) {
  std::vector<LobbySeat> seats;
  for (std::size_t k = 0; k < cores.size(); ++k)
    seats.push_back({.machine = fmt::format("m{}", k), .cores = cores[k]});
  share_peers(seats, peers);
  std::vector<PeerId> counts;
  for (const LobbySeat& seat : seats) counts.push_back(seat.peers);
  return counts;
}

TEST(SharePeers, GivesTheRemainderToTheMostCores) {
  using Counts = std::vector<PeerId>;
  EXPECT_EQ(shares({2, 2, 2}, 6), (Counts{2, 2, 2}));
  EXPECT_EQ(shares({2, 8, 4}, 7), (Counts{2, 3, 2}));
  EXPECT_EQ(shares({2, 8, 4}, 8), (Counts{2, 3, 3}));
  EXPECT_EQ(shares({4, 4, 4}, 4), (Counts{2, 1, 1})) << "of equals the first";
  EXPECT_EQ(shares({1, 8, 4}, 2), (Counts{0, 1, 1})) << "the fewest cores get none";
  EXPECT_EQ(shares({1}, 5), (Counts{5}));
  EXPECT_EQ(shares({}, 5), (Counts{}));
}

TEST(SharePeers, GivesEachPeerOnce) {
  for (PeerId peers = 0; peers < 20; ++peers)
    for (unsigned machines = 1; machines < 9; ++machines) {
      std::vector<unsigned> cores;
      for (unsigned k = 0; k < machines; ++k) cores.push_back(1 + k * 7 % 5);
      PeerId sum = 0;
      const std::vector<PeerId> counts = shares(cores, peers);
      for (const PeerId count : counts) {
        sum += count;
        EXPECT_GE(count, peers / machines);
        EXPECT_LE(count, peers / machines + 1);
      }
      EXPECT_EQ(sum, peers);
    }
}

/// Writes fleets, and reads them as a lobby does.
class Seats : public testing::Test {
 protected:
  Fleet read(const std::string& text, const std::vector<std::string>& sets = {}) const {
    const std::string file = path("fleet.yaml");
    std::ofstream(file) << "version: 1\nstop: { rounds: 3 }\n" << text;
    return read_fleet(file, sets, nullptr);
  }
  std::string path(const std::string& name) const {
    return (std::filesystem::path(scratch_.path()) / name).string();
  }

 private:
  ScratchFolder scratch_;
};

constexpr const char* of_five = "peers: 5\ndata: { kind: quadratic }\nmodel: quadratic\n";

TEST_F(Seats, BecomeHostsAndPeers) {
  std::vector<LobbySeat> seats{
      {.machine = "localhost", .cores = 8},
      {.machine = "anna", .cores = 4, .data = "/srv/a \"part\""},
      {.machine = "ben", .cores = 1, .address = "10.0.0.7"},
      {.machine = "idle", .cores = 1},
  };
  seats[0].peers = seats[1].peers = 2;
  seats[2].peers = 1;
  const Fleet fleet = read(of_five, seat_sets(seats));
  ASSERT_EQ(fleet.peers.size(), 5U);
  const char* const hosts[] = {"localhost", "localhost", "anna", "anna", "ben"};
  const unsigned threads[] = {4, 4, 2, 2, 1};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(fleet.peers[i].host, hosts[i]) << i;
    EXPECT_EQ(fleet.peers[i].threads, threads[i]) << i;
    EXPECT_EQ(fleet.peers[i].speed, 1) << i;
  }
  for (const HostSpec& host : fleet.hosts) {
    EXPECT_NE(host.name, "idle") << "a machine without a peer is no host";
    if (host.name == "anna") {
      EXPECT_EQ(host.data, "/srv/a \"part\"");
    }
    if (host.name == "ben") {
      EXPECT_EQ(host.address, "10.0.0.7");
    }
  }
}

TEST_F(Seats, HaveTheSpeedsThatWereMeasured) {
  std::vector<LobbySeat> seats{{.machine = "localhost", .cores = 2},
                               {.machine = "anna", .cores = 2}};
  seats[0].peers = 2;
  seats[0].speeds = {3.25, 1.5};
  seats[1].peers = 3;
  seats[1].speeds = {1, 2};  // one was not measured: none counts
  const Fleet fleet = read(of_five, seat_sets(seats));
  ASSERT_EQ(fleet.peers.size(), 5U);
  EXPECT_EQ(fleet.peers[0].speed, 3.25);
  EXPECT_EQ(fleet.peers[1].speed, 1.5);
  for (std::size_t i = 2; i < 5; ++i) EXPECT_EQ(fleet.peers[i].speed, 1) << i;
}

LobbyMember member(const std::string& name, std::vector<std::string> columns = {}) {
  LobbyMember member{.offer = {.name = name, .cores = 1}, .here = true};
  if (!columns.empty()) member.offer.data = "/srv/" + name + ".csv";
  member.offer.columns = std::move(columns);
  return member;
}

TEST_F(Seats, AreRefusedForHostsOfTheFile) {
  EXPECT_EQ(seat_objection(read(of_five), {}), "");
  EXPECT_EQ(seat_objection(read(of_five), {member("anna"), member("ben")}), "");
  const Fleet own = read(
      "hosts: { dora: {} }\npeers: [{ host: dora }, {}]\ndata: { kind: quadratic }\nmodel: "
      "quadratic\n");
  EXPECT_NE(seat_objection(own, {}).find("the file has `hosts` of its own"), std::string::npos);
}

TEST_F(Seats, KeepWhatTheFileSaysOfItsPeersOrRefuseIt) {
  EXPECT_EQ(groups_objection({{"peers", "4"}, {"train.batch", "16"}}), "");
  EXPECT_EQ(groups_objection({{"peers", "[{ count: 2 }, { count: 2 }]"}}), "");
  const auto refuses = [](const std::string& path, const std::string& value, const char* key) {
    EXPECT_NE(groups_objection({{path, value}}).find(fmt::format("`peers` have `{}`", key)),
              std::string::npos)
        << value;
  };
  refuses("peers", "[{ count: 2, batch: 16 }, { count: 2 }]", "batch");
  refuses("peers", "[{ count: 2 }, { device: cuda:1, count: 2 }]", "device");
  refuses("peers", "[{ speed: 2 }]", "speed");
  refuses("peers.per_host", "2", "per_host");
}

TEST_F(Seats, OfferNoGpuIfTheFileChoosesTheDevice) {
  LobbyMember with_gpu = member("anna");
  with_gpu.offer.devices.emplace_back();
  const Fleet fleet = read(of_five);
  EXPECT_TRUE(lobby_seats(fleet, {}, {with_gpu}, false).at(0).cuda);
  EXPECT_FALSE(lobby_seats(fleet, {{"train.device", "cpu"}}, {with_gpu}, false).at(0).cuda);
}

TEST_F(Seats, AreRefusedWhereNoProgramMayRun) {
  std::vector<LobbyMember> members{member("anna"), member("ben")};
  members[1].offer.program = false;
  EXPECT_EQ(seat_objection(read(of_five), members), "") << "this fleet has none";
  const Fleet fleet = read("peers: 2\nprogram: [\"true\"]\n");
  EXPECT_NE(seat_objection(fleet, members).find("ben does not allow programs"), std::string::npos);
  members[1].offer.program = true;
  EXPECT_EQ(seat_objection(fleet, members), "");
}

/// Fleets of which each peer has a part of a table.
class Parts : public Seats {
 protected:
  Parts() { std::ofstream(path("test.csv")) << "a,kind\n1,p\n2,q\n"; }
  Fleet parts(const std::string& more = "") const {
    return read("peers: 4\ndata: { kind: table, file: \"part-{id}.csv\", test: test.csv, target: " +
                (more.empty() ? "kind" : more) + ", standardize: false }\nmodel: softmax\n");
  }
  void write_own(const char* id, const std::string& columns) const {
    std::ofstream(path(fmt::format("part-{}.csv", id))) << columns << "\n1,p\n";
  }
};

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\nwithout: " << part;
}

TEST_F(Parts, ThatAreMissingOrDifferAreRefused) {
  EXPECT_EQ(seat_objection(parts(), {member("anna", {"a", "kind"}), member("ben", {"a", "kind"})}),
            "");
  expect_part(seat_objection(parts(), {member("anna", {"a", "kind"}), member("ben")}),
              "ben has no part of");
  expect_part(
      seat_objection(parts(), {member("anna", {"a", "kind"}), member("ben", {"b", "kind"})}),
      "the columns of ben's data are not those of anna's data: column 1 is `b`, not `a`");
  expect_part(seat_objection(parts(), {member("anna", {"a", "kind"}), member("ben", {"a"})}),
              "column 2 is absent, not `kind`");
  expect_part(seat_objection(parts(), {member("anna", {"a"}), member("ben", {"a", "kind"})}),
              "column 2 is `kind`, not absent");
}

TEST_F(Parts, OfTheLobbysOwnMachineAreCompared) {
  const std::vector<LobbyMember> anna{member("anna", {"a", "kind"})};
  std::vector<LobbySeat> seats{{.machine = "localhost", .peers = 2},
                               {.machine = "anna", .peers = 1, .data = "/srv/joined-data"}};
  EXPECT_EQ(seat_objection(parts(), anna, seats), "") << "`run` reports missing files";
  write_own("0", "a,kind");
  write_own("1", "a,kind");
  write_own("2", "c,kind");
  EXPECT_EQ(seat_objection(parts(), anna, seats), "") << "part 2 is that of anna";
  write_own("1", "a,c");
  expect_part(seat_objection(parts(), anna, seats),
              "the columns of this machine's part-1.csv are not those of this machine's "
              "part-0.csv: column 2 is `c`, not `kind`");
  write_own("1", "b,kind");
  write_own("0", "b,kind");
  expect_part(seat_objection(parts(), anna, seats),
              "the columns of anna's data are not those of this machine's part-0.csv: column 1 is "
              "`a`, not `b`");
  std::swap(seats[0], seats[1]);
  write_own("2", "a,kind");
  expect_part(seat_objection(parts(), anna, seats), "this machine's part-1.csv");
  EXPECT_EQ(seat_objection(parts("x0, header: false"), anna, seats), "") << "a row, and no names";
  seats.pop_back();
  EXPECT_EQ(seat_objection(parts(), anna, seats), "") << "--not-here";
}

TEST_F(Parts, WithManyColumnsMakeAShortMessage) {
  const std::vector<std::string> many(1000, std::string(200, 'x'));
  std::vector<std::string> other = many;
  other[998] = std::string(200, 'y');
  const std::string text = seat_objection(parts(), {member("anna", many), member("ben", other)});
  expect_part(text, "column 999 is `yyy");
  EXPECT_LT(text.size(), 300U);
}

/// Two peers would silently train on the same rows.
TEST_F(Parts, OfOneMachineAreForOnePeer) {
  const std::vector<LobbyMember> members{member("anna", {"a"}), member("ben", {"a"})};
  std::vector<LobbySeat> seats{{.machine = "localhost", .cores = 8},
                               {.machine = "anna", .cores = 4, .data = "/srv/joined-data"},
                               {.machine = "ben", .cores = 2, .data = "/srv/joined-data"}};
  share_peers(seats, 4);
  EXPECT_EQ(seat_objection(parts(), members, seats), "") << "this machine has a file for each";
  share_peers(seats, 5);
  const std::string text = seat_objection(parts(), members, seats);
  expect_part(text, "anna would have 2 peers, all of which would train on its one part");
  expect_part(text, "help:  take `peers: 3`, one for each machine, or let more machines join");
  EXPECT_EQ(seat_objection(read(of_five), members, seats), "") << "these data need no parts";
}

/// Runs a program that answers `bench speeds`, and `plan` with these changes, writes down its
/// words, and fails at all else.
class Study : public Seats {
 protected:
  LobbyStart start(const std::string& changes, double seconds_per_round = 0.1) const {
    std::ofstream(path("program"))
        << "#!/bin/sh\necho \"$*\" >>" << path("asked") << "\n"
        << "test \"$1 $2\" != 'bench speeds' || echo '" << speeds << "'\n"
        << "test \"$2\" != links || echo 'error: no links' >&2\n"
        << "test $1 = plan || exit $(test $2 = speeds; echo $?)\ncat <<'E'\n"
        << R"({"gain":{"times":2,"fastest":0,"network_part":0.1,"limit":"slowest","changes":[)"
        << changes << R"(]},"predicted":{"seconds_per_round":)" << seconds_per_round << "}}\nE\n";
    std::filesystem::permissions(path("program"), std::filesystem::perms::owner_all);
    std::vector<LobbySeat> seats{{.machine = "localhost", .cores = 1, .peers = 1},
                                 {.machine = "anna", .cores = 1, .peers = 1}};
    return measured_start(path("program"), "fleet.yaml", {"seed=7"}, seats, false,
                          [](const std::string&) {});
  }
  /// Returns how many `plan` commands ran, each with the measured FLOP/s.
  std::size_t plans() const {
    std::ifstream in(path("asked"));
    std::size_t count = 0;
    for (std::string line; std::getline(in, line);) {
      if (!line.starts_with("plan ")) continue;
      ++count;
      EXPECT_NE(line.find("--set simulate.flops=12.5 GFLOP/s"), std::string::npos) << line;
    }
    return count;
  }
  static constexpr const char* speeds =
      R"({"rows":[{"host":"localhost","speed":1},{"host":"anna","speed":2}],)"
      R"("gflops_of_speed_1":12.5})";
};

TEST_F(Study, ChoosesBatchesBySpeedWithTheMeanOfTheFile) {
  const char* const set = "train.batch={ kind: auto, mean: 64 }";
  const LobbyStart chosen = start(fmt::format(R"({{"set":"{}","times":3}})", set));
  ASSERT_EQ(chosen.sets.size(), 4U);
  EXPECT_EQ(chosen.sets[0], "seed=7");
  EXPECT_EQ(chosen.sets[1], set);
  EXPECT_NE(chosen.text.find("minibatches in proportion to the speeds"), std::string::npos);
  EXPECT_EQ(plans(), 2U);
}

/// That change raises the slowest peer's learning rate, which only the user can judge.
TEST_F(Study, LeavesLocalStepsToTheUser) {
  const LobbyStart left = start(R"({"set":"train.local_steps=auto","times":3})");
  EXPECT_EQ(left.sets.size(), 3U);
  EXPECT_TRUE(left.text.ends_with("not measured: no links.")) << left.text;
  EXPECT_EQ(left.text.find("Chosen"), std::string::npos) << left.text;
  EXPECT_NE(left.text.find("train.local_steps=auto"), std::string::npos) << left.text;
  EXPECT_EQ(plans(), 1U) << "nothing has changed";
}

/// The prediction lacks the work on messages, which short rounds mostly consist of.
TEST_F(Study, AdvisesNothingWhereRoundsAreShort) {
  const LobbyStart left = start(R"({"set":"train.local_steps=auto","times":3})", 0.001);
  EXPECT_NE(left.text.find("takes only 1 ms"), std::string::npos) << left.text;
  EXPECT_EQ(left.text.find("--set train.local_steps"), std::string::npos) << left.text;
}

}  // namespace
}  // namespace gv::cli
