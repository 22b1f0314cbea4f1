#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/peer/launch/program.h"
#include "tests/places.h"
#include "tests/scratch_folder.h"

// Fleets on three machines: network namespaces with an ssh server each (tests/lan/lab).

namespace gv {
namespace {

namespace fs = std::filesystem;

/// Runs a command to its end; what it printed.
std::string said_by(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::string text;
  if (pipe == nullptr) return text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  ::pclose(pipe);
  return text;
}

class Lab : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "network namespaces need root";
    for (const char* program : {"ip", "ssh", "sshd", "ssh-keygen", "unshare", "python3"})
      if (std::system(fmt::format("command -v {} > /dev/null", program).c_str()) != 0)
        GTEST_SKIP() << program << " is not installed (iproute2, openssh-server)";
    const std::string said = said_by(fmt::format("{} up {} anna ben carl", lab_, folder()));
    up_ = fs::exists(folder() + "/prefix");
    if (said.find("Operation not permitted") != std::string::npos)
      GTEST_SKIP() << "no network namespace may be made here: " << said;
    ASSERT_TRUE(fs::exists(folder() + "/sshd_carl.pid")) << said;
  }
  void TearDown() override {
    if (up_) said_by(fmt::format("{} down {}", lab_, folder()));
  }

  std::string folder() const { return (fs::path(scratch_.path()) / "lab").string(); }
  std::string path(const std::string& name) const {
    return (fs::path(scratch_.path()) / name).string();
  }

  /// A fleet of two peers on each machine.
  std::string fleet(const std::string& name,
                    const std::string& hosts,
                    const std::string& more) const {
    std::ofstream(path(name)) << "version: 1\nname: lan\nseed: 7\n"
                              << hosts << "data: { kind: quadratic, dimension: 64 }\n"
                              << "model: quadratic\n"
                              << "train: { optimizer: { kind: sgd, lr: 0.05 } }\ntopology: ring\n"
                              << more << "output: { dir: " << path(name + ".run") << " }\n";
    return path(name);
  }
  static std::string three(const std::string& carl = "{}") {
    return fmt::format(
        "hosts: {{ anna: {{}}, ben: {{}}, carl: {} }}\n"
        "peers: [{{ host: anna, count: 2 }}, {{ host: ben, count: 2 }}, {{ host: carl, count: 2 "
        "}}]\n",
        carl);
  }

  /// The program at the desk, which is on the bridge too.
  std::vector<std::string> at_desk(std::vector<std::string> arguments) const {
    std::vector<std::string> all{lab_, "at", folder(), grapevine_program()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  }
  Ended run_at_desk(std::vector<std::string> arguments) const {
    return Program(at_desk(std::move(arguments)), Program::as_it_stands).wait();
  }
  /// Processes of a run in the namespace of a host.
  std::size_t processes(const std::string& host) const {
    std::ifstream in(folder() + "/prefix");
    std::string prefix;
    in >> prefix;
    std::istringstream pids(said_by(fmt::format("ip netns pids {}-{}", prefix, host)));
    std::size_t count = 0;
    for (pid_t pid = 0; pids >> pid;) {
      std::ifstream name(fmt::format("/proc/{}/comm", pid));
      std::string text;
      name >> text;
      if (text.starts_with("grapevine")) ++count;
    }
    return count;
  }
  /// Whether the fleet of this file has told of a round.
  static bool trains(const std::string& fleet) {
    const std::string metrics = fleet + ".run/metrics.jsonl";
    return fs::exists(metrics) && fs::file_size(metrics) > 0;
  }
  bool nothing_runs() const {
    return processes("anna") + processes("ben") + processes("carl") == 0;
  }

  const std::string lab_ = std::string(source_folder()) + "/tests/lan/lab";
  ScratchFolder scratch_;
  bool up_ = false;
};

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

