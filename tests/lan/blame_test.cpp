#include <filesystem>

#include "tests/lan/lab.h"
#include "tests/peer/launch/blame_names.h"

// Four machines with a planted cause: a slow cable, network, processor or source of data, a process
// that is stopped, two at once. `run`, `top` and `report` name the right one. With TLS a peer with
// too little CPU time sends slowly too, and its network was blamed once.

namespace gv {
namespace {

using std::chrono::milliseconds;

class LanBlame : public Lab, public testing::WithParamInterface<const char*> {
 protected:
  std::string hosts() const override { return "anna ben carl dora"; }

  void SetUp() override {
    Lab::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    for (int host = 1; host <= 4; ++host) {
      const std::string said = limit(name(host), "eth0", 400) + limit("desk", to(host), 400);
      if (!said.empty()) GTEST_SKIP() << "no link can be slowed down here: " << said;
    }
  }

  /// Limits a card or cable, in Mbit/s; returns the error output.
  std::string limit(const std::string& host, const std::string& device, int rate) const {
    return said_by(fmt::format(
        "ip netns exec {}-{} tc qdisc replace dev {} root tbf rate {}mbit burst 64kb latency 400ms",
        prefix(), host, device, rate));
  }
  void slow_network(int host, int rate) const {
    EXPECT_EQ(limit(name(host), "eth0", rate) + limit("desk", to(host), rate), "");
  }
  /// Adds a slow cable between two hosts, for the traffic between these two.
  void slow_link(int a, int b, int rate) const {
    said_by(fmt::format("ip -n {0}-{1} link add {2} type veth peer name {3} netns {0}-{4}",
                        prefix(), name(a), to(b), to(a), name(b)));
    for (const auto& [here, there] : {std::pair{a, b}, {b, a}}) {
      const std::string space = fmt::format("ip -n {}-{}", prefix(), name(here));
      EXPECT_EQ(said_by(fmt::format("{0} link set {1} up && "
                                    "{0} route add 10.77.0.{2}/32 dev {1} src 10.77.0.{3}",
                                    space, to(there), there, here)),
                "");
      EXPECT_EQ(limit(name(here), to(there), rate), "");
    }
  }

  /// Returns the last process of a host that is a peer.
  pid_t peer_on(int host) const {
    std::istringstream pids(said_by(fmt::format("ip netns pids {}-{}", prefix(), name(host))));
    pid_t last = 0;
    for (pid_t pid = 0; pids >> pid;) {
      std::string comm, line;
      std::ifstream(fmt::format("/proc/{}/comm", pid)) >> comm;
      std::getline(std::ifstream(fmt::format("/proc/{}/cmdline", pid)), line);
      std::ranges::replace(line, '\0', ' ');
      if (comm.starts_with("grapevine") && line.find(" agent ") == std::string::npos)
        last = std::max(last, pid);
    }
    return last;
  }
  /// Stops a peer for `time` milliseconds of every hundred.
  Plant stopped(int host, int time) const {
    return [this, host, time, pid = pid_t{0}]() mutable {
      if (pid == 0) pid = peer_on(host);
      if (pid > 0) stop_for(pid, milliseconds(time));
      std::this_thread::sleep_for(milliseconds(90 - std::min(time, 90)));
    };
  }
  /// Stops a peer three times, each time too briefly for its neighbours to continue without it.
  Plant paused(int host) const {
    return [this, host, left = 3]() mutable {
      if (left-- <= 0) return;
      stop_for(peer_on(host), std::chrono::seconds(4));
      std::this_thread::sleep_for(std::chrono::seconds(1));
    };
  }

  /// Runs a fleet with one peer on each of n hosts.
  NamedBy blamed(const std::string& work, const Plant& plant = {}, int n = 4) const {
    std::string peers;
    for (int host = 1; host <= n; ++host)
      peers += fmt::format("{}{{ host: {} }}", host > 1 ? ", " : "", name(host));
    const std::string file = path("lan.yaml");
    const std::string folder = path("run");
    std::ofstream(file) << "version: 1\nseed: 7\nhosts: { anna: {}, ben: {}, carl: {}, dora: {} }\n"
                        << "peers: [" << peers << "]\n"
                        << work << GetParam()
                        << "\nstop: { time: 22 s }\nevaluate: { every: 5 rounds }\noutput: { dir: "
                        << folder << " }\n";
    Program launcher(at_desk({"run", file}), Program::as_it_stands);
    const std::string metrics = folder + "/metrics.jsonl";
    EXPECT_TRUE(comes_true([&] { return fs::exists(metrics) && fs::file_size(metrics) > 0; }))
        << launcher.errors();
    return named_by(launcher, folder, path("page.html"), plant);
  }

  static std::string name(int host) {
    constexpr const char* names[] = {"anna", "ben", "carl", "dora"};
    return names[host - 1];
  }
  static std::string to(int host) { return fmt::format("to{}", host); }
};

const std::string vectors = "data: { kind: quadratic, dimension: 100000 }\nmodel: quadratic\n";
const std::string served =
    "data: { kind: blobs, train: 2000, test: 100, features: 400, servers: 1 }\n"
    "model: { kind: mlp, hidden: [64] }\ntrain: { batch: 128 }\n";
const char* const link = "the link between peer 1 (ben) and peer 2 (carl)";

TEST_P(LanBlame, OfASlowLink) {
  slow_link(2, 3, 15);
  expect_all(blamed(vectors), {link});
}

TEST_P(LanBlame, OfASlowNetwork) {
  slow_network(4, 15);
  expect_all(blamed(vectors), {"the network of peer 3 (dora)"});
}

TEST_P(LanBlame, OfASlowProcessor) {
  expect_among(blamed(vectors, stopped(3, 95)), {"peer 2 (carl)"});
}

/// The data server is the last process, on the last peer's host.
TEST_P(LanBlame, OfSlowData) {
  expect_among(blamed(served, stopped(3, 95), 3), {"peer 3 (carl)"});
}

TEST_P(LanBlame, OfAPausedProcess) {
  expect_all(blamed(vectors, paused(2)), {"peer 1 (ben)"});
}

/// In this order an exchange begins after the gradient, so that a round takes both: 80 ms for the
/// link and about 30 ms for the stops. Compared with a link of 130 ms the stops were too short to
/// be reported.
TEST_P(LanBlame, OfTwoAtOnce) {
  slow_link(2, 3, 40);
  const std::string atc = "algorithm: { kind: d-psgd, order: atc }\n";
  expect_among(blamed(vectors + atc, stopped(3, 95)), {link, "peer 2 (carl)"});
}

INSTANTIATE_TEST_SUITE_P(Graphs, LanBlame, testing::Values("topology: ring", "topology: complete"));

}  // namespace
}  // namespace gv
