#include "tests/lan/lab.h"

// Fleets on three machines.

namespace gv {
namespace {

TEST_F(Lab, TrainsToTheBitsOfOneMachineAndBringsEverythingHome) {
  const std::string stop = "stop: { rounds: 200 }\ncheckpoint: { every: 50 rounds }\n";
  const std::string lan = fleet("lan.yaml", three(), stop);
  const std::string here = fleet("here.yaml", "peers: 6\n", stop);
  const Ended first = run_at_desk({"run", lan, "--json"});
  ASSERT_EQ(first.code, 0) << first.err;
  const std::string hash = first.summary().at("params_hash");
  EXPECT_NE(first.err.find("links  between machines: TLS 1.3"), std::string::npos) << first.err;
  EXPECT_EQ(hash, run({"run", here, "--json"}).summary().at("params_hash"));
  EXPECT_EQ(hash, run({"simulate", here, "--json"}).summary().at("params_hash"));
  for (int peer = 0; peer < 6; ++peer) {
    const std::string own = fmt::format("{}.run/peers/{:03}", lan, peer);
    EXPECT_TRUE(fs::exists(own + "/totals.json")) << own;
    EXPECT_FALSE(fs::is_empty(own + "/checkpoints")) << own;
  }
  EXPECT_TRUE(nothing_runs());
  EXPECT_TRUE(fs::is_empty(folder() + "/cache_anna/grapevine/runs")) << "nothing is left there";
  const std::string programs = said_by("ls " + folder() + "/cache_anna/grapevine/programs/*");
  for (const char* library : {"libssl.so", "libcrypto.so"})
    EXPECT_NE(programs.find(library), std::string::npos) << programs;

  // The program is there by now, and checkpoints are sent back.
  fs::remove_all(folder() + "/cache_ben/grapevine/programs");
  const Ended again = run_at_desk({"run", lan, "--set", "stop.rounds=100", "--json"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(fs::exists(folder() + "/cache_ben/grapevine/programs")) << "it is pushed again";
  const Ended resumed = run_at_desk({"run", "--resume", lan + ".run", "--json"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(resumed.summary().at("params_hash"), hash);
}

TEST_F(Lab, LeavesNothingBehindWhenTheLauncherIsKilled) {
  const std::string lan = fleet("lan.yaml", three(), "stop: { time: 1 h }\n");
  Program launcher(at_desk({"run", lan}), Program::as_it_stands);
  ASSERT_TRUE(comes_true([&] { return processes("carl") == 3; })) << launcher.errors();
  launcher.kill(SIGKILL);
  EXPECT_TRUE(comes_true([&] { return nothing_runs(); }));
}

TEST_F(Lab, StopsPolitelyAtTheFirstSignal) {
  const std::string lan =
      fleet("lan.yaml", three(), "stop: { time: 1 h }\nevaluate: { every: 100 rounds }\n");
  Program launcher(at_desk({"run", lan}), Program::as_it_stands);
  ASSERT_TRUE(comes_true([&] { return trains(lan); })) << launcher.errors();
  launcher.kill(SIGTERM);
  const Ended end = launcher.wait();
  EXPECT_EQ(end.code, 143) << end.err;
  EXPECT_TRUE(fs::exists(lan + ".run/model.safetensors"));
  EXPECT_TRUE(nothing_runs());
}

TEST_F(Lab, GoesOnWithoutAHostWhoseCableIsPulled) {
  const std::string lan = fleet("lan.yaml", three(),
                                "stop: { time: 25 s }\nevaluate: { every: 100 rounds }\n"
                                "launch: { leash: 5 s, grace: 2 s }\nfaults: { deadline: 1 s }\n");
  Program launcher(at_desk({"run", lan}), Program::as_it_stands);
  ASSERT_TRUE(comes_true([&] { return trains(lan); })) << launcher.errors();
  link_of_carl("down");
  const Ended end = launcher.wait();
  EXPECT_EQ(end.code, 3) << end.err;
  EXPECT_NE(end.err.find("host carl is lost: no message from it for 5 s"), std::string::npos)
      << end.err;
  EXPECT_TRUE(comes_true([&] { return nothing_runs(); })) << "the leash ends them";
}

/// The path between two machines is down for ten seconds, while both reach their launcher: their
/// peers miss each other, the others continue, and afterwards all ledgers agree.
TEST_F(Lab, LosesNothingWhileADataLinkIsDown) {
  const std::string lan = fleet("lan.yaml", three(),
                                "stop: { time: 1 h }\nevaluate: { every: 100 rounds }\n"
                                "faults: { ledger: true, deadline: 1 s }\n");
  Program launcher(at_desk({"run", lan}), Program::as_it_stands);
  ASSERT_TRUE(comes_true([&] { return trains(lan); })) << launcher.errors();
  const std::string name = prefix();
  const auto road = [&](const char* act) {
    return said_by(
        fmt::format("ip -n {0}-anna route {1} blackhole 10.77.0.3/32; "
                    "ip -n {0}-carl route {1} blackhole 10.77.0.1/32",
                    name, act));
  };
  ASSERT_EQ(road("add"), "");
  const auto told = [&](const char* words) {
    return launcher.errors().find(words) != std::string::npos;
  };
  EXPECT_TRUE(comes_true([&] { return told("peer 0 is away") && told("peer 5 is away"); }))
      << launcher.errors();
  std::this_thread::sleep_for(std::chrono::seconds(5));  // it took five more seconds to be noticed
  ASSERT_EQ(road("del"), "");
  EXPECT_TRUE(comes_true([&] { return told("peer 0 is back") && told("peer 5 is back"); }))
      << launcher.errors();
  launcher.kill(SIGTERM);
  const Ended end = launcher.wait();
  EXPECT_EQ(end.code, 143) << end.err;
  const Ended books = run({"audit", lan + ".run", "--json"});
  EXPECT_EQ(books.code, 0) << books.output();
  EXPECT_EQ(books.summary().at("findings").size(), 0U);
  EXPECT_EQ(books.summary().at("one_sided"), 0);
  EXPECT_GT(books.summary().at("both"), 100);
}

TEST_F(Lab, FindsTheRoadThatIsThere) {
  const std::string stop = "stop: { rounds: 100 }\n";
  // No host reaches carl there, but carl reaches the others: it dials, although its ids are
  // greater.
  const std::string lan = fleet("lan.yaml", three("{ address: 10.77.0.250 }"), stop);
  const Ended end = run_at_desk({"run", lan, "--json"});
  ASSERT_EQ(end.code, 0) << end.err;
  const std::string here = fleet("here.yaml", "peers: 6\n", stop);
  EXPECT_EQ(end.summary().at("params_hash"),
            run({"simulate", here, "--json"}).summary().at("params_hash"));
}

TEST_F(Lab, SaysWhichHostsCannotReachEachOther) {
  const std::string hosts =
      "hosts: { anna: { address: 10.77.0.251 }, carl: { address: 10.77.0.250 } }\n"
      "peers: [{ host: anna }, { host: carl }]\n";
  const Ended end = run_at_desk({"run", fleet("lan.yaml", hosts, "stop: { rounds: 10 }\n")});
  EXPECT_EQ(end.code, 5);
  for (const char* words : {"hosts anna and carl cannot reach each other", "10.77.0.250", "help:"})
    EXPECT_NE(end.err.find(words), std::string::npos) << words << "\n" << end.err;
  EXPECT_TRUE(comes_true([&] { return nothing_runs(); }));
}

TEST_F(Lab, NamesEveryHostThatCannotBeUsed) {
  const std::string hosts =
      "hosts: { anna: {}, dora: { ssh: no-such-host }, ben: { binary: /no/such/program } }\n"
      "peers: [{ host: anna }, { host: dora }, { host: ben }]\n";
  const Ended end = run_at_desk({"run", fleet("lan.yaml", hosts, "stop: { rounds: 10 }\n")});
  EXPECT_EQ(end.code, 5);
  for (const char* words : {"host dora:", "ssh no-such-host", "host ben:", "/no/such/program"})
    EXPECT_NE(end.err.find(words), std::string::npos) << words << "\n" << end.err;
  EXPECT_TRUE(comes_true([&] { return nothing_runs(); }));
}

/// Token buckets of 100 Mbit/s on both sides of carl; the payload is 95 % of the traffic.
TEST_F(Lab, HasItsLinksMeasured) {
  if (std::system("command -v tc > /dev/null") != 0) GTEST_SKIP() << "tc is not installed";
  const std::string name = prefix();
  const std::string bucket = "root tbf rate 100mbit burst 64kb latency 50ms";
  const std::string said =
      said_by(fmt::format("tc -n {}-carl qdisc add dev eth0 {}", name, bucket)) +
      said_by(fmt::format("tc -n {}-desk qdisc add dev to3 {}", name, bucket));
  if (!said.empty()) GTEST_SKIP() << "this kernel has no token buckets: " << said;
  const std::string lan = fleet("lan.yaml", three(), "stop: { rounds: 10 }\n");
  const Ended end = run_at_desk({"bench", "links", lan, "--json"});
  ASSERT_EQ(end.code, 0) << end.err << end.output();
  for (const auto& link : end.summary().at("links")) {
    const bool slow = link.at("from") == "carl" || link.at("to") == "carl";
    const double mbit = link.at("bytes_per_second").get<double>() * 8e-6;
    if (slow) {
      EXPECT_GE(mbit, 90) << link;
      EXPECT_LE(mbit, 100) << link;
    } else {
      EXPECT_GT(mbit, 200) << link;
    }
  }
  EXPECT_LE(end.summary().at("together").at("carl").get<double>() * 8e-6, 100);
  const Ended plan = run_at_desk({"plan", lan, "--set", "links.file=lan.links.yaml", "--json"});
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_TRUE(comes_true([&] { return nothing_runs(); }));
}

/// Measures all peers of all machines at once.
TEST_F(Lab, HasItsPeersSpeedsMeasured) {
  const std::string lan = path("lan.yaml");
  std::ofstream(lan) << "version: 1\n"
                     << three() << "data: { kind: digits, train: 600, test: 20 }\n"
                     << "model: softmax\ntrain: { optimizer: { kind: sgd, lr: 0.05 } }\n"
                     << "topology: ring\nstop: { rounds: 10 }\n";
  const Ended end = run_at_desk({"bench", "speeds", lan, "--seconds", "0.2", "--json"});
  ASSERT_EQ(end.code, 0) << end.err;
  const auto rows = end.summary().at("rows");
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[0].at("host"), "anna");
  EXPECT_EQ(rows[5].at("host"), "carl");
  for (const auto& row : rows) EXPECT_GE(row.at("speed"), 1) << row;
  EXPECT_TRUE(comes_true([&] { return nothing_runs(); }));
  EXPECT_EQ(kept_runs("anna"), 0U) << "nothing of a measurement is kept";
}

TEST_F(Lab, IsExaminedByTheDoctor) {
  const std::string fine = fleet("lan.yaml", three(), "stop: { rounds: 10 }\n");
  const Ended good = run_at_desk({"doctor", fine});
  EXPECT_EQ(good.code, 0) << good.output();
  for (const char* words : {"anna ", "10.77.0.1 (eth0)", "[x] carl -> ben at 10.77.0.2",
                            "[-] peers run as root on anna, ben, carl"})
    EXPECT_NE(good.output().find(words), std::string::npos) << words << "\n" << good.output();
  const std::string hosts =
      "hosts: { anna: {}, dora: { ssh: no-such-host }, ben: {} }\n"
      "peers: [{ host: anna }, { host: dora }, { host: ben }]\n";
  const Ended bad = run_at_desk({"doctor", fleet("bad.yaml", hosts, "stop: { rounds: 10 }\n")});
  EXPECT_EQ(bad.code, 4) << bad.err;
  for (const char* words : {"[x] anna -> ben", "dora       no agent came up", "[!] host dora:"})
    EXPECT_NE(bad.output().find(words), std::string::npos) << words << "\n" << bad.output();
  EXPECT_TRUE(comes_true([&] { return nothing_runs(); }));
}

/// The initial model is next to the fleet file at the desk, and is sent along.
TEST_F(Lab, TakesTheModelThatItStartsFromAlong) {
  const std::string start = fmt::format("{}/start.safetensors", scratch_.path());
  const std::string body =
      "data: { kind: digits, train: 600, test: 20 }\nmodel: softmax\ntopology: ring\n"
      "train: { optimizer: { kind: sgd, lr: 0.05 } }\nstop: { rounds: 20 }\n";
  std::ofstream(path("first.yaml")) << "version: 1\nname: first\npeers: 6\n"
                                    << body << "output: { dir: " << path("first") << " }\n";
  ASSERT_EQ(run({"simulate", path("first.yaml"), "--json"}).code, 0);
  fs::copy_file(path("first") + "/model.safetensors", start);
  const std::string lan = path("lan.yaml");
  std::ofstream(lan) << "version: 1\n"
                     << three() << body << "output: { dir: " << path("run") << " }\n";
  const std::string set = "model.start=start.safetensors";
  const Ended end = run_at_desk({"run", lan, "--set", set, "--json"});
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(
      end.summary().at("params_hash"),
      run({"simulate", lan, "--no-save", "--set", set, "--json"}).summary().at("params_hash"));
}

/// The table of the fleet is at a path that only the desk has. Users had to copy 13 kB to each host
/// by hand, though the program of 14 MB was sent by itself.
TEST_F(Lab, SendsSmallDataAlong) {
  fs::create_directory(path("desk"));
  std::ofstream table(path("desk/table.csv"));
  table << "x,y\n";
  for (int r = 0; r < 60; ++r) table << fmt::format("{},{}\n", r, r % 2 == 0 ? "even" : "odd");
  table.close();
  const std::string lan = path("desk/lan.yaml");
  std::ofstream(lan) << "version: 1\n"
                     << three() << "data: { kind: table, file: table.csv, target: y }\n"
                     << "model: softmax\ntopology: ring\nstop: { rounds: 20 }\n"
                     << "train: { optimizer: { kind: sgd, lr: 0.05 } }\n"
                     << "output: { dir: " << path("run") << " }\n";
  hide_from_hosts(path("desk"));
  const Ended refused = run_at_desk({"run", lan});
  EXPECT_EQ(refused.code, 5) << refused.err;
  EXPECT_NE(refused.err.find("launch: { data: push }"), std::string::npos) << refused.err;
  const Ended pushed = run_at_desk({"run", lan, "--set", "launch.data=push", "--json"});
  ASSERT_EQ(pushed.code, 0) << pushed.err;
  EXPECT_EQ(pushed.summary().at("params_hash"),
            run({"simulate", lan, "--no-save", "--json"}).summary().at("params_hash"));
  EXPECT_EQ(kept_runs("carl"), 0U) << "nothing of it stays there";
}

/// Each host has the same data in a folder of its own.
TEST_F(Lab, FindsTheDataOfEachHostInItsFolder) {
  for (const char* folder : {"desk", "anna", "ben", "carl"}) {
    fs::create_directory(path(folder));
    std::ofstream table(path(folder) + std::string("/table.csv"));
    table << "x,y\n";
    for (int r = 0; r < 60; ++r) table << fmt::format("{},{}\n", r, r % 2 == 0 ? "even" : "odd");
  }
  const std::string lan = path("desk/lan.yaml");
  std::string hosts;
  for (const char* host : {"anna", "ben", "carl"})
    hosts += fmt::format("  {}: {{ data: {} }}\n", host, path(host));
  std::ofstream(lan)
      << "version: 1\nhosts:\n"
      << hosts << "peers: [{ host: anna, count: 2 }, { host: ben, count: 2 }, { host: carl }]\n"
      << "data: { kind: table, file: table.csv, target: y }\n"
      << "model: softmax\ntopology: ring\nstop: { rounds: 20 }\n"
      << "train: { optimizer: { kind: sgd, lr: 0.05 } }\n"
      << "output: { dir: " << path("run") << " }\n";
  hide_from_hosts(path("desk"));
  const Ended end = run_at_desk({"run", lan, "--json"});
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.summary().at("params_hash"),
            run({"simulate", lan, "--no-save", "--json"}).summary().at("params_hash"));
  std::ofstream(path("ben") + "/table.csv", std::ios::app) << "60,even\n";
  const Ended other = run_at_desk({"doctor", lan});
  EXPECT_EQ(other.code, 4);
  EXPECT_NE(other.output().find("host ben: its data are not those of anna"), std::string::npos)
      << other.output();
}

/// Carl sees another file at the same path.
TEST_F(Lab, SaysWhichHostHasOtherData) {
  std::string rows = "x,y\n";
  for (int r = 0; r < 60; ++r) rows += fmt::format("{},{}\n", r, r % 2 == 0 ? "even" : "odd");
  std::ofstream(path("table.csv")) << rows;
  std::ofstream(path("other.csv")) << rows << "60,even\n";
  const std::string lan = path("lan.yaml");
  std::ofstream(lan) << "version: 1\n"
                     << three() << "data: { kind: table, file: " << path("table.csv")
                     << ", target: y }\nmodel: softmax\ntopology: ring\nstop: { rounds: 5 }\n"
                     << "train: { optimizer: { kind: sgd, lr: 0.05 } }\n"
                     << "output: { dir: " << path("run") << " }\n";
  const Ended fine = run_at_desk({"doctor", lan});
  EXPECT_EQ(fine.code, 0) << fine.err << fine.output();
  const std::string pid = said_by("cat " + folder() + "/sshd_carl.pid");
  const std::string said =
      said_by(fmt::format("nsenter --mount --target {} mount --bind {} {}",
                          pid.substr(0, pid.find('\n')), path("other.csv"), path("table.csv")));
  ASSERT_EQ(said, "");
  const Ended refused = run_at_desk({"run", lan});
  EXPECT_EQ(refused.code, 5) << refused.err;
  EXPECT_NE(refused.err.find("host carl: its data are not those of anna"), std::string::npos)
      << refused.err;
  EXPECT_FALSE(fs::exists(path("run") + "/metrics.jsonl"));
  const Ended examined = run_at_desk({"doctor", lan});
  EXPECT_EQ(examined.code, 4) << examined.err;
  EXPECT_NE(examined.output().find("[!] host carl: its data are not"), std::string::npos)
      << examined.output();
}

TEST_F(Lab, StartsAPeerAgainWhereItDied) {
  const std::string lan = fleet("lan.yaml", three(),
                                "stop: { time: 1 h }\nevaluate: { every: 100 rounds }\n"
                                "launch: { restart: on-failure }\nfaults: { deadline: 1 s }\n");
  Program launcher(at_desk({"run", lan}), Program::as_it_stands);
  pid_t pid = 0;
  ASSERT_TRUE(comes_true([&] {
    std::ifstream in(lan + ".run/peers/003/pid");
    return trains(lan) && in >> pid && pid > 0;
  })) << launcher.errors();
  ::kill(pid, SIGKILL);
  EXPECT_TRUE(comes_true([&] {
    return launcher.errors().find("peer 3 starts again") != std::string::npos;
  })) << launcher.errors();
  launcher.kill(SIGTERM);
  const Ended end = launcher.wait();
  EXPECT_EQ(end.code, 143) << end.err;
}

}  // namespace
}  // namespace gv
