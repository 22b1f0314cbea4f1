#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <utility>

#include "tests/peer/launch/program.h"
#include "tests/scratch_folder.h"

// Six real fleets with planted causes: `run`, `top` and `report` name the same peer or link, and
// the right one. In virtual time, and with more methods, culprits_test does it for every change.

namespace gv {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using Names = std::set<std::string>;

/// What comes before "holds the others up", in any of these lines.
Names named_in(const std::string& text) {
  static const std::regex line(
      "(?:^|\n|! |\")(?:  )*([Tt]he [^\n\"]*|[Pp]eer [0-9]+) holds the others up");
  Names names;
  for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) {
    std::string name = (*at)[1];
    name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
    names.insert(name);
  }
  return names;
}

struct Told {
  Names run, top, report;
};

class Blame : public testing::TestWithParam<const char*> {
 protected:
  using Plant = std::function<void(const std::vector<pid_t>&)>;

  /// A fleet of four at this work; `plant` is called again and again.
  Told blamed(const std::string& work, const Plant& plant = {}) const {
    const std::string file = path("fleet.yaml");
    const std::string folder = path("run");
    fs::remove_all(folder);
    std::ofstream(file) << "version: 1\nseed: 5\npeers: 4\nstop: { time: 20 s }\n"
                        << GetParam() << "\n"
                        << work << "output: { dir: " << folder << " }\n";
    Program launcher({"run", file});
    const auto metrics = [&] { return pids_in(folder).size() == 4; };
    EXPECT_TRUE(comes_true(metrics)) << launcher.errors();
    const std::vector<pid_t> peers = pids_in(folder);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(15);
    while (std::chrono::steady_clock::now() < end) {
      if (plant) plant(peers);
      std::this_thread::sleep_for(milliseconds(10));
    }
    const std::string top = run({"top", folder, "--once"}).output();
    const Ended ended = launcher.wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    const Ended report = run({"report", folder, "-o", path("page.html")});
    return {unwrapped(ended.err), named_in(top), unwrapped(report.output())};
  }
  std::string path(const std::string& name) const {
    return (fs::path(scratch_.path()) / name).string();
  }

  /// Stopped for most of the time, in short turns; where gradients are most of the work.
  static Plant slow(std::size_t peer) {
    return [peer](const std::vector<pid_t>& pids) {
      ::kill(pids.at(peer), SIGSTOP);
      std::this_thread::sleep_for(milliseconds(90));
      ::kill(pids.at(peer), SIGCONT);
    };
  }
  /// Three times, each for less than after which its neighbours would go on without it.
  static Plant paused(std::size_t peer) {
    return [peer, left = 3](const std::vector<pid_t>& pids) mutable {
      if (left-- <= 0) return;
      ::kill(pids.at(peer), SIGSTOP);
      std::this_thread::sleep_for(std::chrono::seconds(4));
      ::kill(pids.at(peer), SIGCONT);
      std::this_thread::sleep_for(std::chrono::seconds(1));
    };
  }

 private:
  static Names unwrapped(std::string text) {
    return named_in(std::regex_replace(text, std::regex("\n {2,}"), " "));
  }
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

void expect_all(const Told& told, const Names& names) {
  EXPECT_EQ(told.run, names) << "run";
  EXPECT_EQ(told.top, names) << "top";
  EXPECT_EQ(told.report, names) << "report";
}

const std::string over_links =
    "data: { kind: quadratic, dimension: 200000 }\nmodel: quadratic\nnetwork: { emulate: true, "
    "latency: 1 ms, bandwidth: 400 Mbit }\n";
/// An emulated network is part of its process, and would stand still with it.
const std::string mostly_gradients =
    "data: { kind: digits, train: 2000, test: 200 }\nmodel: { kind: mlp, hidden: [128] }\ntrain: { "
    "batch: 1024 }\n";

TEST_P(Blame, OfEqualsIsNobodys) {
  expect_all(blamed(over_links), {});
}

/// Who stands still in short turns does not receive meanwhile either: a link to it may be named
/// behind it.
TEST_P(Blame, OfASlowProcessor) {
  const Told told = blamed(mostly_gradients, slow(2));
  EXPECT_EQ(told.top, Names{"peer 2"});
  EXPECT_TRUE(told.run.contains("peer 2"));
  EXPECT_TRUE(told.report.contains("peer 2"));
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