  // The program is there by now, and checkpoints find their way back.
  fs::remove_all(folder() + "/cache_ben/grapevine/programs");
  const Ended again = run_at_desk({"run", lan, "--set", "stop.rounds=100", "--json"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(fs::exists(folder() + "/cache_ben/grapevine/programs")) << "it is pushed again";
  const Ended resumed = run_at_desk({"run", "--resume", lan + ".run", "--json"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(resumed.summary().at("params_hash"), hash);
}

/// 16 floats, 64 bytes, of which the model of these fleets consists: it does not move.
constexpr const char* planted_model =
    "data: { kind: quadratic, dimension: 256, start: 3.140625 }\nmodel: quadratic\n"
    "train: { optimizer: { kind: sgd, lr: 1.0e-30 } }\n";

std::string planted_pattern() {
  const float value = 3.140625F;
  std::string pattern;
  for (int i = 0; i < 16; ++i) pattern.append(reinterpret_cast<const char*>(&value), sizeof value);
  return pattern;
}

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Whoever listens at the bridge hears the model where the links are plain, and not a word of it
/// where they are not.
TEST_F(Lab, NobodyOnTheNetworkReadsAlong) {
  for (const bool plain : {true, false}) {
    const std::string name = plain ? "plain.yaml" : "lan.yaml";
    std::ofstream(path(name)) << "version: 1\nname: lan\nseed: 7\n"
                              << three() << planted_model
                              << "topology: ring\nstop: { rounds: 50 }\n"
                              << (plain ? "security: plaintext\n" : "")
                              << "output: { dir: " << path(name + ".run") << " }\n";
    const std::string captured = path(name + ".packets");
    const std::string sniff = std::string(source_folder()) + "/tests/lan/sniff";
    Program ears({lab_, "at", folder(), "python3", sniff, "to1", captured}, Program::as_it_stands);
    ASSERT_TRUE(ears.says("listens"));
    const Ended end = run_at_desk({"run", path(name)});
    ASSERT_EQ(end.code, 0) << end.err;
    ears.kill(SIGTERM);
    ears.wait();
    const std::string heard = content_of(captured);
    EXPECT_GT(heard.size(), 100'000U) << "something was said";
    EXPECT_EQ(heard.find(planted_pattern()) != std::string::npos, plain);
    const char* said = plain ? "are not encrypted (security: plaintext)" : "TLS 1.3";
    EXPECT_NE(end.err.find(said), std::string::npos) << end.err;
  }
}

/// The keys of a run are in the memory of its processes, and nowhere else.
TEST_F(Lab, TheKeysOfARunAreOnNoDiskAndInNoCommand) {
  const std::string lan =
      fleet("lan.yaml", three(), "stop: { time: 1 h }\nevaluate: { every: 100 rounds }\n");
  Program launcher(at_desk({"run", lan}), Program::as_it_stands);
  ASSERT_TRUE(comes_true([&] { return trains(lan); })) << launcher.errors();
  const std::string files = fmt::format("{0}/cache_anna/grapevine/runs {1}.run", folder(), lan);
  EXPECT_EQ(said_by("grep -rlE 'PRIVATE KEY|CERTIFICATE' " + files), "");
  EXPECT_NE(said_by("grep -rl grapevine " + files), "") << "the search works";
  std::size_t looked_at = 0;
  for (const fs::directory_entry& process : fs::directory_iterator("/proc")) {
    const std::string words =
        content_of(process.path() / "cmdline") + content_of(process.path() / "environ");
    if (words.find("grapevine") == std::string::npos) continue;
    ++looked_at;
    EXPECT_EQ(words.find("PRIVATE KEY-----"), std::string::npos) << process.path();
  }
  EXPECT_GE(looked_at, 6U);
  launcher.kill(SIGTERM);
  launcher.wait();
}

/// Strangers of every kind come upon every peer from before the start until after the end, from the
/// network and from a machine of the fleet: not a bit of the model changes, no frame is answered,
/// and the log stays short.
TEST_F(Lab, StrangersChangeNothing) {
  const std::string at_ports =
      "hosts: { anna: { port: 27000 }, ben: { port: 27000 }, carl: { port: 27000 } }\n"
      "peers: [{ host: anna, count: 2 }, { host: ben, count: 2 }, { host: carl, count: 2 }]\n";
  const std::string stop = "stop: { rounds: 2000 }\n";
  const std::string lan = fleet("lan.yaml", at_ports, stop);
  const std::string siege = std::string(source_folder()) + "/tests/lan/siege";
  std::vector<std::string> words{"python3", siege};
  for (int host = 1; host <= 3; ++host)
    for (int port = 27000; port <= 27001; ++port)
      words.push_back(fmt::format("10.77.0.{}:{}", host, port));
  std::vector<std::unique_ptr<Program>> strangers;
  for (std::vector<std::string> from : {std::vector<std::string>{lab_, "at", folder()},
                                        std::vector<std::string>{lab_, "in", folder(), "carl"}}) {
    from.insert(from.end(), words.begin(), words.end());
    strangers.push_back(std::make_unique<Program>(from, Program::as_it_stands));
    ASSERT_TRUE(strangers.back()->says("comes"));
  }
  const Ended end = run_at_desk({"run", lan, "--json"});
  EXPECT_EQ(end.code, 0) << end.err;
  const std::string here = fleet("here.yaml", "peers: 6\n", stop);
  EXPECT_EQ(end.summary().at("params_hash"),
            run({"simulate", here, "--json"}).summary().at("params_hash"));
  for (const auto& stranger : strangers) {
    stranger->kill(SIGTERM);
    const Ended over = stranger->wait();
    EXPECT_NE(over.output().find(" 0 bytes were answered"), std::string::npos) << over.output();
  }
  // Five lines between two heartbeats, and one that counts the rest.
  const double seconds = end.summary().at("seconds");
  for (int peer = 0; peer < 6; ++peer) {
    const std::string log = content_of(fmt::format("{}.run/peers/{:03}/stderr.log", lan, peer));
    const auto lines = static_cast<double>(std::ranges::count(log, '\n'));
    EXPECT_LT(lines, 12 * (seconds + 60)) << log.substr(0, 2000);
  }
}

/// On each machine a peer with keys of `keygen`; or without.
TEST_F(Lab, PeersStartedByHandKnowEachOtherByTheirKeys) {
  const std::string hosts =
      "hosts: { anna: { address: 10.77.0.1 }, carl: { address: 10.77.0.3 } }\n"
      "peers: [{ host: anna }, { host: carl }]\n";
  const std::string lan = fleet("lan.yaml", hosts, "stop: { rounds: 60 }\n");
  const auto by_hand = [&](const std::string& host, const std::string& id) {
    return std::make_unique<Program>(
        std::vector<std::string>{
            lab_, "in", folder(), host, grapevine_program(), "peer", lan, "--id", id, "--json"},
        Program::as_it_stands);
  };
  const Ended without = by_hand("anna", "0")->wait();
  EXPECT_EQ(without.code, 5);
  EXPECT_NE(without.err.find("grapevine keygen FILE"), std::string::npos) << without.err;

  ASSERT_EQ(run({"keygen", lan}).code, 0);
  const auto zero = by_hand("anna", "0");
  const auto one = by_hand("carl", "1");
  const Ended a = zero->wait();
  const Ended b = one->wait();
  EXPECT_EQ(a.code, 0) << a.err;
  EXPECT_EQ(b.code, 0) << b.err;
  EXPECT_EQ(a.summary().at("round"), 60);
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
  const std::string lan = fleet("lan.yaml",
                                three(),
                                "stop: { time: 25 s }\nevaluate: { every: 100 rounds }\n"
                                "launch: { leash: 5 s, grace: 2 s }\nfaults: { deadline: 1 s }\n");
  Program launcher(at_desk({"run", lan}), Program::as_it_stands);
  ASSERT_TRUE(comes_true([&] { return trains(lan); })) << launcher.errors();
  const std::string prefix = said_by("cat " + folder() + "/prefix");
  said_by(fmt::format("ip -n {}-desk link set to3 down", prefix.substr(0, prefix.size() - 1)));
  const Ended end = launcher.wait();
  EXPECT_EQ(end.code, 3) << end.err;
  EXPECT_NE(end.err.find("host carl is lost: nothing was heard of it for 5 s"), std::string::npos)
      << end.err;
  EXPECT_TRUE(comes_true([&] { return nothing_runs(); })) << "the leash ends them";
}

TEST_F(Lab, FindsTheRoadThatIsThere) {
  const std::string stop = "stop: { rounds: 100 }\n";
  // Nobody finds carl there, but carl finds the others: it dials, though its ids are the greater.
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

/// Token buckets of 100 Mbit/s in front of carl and behind it; what crosses them as payload is 95
/// %.
TEST_F(Lab, HasItsLinksMeasured) {
  if (std::system("command -v tc > /dev/null") != 0) GTEST_SKIP() << "tc is not installed";
  const std::string prefix = said_by("cat " + folder() + "/prefix");
  const std::string name = prefix.substr(0, prefix.size() - 1);
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

TEST_F(Lab, IsExaminedByTheDoctor) {
  const std::string fine = fleet("lan.yaml", three(), "stop: { rounds: 10 }\n");
  const Ended good = run_at_desk({"doctor", fine});
  EXPECT_EQ(good.code, 0) << good.output();
  for (const char* words : {"anna ", "10.77.0.1 (eth0)", "[x] carl -> ben at 10.77.0.2"})
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

TEST_F(Lab, StartsAPeerAgainWhereItDied) {
  const std::string lan = fleet("lan.yaml",
                                three(),
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
