#include "tests/lan/lab.h"
#include "tests/text_of.h"

// Traffic of a fleet on three machines, and access to it.

namespace gv {
namespace {

/// A model that never changes and consists of copies of the planted pattern.
constexpr const char* planted_model =
    "data: { kind: quadratic, dimension: 256, start: 3.140625 }\nmodel: quadratic\n"
    "train: { optimizer: { kind: sgd, lr: 1.0e-30 } }\n";

std::string planted_pattern() {
  const float value = 3.140625F;
  std::string pattern;
  for (int i = 0; i < 16; ++i) pattern.append(reinterpret_cast<const char*>(&value), sizeof value);
  return pattern;
}

/// A listener at the bridge reads the model if links are plain, and nothing if they are encrypted.
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
    const std::string heard = text_of(captured);
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
        text_of(process.path() / "cmdline") + text_of(process.path() / "environ");
    if (words.find("grapevine") == std::string::npos) continue;
    ++looked_at;
    EXPECT_EQ(words.find("PRIVATE KEY-----"), std::string::npos) << process.path();
  }
  EXPECT_GE(looked_at, 6U);
  launcher.kill(SIGTERM);
  launcher.wait();
}

/// Strangers of every kind connect to every peer from before the start until after the end, from
/// the network and from a machine of the fleet: not a bit of the model changes, no frame is
/// answered, and the log stays short.
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
  // At most five lines between two heartbeats, and one that counts the rest.
  const double seconds = end.summary().at("seconds");
  for (int peer = 0; peer < 6; ++peer) {
    const std::string log = text_of(fmt::format("{}.run/peers/{:03}/stderr.log", lan, peer));
    const auto lines = static_cast<double>(std::ranges::count(log, '\n'));
    EXPECT_LT(lines, 12 * (seconds + 60)) << log.substr(0, 2000);
  }
}

/// Each machine has a peer, with keys of `keygen` or without.
TEST_F(Lab, PeersStartedByHandKnowEachOtherByTheirKeys) {
  const std::string hosts =
      "hosts: { anna: { address: 10.77.0.1 }, carl: { address: 10.77.0.3 } }\n"
      "peers: [{ host: anna }, { host: carl }]\n";
  const std::string lan = fleet("lan.yaml", hosts, "stop: { rounds: 60 }\n");
  const auto by_hand = [&](const std::string& host, const std::string& id) {
    return std::make_unique<Program>(
        std::vector<std::string>{lab_, "in", folder(), host, grapevine_program(), "peer", lan,
                                 "--id", id, "--json"},
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
  EXPECT_NE(a.err.find("warning: this peer runs as root"), std::string::npos) << a.err;
}

}  // namespace
}  // namespace gv
