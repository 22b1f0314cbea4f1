#include <filesystem>
#include <fstream>

#include "tests/peer/launch/blame_names.h"
#include "tests/scratch_folder.h"

// Six real fleets with planted causes: `run`, `top` and `report` must all name the right peer or
// link. culprits_test does the same in virtual time with more methods, for every change.

namespace gv {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class Blame : public testing::TestWithParam<const char*> {
 protected:
  using PlantAmong = std::function<void(const std::vector<pid_t>&)>;

  /// Runs a fleet of four with this work and returns the names.
  NamedBy blamed(const std::string& work, const PlantAmong& plant = {}) const {
    const std::string file = path("fleet.yaml");
    const std::string folder = path("run");
    fs::remove_all(folder);
    std::ofstream(file) << "version: 1\nseed: 5\npeers: 4\nstop: { time: 20 s }\n"
                        << GetParam() << "\n"
                        << work << "output: { dir: " << folder << " }\n";
    Program launcher({"run", file});
    EXPECT_TRUE(comes_true([&] { return pids_in(folder).size() == 4; })) << launcher.errors();
    const std::vector<pid_t> peers = pids_in(folder);
    return named_by(launcher, folder, path("page.html"), [&] {
      if (plant) plant(peers);
    });
  }
  std::string path(const std::string& name) const {
    return (fs::path(scratch_.path()) / name).string();
  }

  static PlantAmong slow(std::size_t peer) {
    return [peer](const std::vector<pid_t>& pids) { stop_for(pids.at(peer), milliseconds(90)); };
  }
  /// Pauses the peer three times, too briefly for its neighbours to continue without it.
  static PlantAmong paused(std::size_t peer) {
    return [peer, left = 3](const std::vector<pid_t>& pids) mutable {
      if (left-- <= 0) return;
      stop_for(pids.at(peer), std::chrono::seconds(4));
      std::this_thread::sleep_for(std::chrono::seconds(1));
    };
  }

 private:
  static std::vector<pid_t> pids_in(const std::string& folder) {
    std::vector<pid_t> pids;
    for (int peer = 0; peer < 4; ++peer) {
      std::ifstream in(fmt::format("{}/peers/{:03}/pid", folder, peer));
      pid_t pid = 0;
      if (in >> pid) pids.push_back(pid);
    }
    return pids;
  }

  ScratchFolder scratch_;
};

const std::string over_links =
    "data: { kind: quadratic, dimension: 200000 }\nmodel: quadratic\nnetwork: { emulate: true, "
    "latency: 1 ms, bandwidth: 400 Mbit }\n";
/// No emulated network: it belongs to the process, and would stop with it.
const std::string mostly_gradients =
    "data: { kind: digits, train: 2000, test: 200 }\nmodel: { kind: mlp, hidden: [128] }\ntrain: { "
    "batch: 1024 }\n";

TEST_P(Blame, OfEqualsIsNobodys) {
  expect_all(blamed(over_links), {});
}

/// A peer that is stopped for short intervals does not receive during them either, so a link to it
/// may be named as well.
TEST_P(Blame, OfASlowProcessor) {
  expect_among(blamed(mostly_gradients, slow(2)), {"peer 2"});
}

TEST_P(Blame, OfASlowLink) {
  expect_all(blamed(over_links + "links: [{ between: [1, 2], bandwidth: 20 Mbit }]\n"),
             {"the link between peer 1 and peer 2"});
}

TEST_P(Blame, OfASlowNetwork) {
  expect_all(blamed(over_links + "links: [{ between: [3, '*'], bandwidth: 20 Mbit }]\n"),
             {"the network of peer 3"});
}

TEST_P(Blame, OfAPausedProcess) {
  expect_all(blamed(over_links, paused(1)), {"peer 1"});
}

INSTANTIATE_TEST_SUITE_P(Fleets, Blame, testing::Values("topology: ring", "algorithm: all-reduce"));

}  // namespace
}  // namespace gv
